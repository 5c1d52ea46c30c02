// cub::BlockRadixSort: pairs upwards, keys downwards by some of their bits.
// expect: pass proved
#include <cub/cub.cuh>

extern "C" __global__ void block_radix_sort(const float* keys, const unsigned* more, float* sorted, int* from, unsigned* down) {
  using Pairs = cub::BlockRadixSort<float, 128, 5, int>;
  using Keys = cub::BlockRadixSort<unsigned, 128, 5>;
  __shared__ union {
    typename Pairs::TempStorage pairs;
    typename Keys::TempStorage keys;
  } storage;
  const int tile = blockIdx.x * 640;
  float key[5];
  int value[5];
  cub::LoadDirectBlocked(threadIdx.x, keys + tile, key);
  for (int i = 0; i < 5; ++i) value[i] = threadIdx.x * 5 + i;
  Pairs(storage.pairs).Sort(key, value);
  cub::StoreDirectBlocked(threadIdx.x, sorted + tile, key);
  cub::StoreDirectBlocked(threadIdx.x, from + tile, value);
  __syncthreads();
  unsigned word[5];
  cub::LoadDirectBlocked(threadIdx.x, more + tile, word);
  Keys(storage.keys).SortDescendingBlockedToStriped(word, 8, 20);
  cub::StoreDirectStriped<128>(threadIdx.x, down + tile, word);
}
