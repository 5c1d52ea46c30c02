// cub::DeviceSegmentedReduce::Sum: a block for each segment.
// expect: pass
#include <cub/cub.cuh>

extern "C" void dispatch(void* temp, size_t* bytes, void* const* b) {
  const int* offsets = static_cast<const int*>(b[2]);
  cub::DeviceSegmentedReduce::Sum(temp, *bytes, static_cast<const float*>(b[0]), static_cast<float*>(b[1]), 40, offsets, offsets + 1);
}
