// cub::BlockMergeSort: stable, with values, of a whole tile and of a partial one.
// expect: pass proved
#include <cub/cub.cuh>

struct Less {
  __device__ bool operator()(short a, short b) const { return a < b; }
};

extern "C" __global__ void block_merge_sort(const short* keys, short* sorted, int* from, short* part, int valid) {
  using Sort = cub::BlockMergeSort<short, 128, 5, int>;
  using Keys = cub::BlockMergeSort<short, 128, 5>;
  __shared__ union {
    typename Sort::TempStorage pairs;
    typename Keys::TempStorage keys;
  } storage;
  short key[5];
  int value[5];
  cub::LoadDirectBlocked(threadIdx.x, keys, key);
  for (int i = 0; i < 5; ++i) value[i] = threadIdx.x * 5 + i;
  Sort(storage.pairs).StableSort(key, value, Less());
  cub::StoreDirectBlocked(threadIdx.x, sorted, key);
  cub::StoreDirectBlocked(threadIdx.x, from, value);
  __syncthreads();
  cub::LoadDirectBlocked(threadIdx.x, keys, key, valid, short(32767));
  Keys(storage.keys).Sort(key, Less(), valid, short(32767));
  cub::StoreDirectBlocked(threadIdx.x, part, key, valid);
}
