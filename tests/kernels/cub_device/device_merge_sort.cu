// cub::DeviceMergeSort::StableSortPairs: tiles by blocks, then merges of twice the length.
// expect: pass
#include <cub/cub.cuh>

extern "C" void dispatch(void* temp, size_t* bytes, void* const* b) {
  cub::DeviceMergeSort::StableSortPairs(temp, *bytes, static_cast<int*>(b[0]), static_cast<int*>(b[1]), 12000, cuda::std::less<>());
}
