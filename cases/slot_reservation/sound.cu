// Stream compaction: each block fills its own segment, in an order that a scan of votes decides.
// expect: pass proved
__global__ void keep_positive(const float* x, float* kept) {
  __shared__ int warp_total[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  unsigned votes = __ballot_sync(0xffffffffu, v > 0.0f);
  if (lane == 0) warp_total[warp] = __popc(votes);
  __syncthreads();
  int slot = blockIdx.x * blockDim.x + __popc(votes & ((1u << lane) - 1u));
  for (int w = 0; w < warp; ++w) slot += warp_total[w];
  if (v > 0.0f) kept[slot] = v;
}
