// Source of lines.cubin, which cubin_test.cpp reads:
//   nvcc -cubin -lineinfo -arch=sm_90 -o lines.cubin lines.cu     (13.0.88)
#include <cstdio>

__device__ int seen = 1;

__device__ __forceinline__ void put(float* o, float v) {
  o[threadIdx.x] = v;
}

extern "C" __global__ void plain(float* o, const float* x) {
  const float v = x[threadIdx.x];
  put(o, v + 1);
}

extern "C" __global__ void speaks(float* o) {
  printf("%g\n", o[0]);
  atomicAdd(o, float(++seen));
}
