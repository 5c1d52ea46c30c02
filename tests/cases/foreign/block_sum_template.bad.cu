// Row sums by a template over element type and block size, with helpers inlined from a namespace,
// in a block of 48 x 2.
// launch: --entry rows::row_sums<double,96> --grid 2 --block 48,2 --arg rand:f64[768]
// launch: --arg out:64 --arg u32:96
// expect: race shared @A @B
// expect: race shared @A @C
namespace rows {
template <class T> struct Plus {
  __device__ T operator()(T a, T b) const { return a + b; }
};
template <class T, int Threads, class F> __device__ __forceinline__ T block_reduce(T v, F f) {
  __shared__ T cells[Threads / 32];
  int thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (int d = 16; d > 0; d /= 2) v = f(v, __shfl_down_sync(0xffffffff, v, d));
  if (thread % 32 == 0) cells[thread / 32] = v; // @A
  __syncthreads();
  T all = cells[0];                                              // @B
  for (int i = 1; i < Threads / 32; ++i) all = f(all, cells[i]); // @C
  return all;
}
template <class T, int Threads> __global__ void row_sums(const T* x, T* sums, unsigned cols) {
  int thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (int r = 0; r < 4; ++r) {
    T v = 0;
    int row = blockIdx.x * 4 + r;
    for (unsigned c = thread; c < cols; c += Threads) v += x[row * cols + c];
    v = block_reduce<T, Threads>(v, Plus<T>{});
    if (thread == Threads - 1) sums[row] = v;
  }
}
} // namespace rows
