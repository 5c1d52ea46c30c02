// Warps count, and one thread takes the count and clears it: whoever has not counted yet is lost.
// launch: --arch sm_80 --grid 1 --block 128 --arg out:8
// help: add __syncthreads() between line 10 and line
// not: fixed order
__global__ void take(unsigned* out) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  // every odd thread has something to tell
  if (threadIdx.x & 1) atomicAdd(&count, threadIdx.x); // @A
#ifdef SOUND
  __syncthreads();
#endif
  if (threadIdx.x == 0) {
    out[0] = atomicExch(&count, 0u); // @B
    out[1] = 1;
  }
}
