// Sums and maxima of segments of any length, given by their offsets. Long segments are split: a first launch
// cuts them into pieces of at most kPiece elements and gives each block a list; a second reduces every piece, a
// warp for short ones, the block for long ones; a third adds up the pieces of each segment in order, so that
// the floating-point sums never depend on who comes first.
// expect: pass
#include <cfloat>

constexpr int kThreads = 128, kPiece = 256, kShort = 64;

struct Partial {
  float sum, most;
};

__device__ Partial combine(Partial a, Partial b) { return {a.sum + b.sum, fmaxf(a.most, b.most)}; }

__device__ Partial warp_reduce(Partial x) {
  for (int step = 16; step; step /= 2) {
    Partial other{__shfl_down_sync(0xffffffff, x.sum, step), __shfl_down_sync(0xffffffff, x.most, step)};
    x = combine(x, other);
  }
  return x; // of lane 0
}

// first_piece[s]: the number of pieces before segment s. One block.
__global__ void plan(const int* offsets, int* first_piece, int segments) {
  __shared__ int sums[2][kThreads];
  int carried = 0;
  for (int base = 0; base < segments; base += kThreads) {
    const int s = base + threadIdx.x;
    int pieces = 0;
    if (s < segments) pieces = (offsets[s + 1] - offsets[s] + kPiece - 1) / kPiece;
    int from = 0;
    sums[from][threadIdx.x] = pieces;
    __syncthreads();
    for (int step = 1; step < kThreads; step *= 2) {
      int x = sums[from][threadIdx.x];
      if (threadIdx.x >= step) x += sums[from][threadIdx.x - step];
      from ^= 1;
      sums[from][threadIdx.x] = x;
      __syncthreads();
    }
    if (s < segments) first_piece[s] = carried + sums[from][threadIdx.x] - pieces;
    carried += sums[from][kThreads - 1];
    __syncthreads();
  }
  if (threadIdx.x == 0) first_piece[segments] = carried;
}

// The segment that a piece belongs to: the last whose first piece is not behind it.
__device__ int segment_of(const int* first_piece, int segments, int piece) {
  int low = 0, high = segments;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (first_piece[middle] <= piece) low = middle;
    else high = middle;
  }
  return low;
}

__global__ void reduce_pieces(const float* x, const int* offsets, const int* first_piece, Partial* partials, int segments) {
  __shared__ Partial warps[kThreads / 32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int pieces = first_piece[segments];
  for (int piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
    const int segment = segment_of(first_piece, segments, piece);
    const int begin = offsets[segment] + (piece - first_piece[segment]) * kPiece;
    const int end = min(begin + kPiece, offsets[segment + 1]);
    Partial own{0.0f, -FLT_MAX};
    if (end - begin <= kShort) { // the same for the whole block
      if (warp == 0) {
        for (int i = begin + lane; i < end; i += 32) own = combine(own, {x[i], x[i]});
        own = warp_reduce(own);
        if (lane == 0) partials[piece] = own;
      }
      continue;
    }
    for (int i = begin + threadIdx.x; i < end; i += kThreads) own = combine(own, {x[i], x[i]});
    own = warp_reduce(own);
    if (lane == 0) warps[warp] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int w = 1; w < kThreads / 32; ++w) own = combine(own, warps[w]);
      partials[piece] = own;
    }
    __syncthreads();
  }
}

__global__ void combine_pieces(const Partial* partials, const int* first_piece, float* sums, float* most, int segments) {
  const int s = blockIdx.x * kThreads + threadIdx.x;
  if (s >= segments) return;
  Partial total{0.0f, -FLT_MAX};
  for (int piece = first_piece[s]; piece < first_piece[s + 1]; ++piece) total = combine(total, partials[piece]);
  sums[s] = total.sum;
  most[s] = total.most;
}
