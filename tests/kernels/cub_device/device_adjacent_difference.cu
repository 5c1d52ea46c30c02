// cub::DeviceAdjacentDifference::SubtractLeftCopy.
// expect: pass
#include <cub/cub.cuh>

extern "C" void dispatch(void* temp, size_t* bytes, void* const* b) {
  cub::DeviceAdjacentDifference::SubtractLeftCopy(temp, *bytes, static_cast<const int*>(b[0]), static_cast<int*>(b[1]), 20000);
}
