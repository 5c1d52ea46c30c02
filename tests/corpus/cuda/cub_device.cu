// CUB device-wide algorithms. -DELEMENT=type -DALGO=0..6
#include <cub/cub.cuh>

using T = ELEMENT;

cudaError_t run(void* temp, size_t& bytes, const T* in, T* out, int* counts, int n) {
#if ALGO == 0
  return cub::DeviceReduce::Sum(temp, bytes, in, out, n);
#elif ALGO == 1
  return cub::DeviceScan::InclusiveSum(temp, bytes, in, out, n);
#elif ALGO == 2
  return cub::DeviceRadixSort::SortKeys(temp, bytes, in, out, n);
#elif ALGO == 3
  return cub::DeviceSelect::Unique(temp, bytes, in, out, counts, n);
#elif ALGO == 4
  return cub::DeviceRunLengthEncode::Encode(temp, bytes, in, out, counts, counts + 1, n);
#elif ALGO == 5
  return cub::DeviceHistogram::HistogramEven(temp, bytes, in, counts, 65, T(0), T(64), n);
#elif ALGO == 6
  return cub::DeviceSegmentedReduce::Max(temp, bytes, in, out, n, counts, counts + 1);
#endif
}
