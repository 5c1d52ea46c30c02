// One lane of each warp adds its element to a total under a lock.
// Defect: the lock is given back before the new total is stored.
// expect: race global @R @W
// expect: race global @W @W
__device__ int lock = 0;

__global__ void locked_sum(const unsigned* x, unsigned* total) {
  if (threadIdx.x % 32 != 0) return;
  unsigned v = x[(blockIdx.x * blockDim.x + threadIdx.x) / 32];
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
  __threadfence();
  v += *total; // @R
  __threadfence();
  atomicExch(&lock, 0);
  *total = v; // @W
}
