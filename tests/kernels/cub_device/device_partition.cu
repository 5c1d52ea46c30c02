// cub::DevicePartition::Flagged: those selected in front, the others behind in reverse.
// expect: pass
#include <cub/cub.cuh>

extern "C" void dispatch(void* temp, size_t* bytes, void* const* b) {
  cub::DevicePartition::Flagged(temp, *bytes, static_cast<const int*>(b[0]), static_cast<const unsigned char*>(b[1]),
                                static_cast<int*>(b[2]), static_cast<int*>(b[3]), 20000);
}
