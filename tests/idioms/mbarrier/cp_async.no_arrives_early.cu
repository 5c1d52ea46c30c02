// cp_async.cu without `arrives_early`; written by tests/idioms/derive.py.
// A producer warp brings tiles by cp.async and lets the copies themselves arrive at the stage's full
// barrier (cp.async.mbarrier.arrive.noinc); two consumer warps wait for it by parity.
// launch: --arch sm_80 --grid 2 --block 96 --arg rand:u32[1024] --arg out:512
// expect: race shared @C @B
// expect: race shared @C @C
using Barrier = unsigned long long;

__device__ unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

__device__ void init(Barrier* b, unsigned count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(count) : "memory");
}

__device__ void arrive(Barrier* b) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(b)) : "memory");
}

__device__ void arrive_with_copies(Barrier* b) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(b)) : "memory");
}

__device__ void copy(unsigned* to, const unsigned* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(shared_address(to)), "l"(from) : "memory"); // @C
}

__device__ void wait(Barrier* b, unsigned parity) {
  unsigned done = 0;
  while (!done)
    asm volatile("{ .reg .pred p;"
                 "mbarrier.test_wait.parity.shared.b64 p, [%1], %2;"
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(shared_address(b)), "r"(parity)
                 : "memory");
}

__global__ void weighted_sums(const unsigned* x, unsigned* y) {
  __shared__ Barrier full[2], empty[2];
  __shared__ alignas(8) unsigned stage[2][64];
  int t = threadIdx.x;
  if (t < 2) {
    init(&full[t], 32);
    init(&empty[t], 64);
  }
  __syncthreads();
  unsigned sum = 0;
#pragma unroll 1
  for (int k = 0; k < 8; ++k) {
    int s = k % 2, turn = k / 2;
    if (t < 32) {
      wait(&empty[s], (turn + 1) & 1);
      copy(&stage[s][2 * t], x + (blockIdx.x * 8 + k) * 64 + 2 * t);
      arrive(&full[s]);
    } else {
      wait(&full[s], turn & 1);
      sum += (k + 1) * stage[s][95 - t]; // @B
      arrive(&empty[s]);
    }
  }
  if (t >= 32) y[blockIdx.x * 64 + t - 32] = sum;
}
