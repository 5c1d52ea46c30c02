// Number of positive elements of the whole grid.
// Defect: atomicAdd_block is atomic towards the threads of the own block only; other blocks' updates
// may be lost.
// expect: race global @A @A
__global__ void count_positive(const float* x, unsigned* count) {
  bool positive = x[blockIdx.x * blockDim.x + threadIdx.x] > 0.0f;
  unsigned votes = __ballot_sync(0xffffffffu, positive);
  if (threadIdx.x % 32 == 0) atomicAdd_block(count, __popc(votes)); // @A
}
