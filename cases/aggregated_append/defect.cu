// Stream compaction with one atomic a warp: the first positive lane reserves slots for all of them.
// Defect: whose warp comes first gets the lower slots.
// expect: nondeterministic global @A @A
__device__ unsigned used = 0;

__global__ void keep_positive(const float* x, float* kept) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  float v = x[i];
  unsigned votes = __ballot_sync(0xffffffffu, v > 0.0f);
  unsigned base = 0;
  if (lane == 0) base = atomicAdd(&used, __popc(votes)); // @A
  base = __shfl_sync(0xffffffffu, base, 0);
  if (v > 0.0f) kept[base + __popc(votes & ((1u << lane) - 1u))] = v;
}
