// Number of positive elements of the whole grid.
// expect: pass
__global__ void count_positive(const float* x, unsigned* count) {
  bool positive = x[blockIdx.x * blockDim.x + threadIdx.x] > 0.0f;
  unsigned votes = __ballot_sync(0xffffffffu, positive);
  if (threadIdx.x % 32 == 0) atomicAdd(count, __popc(votes));
}
