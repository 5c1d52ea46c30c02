// The two halves of a block trade tiles through shared memory with two named barriers, which both
// meet in the same order.
// expect: pass proved
__global__ void trade_halves(const float* x, float* y) {
  __shared__ float tile[1024];
  int tid = threadIdx.x, half = blockDim.x / 2;
  int i = blockIdx.x * blockDim.x + tid;
  tile[tid] = x[i];
  if (tid < half) {
    asm volatile("bar.sync 1;" ::: "memory");
    asm volatile("bar.sync 2;" ::: "memory");
  } else {
    asm volatile("bar.sync 1;" ::: "memory");
    asm volatile("bar.sync 2;" ::: "memory");
  }
  y[i] = tile[(tid + half) % blockDim.x];
}
