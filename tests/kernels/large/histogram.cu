// Histogram of three channels of packed pixels with 256 bins each. Every warp has counters of its own in shared memory,
// 8 bits wide and four to a word, which it empties into the block's 32-bit counters before they can overflow; at the
// end the blocks add theirs to the total by atomics, and the last block to finish turns it into cumulative counts.
// expect: pass
constexpr int kThreads = 128, kWarps = kThreads / 32, kBins = 256, kChannels = 3;
constexpr int kWords = kBins / 4;   // of one channel's packed counters
constexpr int kMost = 255 / 32;     // rounds of 32 pixels until a counter of 8 bits could overflow

struct Counters {
  unsigned packed[kWarps][kChannels][kWords];
  unsigned block[kChannels][kBins];
};

__device__ void clear(Counters& c) {
  for (int i = threadIdx.x; i < kWarps * kChannels * kWords; i += kThreads) (&c.packed[0][0][0])[i] = 0;
  for (int i = threadIdx.x; i < kChannels * kBins; i += kThreads) (&c.block[0][0])[i] = 0;
}

// A warp adds its packed counters to the block's and clears them.
__device__ void empty(Counters& c, int warp, int lane) {
  __syncwarp();
  for (int channel = 0; channel < kChannels; ++channel)
    for (int word = lane; word < kWords; word += 32) {
      const unsigned four = c.packed[warp][channel][word];
      c.packed[warp][channel][word] = 0;
      for (int k = 0; k < 4; ++k) {
        const unsigned count = four >> (8 * k) & 0xff;
        if (count) atomicAdd(&c.block[channel][word * 4 + k], count);
      }
    }
  __syncwarp();
}

__device__ unsigned inclusive_sum(unsigned x) {
  for (int step = 1; step < 32; step *= 2) {
    const unsigned left = __shfl_up_sync(0xffffffff, x, step);
    if (threadIdx.x % 32 >= step) x += left;
  }
  return x;
}

__global__ void histogram(const uchar4* pixels, unsigned* counts, unsigned* cumulative, unsigned* done, int n) {
  __shared__ Counters shared;
  __shared__ bool is_last;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  clear(shared);
  __syncthreads();

  int rounds = 0;
  const int stride = gridDim.x * kThreads;
  for (int base = blockIdx.x * kThreads + warp * 32; base < n; base += stride) {
    const int i = base + lane;
    if (i < n) {
      const uchar4 pixel = pixels[i];
      const unsigned char value[kChannels] = {pixel.x, pixel.y, pixel.z};
      for (int channel = 0; channel < kChannels; ++channel)
        atomicAdd(&shared.packed[warp][channel][value[channel] / 4], 1u << (8 * (value[channel] % 4)));
    }
    if (++rounds == kMost) {
      empty(shared, warp, lane);
      rounds = 0;
    }
  }
  empty(shared, warp, lane);
  __syncthreads();

  for (int i = threadIdx.x; i < kChannels * kBins; i += kThreads) {
    const unsigned count = (&shared.block[0][0])[i];
    if (count) atomicAdd(&counts[i], count);
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    is_last = atomicAdd(done, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!is_last) return;

  // A warp for each channel: cumulative counts, 32 bins at a time.
  if (warp < kChannels) {
    unsigned carried = 0;
    for (int first = 0; first < kBins; first += 32) {
      const unsigned own = *(volatile unsigned*)&counts[warp * kBins + first + lane];
      const unsigned sum = carried + inclusive_sum(own);
      cumulative[warp * kBins + first + lane] = sum;
      carried = __shfl_sync(0xffffffff, sum, 31);
    }
  }
  if (threadIdx.x == 0) *done = 0; // ready for the next launch
}
