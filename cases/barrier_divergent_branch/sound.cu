// Shifts each block's segment by one element through shared memory; the block's last five threads
// have no element of their own but reach the barrier like all others.
// expect: pass proved
__global__ void shift_segments(const float* x, float* y) {
  __shared__ float tile[1024];
  int tid = threadIdx.x, used = blockDim.x - 5;
  int i = blockIdx.x * blockDim.x + tid;
  float v = 0.0f;
  if (tid < used) tile[tid] = x[i];
  __syncthreads();
  if (tid < used) v = tile[(tid + 1) % used];
  y[i] = v;
}
