// libcu++: atomics, barriers, pipelines, semaphores, standard types. -DALGO=0..7
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/complex>
#include <cuda/std/tuple>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

#if ALGO == 0
extern "C" __global__ void atomics(int* a, unsigned long long* b, float* f, double* d) {
  cuda::atomic_ref<int, cuda::thread_scope_device> x(*a);
  x.fetch_add(1, cuda::memory_order_acq_rel);
  x.fetch_xor(3, cuda::memory_order_relaxed);
  cuda::atomic_ref<unsigned long long, cuda::thread_scope_system> y(*b);
  unsigned long long e = 1;
  y.compare_exchange_strong(e, 5, cuda::memory_order_seq_cst);
  y.store(9, cuda::memory_order_release);
  cuda::atomic_ref<float, cuda::thread_scope_block>(*f).fetch_add(1.5f);
  cuda::atomic_ref<double, cuda::thread_scope_device>(*d).fetch_min(2.0);
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
  if (x.load(cuda::memory_order_acquire) == 7) x.notify_all();
  x.wait(3);
}
#elif ALGO == 1
extern "C" __global__ void copies(int* out, const int* in) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ alignas(16) int tile[1024];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(cg::this_thread_block(), tile, in, cuda::aligned_size_t<16>(sizeof tile), bar);
  bar.arrive_and_wait();
  out[threadIdx.x] = tile[threadIdx.x ^ 1];
}
#elif ALGO == 2
extern "C" __global__ void pipeline(float* out, const float* in, int n) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ float tile[2][256];
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    pipe.producer_acquire();
    cuda::memcpy_async(block, tile[i & 1], in + i * 256, sizeof tile[0], pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    sum += tile[i & 1][threadIdx.x];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}
#elif ALGO == 3
extern "C" __global__ void semaphores(cuda::counting_semaphore<cuda::thread_scope_device>* s, cuda::latch<cuda::thread_scope_device>* l, int* x) {
  s->acquire();
  *x += 1;
  s->release();
  l->arrive_and_wait();
}
#elif ALGO == 4
extern "C" __global__ void complex_math(cuda::std::complex<float>* z, cuda::std::complex<double>* w) {
  int i = threadIdx.x;
  z[i] = cuda::std::exp(z[i]) * cuda::std::sqrt(z[i + 1]) / z[i + 2];
  w[i] = cuda::std::pow(w[i], w[i + 1]);
}
#elif ALGO == 5
extern "C" __global__ void bits(unsigned* a, unsigned long long* b) {
  int i = threadIdx.x;
  a[i] = cuda::std::popcount(a[i]) + cuda::std::countl_zero(a[i]) + cuda::std::rotl(a[i], 5) + cuda::std::bit_ceil(a[i] & 0xffffu);
  b[i] = cuda::std::countr_zero(b[i]) + cuda::std::bit_width(b[i]) + __brevll(b[i]) + __umul64hi(b[i], 77);
}
#elif ALGO == 6
extern "C" __global__ void groups(int* out, const int* in) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  int v = in[block.thread_rank()];
  for (int d = tile.size() / 2; d; d /= 2) v += tile.shfl_down(v, d);
  auto active = cg::coalesced_threads();
  if (v > 3) v += cg::coalesced_threads().size();
  v += tile.any(v > 5) + tile.ballot(v & 1) + tile.match_any(v);
  out[active.thread_rank()] = v;
  cg::this_grid().sync();
  out[block.thread_rank()] += 1;
}
#elif ALGO == 7
struct Node {
  cuda::std::array<int, 3> a;
  cuda::std::tuple<float, double> t;
};
extern "C" __global__ void types(Node* n, int k) {
  n[threadIdx.x].a[k % 3] += cuda::std::get<0>(n[threadIdx.x].t) > cuda::std::get<1>(n[0].t);
}
#endif
