// cub::DeviceSelect::Unique: one pass with look-back.
// expect: pass
#include <cub/cub.cuh>

extern "C" void dispatch(void* temp, size_t* bytes, void* const* b) {
  cub::DeviceSelect::Unique(temp, *bytes, static_cast<const int*>(b[0]), static_cast<int*>(b[1]), static_cast<int*>(b[2]), 20000);
}
