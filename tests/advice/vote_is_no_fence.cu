// Lanes count by atomics, and a vote is taken for a barrier: it brings the lanes together, but orders no memory.
// launch: --arch sm_80 --grid 1 --block 32 --arg out:4
// help: add __syncwarp() between line 9 and line
// not: __threadfence
__global__ void count(unsigned* out) {
  __shared__ unsigned n;
  if (threadIdx.x == 0) n = 0;
  __syncwarp();
  if (threadIdx.x & 1) atomicAdd(&n, 1u); // @A
  unsigned odd = __ballot_sync(0xffffffff, threadIdx.x & 1);
#ifdef SOUND
  __syncwarp();
#endif
  if (threadIdx.x == 0) *out = atomicAdd(&n, 0u) + odd; // @B
}
