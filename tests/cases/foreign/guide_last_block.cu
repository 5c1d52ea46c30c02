// The sum by the last block as CUDA's programming guide has it under "Memory Fence Functions": a
// counter that the last block sets back by a plain store, which the atomics it has observed precede.
// launch: --entry sum --grid 3 --block 32 --arg rand:f32[96] --arg zeros:f32[3] --arg out:4
// expect: pass
__device__ unsigned int count = 0;
__device__ float blockSum(const float* array) {
  float v = array[blockIdx.x * 32 + threadIdx.x];
  for (int o = 16; o; o /= 2) v += __shfl_down_sync(~0u, v, o);
  return v;
}
extern "C" __global__ void sum(const float* array, volatile float* result, float* out) {
  __shared__ bool isLastBlockDone;
  float partialSum = blockSum(array);
  if (threadIdx.x == 0) {
    result[blockIdx.x] = partialSum;
    __threadfence();
    unsigned int value = atomicInc(&count, gridDim.x);
    isLastBlockDone = value == gridDim.x - 1;
  }
  __syncthreads();
  if (isLastBlockDone) {
    float totalSum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) totalSum += result[i];
    if (threadIdx.x == 0) {
      *out = totalSum;
      count = 0;
    }
  }
}
