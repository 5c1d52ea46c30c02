// cub::DeviceSelect::UniqueByKey.
// expect: pass
#include <cub/cub.cuh>

extern "C" void dispatch(void* temp, size_t* bytes, void* const* b) {
  cub::DeviceSelect::UniqueByKey(temp, *bytes, static_cast<const int*>(b[0]), static_cast<const int*>(b[1]),
                                 static_cast<int*>(b[2]), static_cast<int*>(b[3]), static_cast<int*>(b[4]), 20000);
}
