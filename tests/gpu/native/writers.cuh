// Kernels of kernels.cu whose threads write to one place in global memory: what stays depends on who comes
// last, but in lanes_agree.
#pragma once

// Two lanes store to one place by one instruction: this GPU keeps the same one each time.
__global__ void lanes_clash(const float* x, float* o) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i & ~1] = x[i];
}

// As above, but with equal values.
__global__ void lanes_agree(const float* x, float* o) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i & ~31] = x[i & ~31];
}

__global__ void last_block_wins(const float* x, float* o) {
  o[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
}

__global__ void plain_histogram(const float* x, unsigned* o) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned bin = unsigned(x[i] * 16) & 15, seen = o[bin];
  o[bin] = seen + 1;
}

__global__ void float_sum(const float* x, float* o) {
  atomicAdd(o, x[blockIdx.x * blockDim.x + threadIdx.x]);
}

__global__ void append(const float* x, float* o, unsigned* size) {
  const float value = x[blockIdx.x * blockDim.x + threadIdx.x];
  if (value > 0.9f) o[atomicAdd(size, 1u)] = value;
}
