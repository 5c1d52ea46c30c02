// Every positive element is counted under the index of its block: a ballot of all lanes before the
// branch, and the first of those that are positive adds for all.
// expect: pass
__global__ void count_positive(const float* x, unsigned* counts) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  bool positive = x[blockIdx.x * blockDim.x + threadIdx.x] > 0.0f;
  unsigned who = __ballot_sync(0xffffffffu, positive);
  if (positive) {
    int first = __ffs(who) - 1;
    if (threadIdx.x % 32 == first && first < 16) atomicAdd(&count, __popc(who));
  }
  __syncthreads();
  if (threadIdx.x == 0) counts[blockIdx.x] = count;
}
