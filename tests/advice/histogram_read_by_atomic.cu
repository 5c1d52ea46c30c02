// A histogram whose bins are read by atomicAdd(p, 0). The updates commute with each other; what they lack is an order with who reads.
// launch: --arch sm_80 --grid 1 --block 64 --arg out:128
// help: add __syncthreads() between line 10 and line
// not: fixed order
// kind: nondeterministic
__global__ void histogram(unsigned* out) {
  __shared__ unsigned bins[32];
  if (threadIdx.x < 32) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[threadIdx.x & 31], threadIdx.x); // @A
#ifdef SOUND
  __syncthreads();
#endif
  if (threadIdx.x < 32) out[threadIdx.x] = atomicAdd(&bins[threadIdx.x], 0u); // @B
}
