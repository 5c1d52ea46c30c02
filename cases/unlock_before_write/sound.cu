// One lane of each warp adds its element to a total under a lock.
// expect: pass
__device__ int lock = 0;

__global__ void locked_sum(const unsigned* x, unsigned* total) {
  if (threadIdx.x % 32 != 0) return;
  unsigned v = x[(blockIdx.x * blockDim.x + threadIdx.x) / 32];
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
  __threadfence();
  v += *total;
  *total = v;
  __threadfence();
  atomicExch(&lock, 0);
}
