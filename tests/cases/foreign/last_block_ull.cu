// The last block adds up what the others left: 64-bit integers, functions in a namespace, a block
// of 10 x 5.
// launch: --entry total --grid 3 --block 10,5 --arg rand:u64[150] --arg out:24
// launch: --arg zeros:u32[1] --arg out:8
// expect: pass
namespace detail {
typedef unsigned long long word;
__device__ inline bool is_last(unsigned* tickets, unsigned blocks) {
  __shared__ bool last;
  if (threadIdx.x + threadIdx.y == 0) last = atomicInc(tickets, blocks - 1) == blocks - 1;
  __syncthreads();
  return last;
}
__device__ inline void publish(word* where, word v) { *where = v; }
} // namespace detail
extern "C" __global__ void total(const detail::word* x, detail::word* parts, unsigned* tickets,
                                 detail::word* sum) {
  __shared__ detail::word cell;
  int thread = threadIdx.y * blockDim.x + threadIdx.x, n = blockDim.x * blockDim.y;
  if (thread == 0) cell = 0;
  __syncthreads();
  atomicAdd(&cell, x[blockIdx.x * n + thread]);
  __syncthreads();
  if (thread == 0) detail::publish(parts + blockIdx.x, cell);
  __threadfence();
  if (detail::is_last(tickets, gridDim.x) && thread == 0) {
    __threadfence();
    detail::word all = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) all += parts[b];
    *sum = all;
  }
}
