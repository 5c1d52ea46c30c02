// cub::DeviceReduce::Sum of floats: a partial sum for each block, then one block.
// expect: pass
#include <cub/cub.cuh>

extern "C" void dispatch(void* temp, size_t* bytes, void* const* b) {
  cub::DeviceReduce::Sum(temp, *bytes, static_cast<const float*>(b[0]), static_cast<float*>(b[1]), 20000);
}
