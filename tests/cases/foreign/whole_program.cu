// A file as people have it, with headers of which the kernel uses nothing, and types of the driver.
// launch: --entry saxpy --grid 2 --block 64 --arg s32:100 --arg f32:2 --arg rand:f32[100] --arg rand:f32[100]
// expect: pass
#include <algorithm>
#include <cuda.h>
#include <cuda_runtime.h>
#include <iostream>
#include <type_traits>
#include <vector>
template <class T> __global__ void saxpy(int n, T a, const T* x, T* y) {
  static_assert(std::is_floating_point<T>::value, "");
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
template __global__ void saxpy<float>(int, float, const float*, float*);
