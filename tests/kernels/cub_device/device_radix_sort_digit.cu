// cub::DeviceRadixSort::SortPairs by one digit of eight bits: a single pass of onesweep.
// expect: pass
#include <cub/cub.cuh>

extern "C" void dispatch(void* temp, size_t* bytes, void* const* b) {
  cub::DeviceRadixSort::SortPairs(temp, *bytes, static_cast<const unsigned*>(b[0]), static_cast<unsigned*>(b[1]),
                                  static_cast<const int*>(b[2]), static_cast<int*>(b[3]), 9000, 8, 16);
}

// In the place of cudaMemsetAsync.
extern "C" __global__ void fill(unsigned char* to, int value, unsigned long long bytes) {
  for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += gridDim.x * blockDim.x) to[i] = value;
}
