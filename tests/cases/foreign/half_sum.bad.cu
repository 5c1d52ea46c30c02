// Sum of half2 by atomics: the order decides the bits. The twin sums integers.
// launch: --entry sum<__half2> --grid 3 --block 20 --arg rand:f16[120] --arg inlist:f16[0,0]
// expect: nondeterministic global @A @A
#include <cuda_fp16.h>
template <class T> __global__ void sum(const T* x, T* y) {
  T v = x[blockIdx.x * blockDim.x + threadIdx.x];
  atomicAdd(y, v); // @A
}
