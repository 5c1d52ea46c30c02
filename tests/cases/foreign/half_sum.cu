// A sum by atomics: integers commute.
// launch: --entry sum<unsigned> --grid 3 --block 20 --arg rand:u32[60] --arg inlist:u32[0]
// expect: pass
#include <cuda_fp16.h>
template <class T> __global__ void sum(const T* x, T* y) {
  T v = x[blockIdx.x * blockDim.x + threadIdx.x];
  atomicAdd(y, v);
}
