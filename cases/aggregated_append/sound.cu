// Stream compaction where a warp's place is the number of positive elements before it.
// expect: pass proved
__global__ void keep_positive(const float* x, float* kept) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  float v = x[i];
  unsigned votes = __ballot_sync(0xffffffffu, v > 0.0f);
  unsigned base = 0;
  for (int first = 0; first < i - lane; first += 32)
    base += __popc(__ballot_sync(0xffffffffu, x[first + lane] > 0.0f));
  if (v > 0.0f) kept[base + __popc(votes & ((1u << lane) - 1u))] = v;
}
