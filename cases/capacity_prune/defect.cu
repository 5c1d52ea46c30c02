// Each block sends its tokens to one of four experts, which take half of what there is on average.
// Defect: the capacity is counted down as tokens come, so that which ones are dropped is up to who
// comes first.
// expect: nondeterministic shared @A @A
__global__ void route(const unsigned* wish, int* expert) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
  int e = wish[i] % 4, capacity = blockDim.x / 8;
  __shared__ int left[4];
  if (t < 4) left[t] = capacity;
  __syncthreads();
  bool kept = atomicSub(&left[e], 1) > 0; // @A
  expert[i] = kept ? e : -1;
}
