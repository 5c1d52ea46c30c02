// cub::DeviceReduce::ReduceByKey: sums of runs of equal keys, by look-back over pairs, 128 bits of status a tile. Four whole
// tiles of 3,840: of a part of one, it sums items behind the end, from registers that nobody wrote, into the last status,
// where nobody reads them; the outputs do not depend on them, but memory does.
// expect: pass
#include <cub/cub.cuh>

extern "C" void dispatch(void* temp, size_t* bytes, void* const* b) {
  cub::DeviceReduce::ReduceByKey(temp, *bytes, static_cast<const int*>(b[0]), static_cast<int*>(b[1]),
                                 static_cast<const int*>(b[2]), static_cast<int*>(b[3]), static_cast<int*>(b[4]),
                                 cuda::std::plus<>{}, 15360);
}
