// cuda::ptx and Hopper/Blackwell features. -DALGO=0..5; needs sm_90a, 4 and 5 need sm_100a.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda.h>

namespace ptx = cuda::ptx;
namespace cg = cooperative_groups;

#if ALGO == 0
extern "C" __global__ void bulk(const int* in, int* out) {
  __shared__ alignas(128) int tile[1024];
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_proxy_async(ptx::space_shared);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in, sizeof tile, &bar);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof tile);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {}
  tile[threadIdx.x] += 1;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, tile, sizeof tile);
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, out, tile, sizeof tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}
#elif ALGO == 1
extern "C" __global__ void tensor(const __grid_constant__ CUtensorMap map, int x, int y) {
  __shared__ alignas(128) int tile[1024];
  __shared__ uint64_t bar;
  const int c[2] = {x, y};
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &map, c, &bar);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof tile);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cta, &bar, 0)) {}
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, c, tile);
    ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &map, c, tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
  }
}
#elif ALGO == 2
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster(int* out) {
  __shared__ int s[32];
  auto c = cg::this_cluster();
  s[threadIdx.x] = threadIdx.x + c.block_rank();
  c.sync();
  int* other = c.map_shared_rank(s, c.block_rank() ^ 1);
  out[c.thread_rank()] = other[threadIdx.x] + ptx::getctarank(ptx::space_cluster, other);
  atomicAdd(other, 1);
  ptx::barrier_cluster_arrive(ptx::sem_relaxed);
  ptx::barrier_cluster_wait();
}
#elif ALGO == 3
extern "C" __global__ void remote(int* out) {
  __shared__ int value;
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::st_async(&value, 5, &bar);
    ptx::red_async(ptx::op_add, &value, 3, &bar);
    ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, &bar);
  }
  ptx::fence(ptx::sem_acq_rel, ptx::scope_cluster);
  ptx::fence_proxy_alias();
  asm volatile("griddepcontrol.wait;");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
  asm volatile("griddepcontrol.launch_dependents;");
  out[threadIdx.x] = value;
}
#elif ALGO == 4
extern "C" __global__ void tensor_memory(uint32_t* out, uint64_t a, uint64_t b) {
  __shared__ uint32_t address;
  __shared__ uint64_t bar;
  ptx::tcgen05_alloc(ptx::cta_group_1, &address, 128);
  ptx::tcgen05_relinquish_alloc_permit(ptx::cta_group_1);
  __syncthreads();
  uint32_t t = address;
  ptx::tcgen05_cp_128x256b(ptx::cta_group_1, t, a);
  ptx::tcgen05_mma(ptx::kind_f16, ptx::cta_group_1, t, a, b, 0x8200010, false);
  ptx::tcgen05_commit(ptx::cta_group_1, &bar);
  ptx::tcgen05_fence_before_thread_sync();
  uint32_t v[4];
  ptx::tcgen05_ld_32x32b(v, t);
  ptx::tcgen05_wait_ld();
  ptx::tcgen05_st_32x32b(t, v);
  ptx::tcgen05_wait_st();
  ptx::tcgen05_shift_down(ptx::cta_group_1, t);
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = v[i];
  ptx::tcgen05_dealloc(ptx::cta_group_1, t, 128);
}
#elif ALGO == 5
extern "C" __global__ void launch_control(int* out) {
  __shared__ alignas(16) char response[16];
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&bar, 1);
    asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];"
                 :: "r"((unsigned)__cvta_generic_to_shared(response)), "r"((unsigned)__cvta_generic_to_shared(&bar)) : "memory");
    asm volatile("st.bulk.weak.shared::cta [%0], 1024, 0;" :: "l"(__cvta_generic_to_shared(response)) : "memory");
  }
  out[0] = response[0];
}
#endif
