// cub::DeviceScan::ExclusiveSum: one pass with decoupled look-back.
// expect: pass
#include <cub/cub.cuh>

extern "C" void dispatch(void* temp, size_t* bytes, void* const* b) {
  cub::DeviceScan::ExclusiveSum(temp, *bytes, static_cast<const int*>(b[0]), static_cast<int*>(b[1]), 20000);
}
