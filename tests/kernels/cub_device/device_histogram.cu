// cub::DeviceHistogram::HistogramEven: counters in shared memory, added up by atomics.
// expect: pass
#include <cub/cub.cuh>

extern "C" void dispatch(void* temp, size_t* bytes, void* const* b) {
  cub::DeviceHistogram::HistogramEven(temp, *bytes, static_cast<const float*>(b[0]), static_cast<int*>(b[1]), 101, -1.0f, 1.0f,
                                      20000);
}
