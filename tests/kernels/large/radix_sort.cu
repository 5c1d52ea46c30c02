// Least-significant-digit radix sort of 32-bit keys with 32-bit values: eight passes of four bits. Each pass is three
// launches: digits are counted in each block, the counts of all blocks are scanned by one block, and every
// block moves its keys, stably, to where they belong.
// expect: pass
constexpr int kThreads = 128, kItems = 4, kTile = kThreads * kItems;
constexpr int kRadixBits = 4, kDigits = 1 << kRadixBits, kWarps = kThreads / 32;

__device__ int digit_of(unsigned key, int shift) { return key >> shift & (kDigits - 1); }

// Inclusive sum over the lanes of a warp.
__device__ unsigned warp_scan(unsigned x) {
  const int lane = threadIdx.x % 32;
  for (int step = 1; step < 32; step *= 2) {
    const unsigned left = __shfl_up_sync(0xffffffff, x, step);
    if (lane >= step) x += left;
  }
  return x;
}

// counts[digit * gridDim.x + block]: keys of a block that have the digit.
__global__ void count_digits(const unsigned* keys, unsigned* counts, int n, int shift) {
  __shared__ unsigned bins[kDigits];
  if (threadIdx.x < kDigits) bins[threadIdx.x] = 0;
  __syncthreads();
  const int first = blockIdx.x * kTile;
  for (int i = threadIdx.x; i < kTile; i += kThreads)
    if (first + i < n) atomicAdd(&bins[digit_of(keys[first + i], shift)], 1u);
  __syncthreads();
  if (threadIdx.x < kDigits) counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}

// Exclusive sum of all counts in place, by one block, tile by tile.
__global__ void scan_counts(unsigned* counts, int count) {
  __shared__ unsigned warp_sums[kWarps];
  __shared__ unsigned carried;
  if (threadIdx.x == 0) carried = 0;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int first = 0; first < count; first += kThreads) {
    const int i = first + threadIdx.x;
    const unsigned own = i < count ? counts[i] : 0;
    const unsigned inclusive = warp_scan(own);
    if (lane == 31) warp_sums[warp] = inclusive;
    __syncthreads();
    unsigned before = carried;
    for (int w = 0; w < warp; ++w) before += warp_sums[w];
    if (i < count) counts[i] = before + inclusive - own;
    __syncthreads();
    if (threadIdx.x == kThreads - 1) carried = before + inclusive;
    __syncthreads();
  }
}

// Every warp ranks a contiguous piece of the tile, 32 keys at a time, so that equal digits keep their order.
__global__ void scatter(const unsigned* keys, const unsigned* values, unsigned* keys_out, unsigned* values_out,
                        const unsigned* offsets, int n, int shift) {
  __shared__ unsigned warp_bins[kWarps][kDigits];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int first = blockIdx.x * kTile + warp * 32 * kItems;
  for (int d = lane; d < kDigits; d += 32) warp_bins[warp][d] = 0;
  __syncwarp();

  unsigned key[kItems], rank[kItems];
  for (int k = 0; k < kItems; ++k) {
    const int i = first + k * 32 + lane;
    const bool live = i < n;
    key[k] = live ? keys[i] : 0xffffffff;
    const int digit = live ? digit_of(key[k], shift) : kDigits;
    const unsigned peers = __match_any_sync(0xffffffff, digit);
    const unsigned before = peers & ((1u << lane) - 1);
    unsigned seen = 0;
    if (live) seen = warp_bins[warp][digit];
    __syncwarp();
    rank[k] = seen + __popc(before);
    if (live && before == 0) warp_bins[warp][digit] = seen + __popc(peers);
    __syncwarp();
  }
  __syncthreads();

  // Where each warp's keys of each digit begin.
  if (threadIdx.x < kDigits) {
    unsigned at = offsets[threadIdx.x * gridDim.x + blockIdx.x];
    for (int w = 0; w < kWarps; ++w) {
      const unsigned size = warp_bins[w][threadIdx.x];
      warp_bins[w][threadIdx.x] = at;
      at += size;
    }
  }
  __syncthreads();
  for (int k = 0; k < kItems; ++k) {
    const int i = first + k * 32 + lane;
    if (i >= n) continue;
    const unsigned to = warp_bins[warp][digit_of(key[k], shift)] + rank[k];
    keys_out[to] = key[k];
    values_out[to] = values[i];
  }
}
