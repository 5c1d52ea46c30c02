// cub::DeviceRunLengthEncode::Encode: a reduction by key with look-back over pairs, 128 bits of status a tile.
// expect: pass
#include <cub/cub.cuh>

extern "C" void dispatch(void* temp, size_t* bytes, void* const* b) {
  cub::DeviceRunLengthEncode::Encode(temp, *bytes, static_cast<const int*>(b[0]), static_cast<int*>(b[1]),
                                     static_cast<int*>(b[2]), static_cast<int*>(b[3]), 20000);
}
