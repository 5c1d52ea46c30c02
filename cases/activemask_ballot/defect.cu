// Every positive element is counted under the index of its block: a ballot of the lanes that are active
// in the branch, and the first of them adds for all.
// Defect: the lanes of a branch need not be together. Each part of them counts the whole ballot of its
// own, but only lane numbers below 16 are let through to add.
// expect: nondeterministic @A
__global__ void count_positive(const float* x, unsigned* counts) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  bool positive = x[blockIdx.x * blockDim.x + threadIdx.x] > 0.0f;
  if (positive) {
    unsigned who = __activemask(); // @A
    int first = __ffs(who) - 1;
    if (threadIdx.x % 32 == first && first < 16) atomicAdd(&count, __popc(who));
  }
  __syncthreads();
  if (threadIdx.x == 0) counts[blockIdx.x] = count;
}
