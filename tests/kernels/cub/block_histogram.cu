// cub::BlockHistogram by sorting and by atomics.
// expect: pass proved
#include <cub/cub.cuh>

template <cub::BlockHistogramAlgorithm algorithm> __device__ void count(unsigned char (&items)[4], unsigned* out) {
  using Histogram = cub::BlockHistogram<unsigned char, 128, 4, 256, algorithm>;
  __shared__ typename Histogram::TempStorage storage;
  __shared__ unsigned bins[256];
  Histogram(storage).Histogram(items, bins);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += 128) out[b] = bins[b];
  __syncthreads();
}

extern "C" __global__ void block_histogram(const unsigned char* x, unsigned* counts) {
  unsigned char items[4];
  cub::LoadDirectStriped<128>(threadIdx.x, x + blockIdx.x * 512, items);
  count<cub::BLOCK_HISTO_ATOMIC>(items, counts + blockIdx.x * 512);
  count<cub::BLOCK_HISTO_SORT>(items, counts + blockIdx.x * 512 + 256);
}
