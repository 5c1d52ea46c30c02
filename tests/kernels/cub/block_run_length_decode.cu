// cub::BlockRunLengthDecode: runs unrolled window by window.
// expect: pass proved
#include <cub/cub.cuh>

extern "C" __global__ void block_run_length_decode(const int* values, const unsigned* lengths, int* decoded, unsigned* total) {
  using Decode = cub::BlockRunLengthDecode<int, 64, 2, 4>;
  __shared__ typename Decode::TempStorage storage;
  int value[2];
  unsigned length[2];
  cub::LoadDirectBlocked(threadIdx.x, values, value);
  cub::LoadDirectBlocked(threadIdx.x, lengths, length);
  unsigned size = 0;
  Decode decode(storage, value, length, size);
  for (unsigned window = 0; window < size; window += 256) {
    int items[4];
    decode.RunLengthDecode(items, window);
    const int left = min(size - window, 256u);
    cub::StoreDirectBlocked(threadIdx.x, decoded + window, items, left);
  }
  if (threadIdx.x == 0) *total = size;
}
