// One lane of each warp adds its element to a total under a spin lock.
// Defect: the unlock is relaxed. The next owner need not see the total that this one stored.
// expect: race global @A @A
__device__ int lock = 0;

__global__ void locked_sum(const unsigned* x, unsigned* total) {
  if (threadIdx.x % 32 != 0) return;
  unsigned v = x[(blockIdx.x * blockDim.x + threadIdx.x) / 32];
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
  __threadfence();
  *total += v; // @A
  atomicExch(&lock, 0);
}
