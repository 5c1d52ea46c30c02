// Thrust algorithms on device pointers. -DELEMENT=type -DALGO=0..4
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/partition.h>

using T = ELEMENT;
struct Square {
  __host__ __device__ T operator()(T x) const { return x * x; }
};
struct Positive {
  __host__ __device__ bool operator()(T x) const { return x > T(0); }
};

T run(T* a, T* b, int n) {
#if ALGO == 0
  return thrust::transform_reduce(thrust::device, a, a + n, Square(), T(0), thrust::plus<T>());
#elif ALGO == 1
  thrust::transform(thrust::device, a, a + n, b, b, thrust::multiplies<T>());
#elif ALGO == 2
  thrust::exclusive_scan(thrust::device, a, a + n, b);
#elif ALGO == 3
  thrust::stable_partition(thrust::device, a, a + n, Positive());
#elif ALGO == 4
  thrust::sort(thrust::device, a, a + n, thrust::greater<T>());
#endif
  return T(0);
}
