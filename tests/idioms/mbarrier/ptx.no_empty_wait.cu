// ptx.cu without `empty_wait`; written by tests/idioms/derive.py.
// A producer warp hands tiles to a consumer warp through two stages, with mbarriers in inline PTX:
// full and empty ones, waited for by parity.
// launch: --arch sm_80 --grid 2 --block 64 --arg rand:u32[512] --arg out:256
// expect: race shared @A @B
// expect: deadlock
__device__ void init(unsigned long long* b, unsigned count) {
  unsigned a = unsigned(__cvta_generic_to_shared(b));
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(a), "r"(count) : "memory");
}

__device__ void arrive(unsigned long long* b) {
  unsigned a = unsigned(__cvta_generic_to_shared(b));
  asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(a) : "memory");
}

__device__ void wait(unsigned long long* b, unsigned parity) {
  unsigned a = unsigned(__cvta_generic_to_shared(b)), done = 0;
  while (!done)
    asm volatile("{ .reg .pred p;"
                 "mbarrier.test_wait.parity.shared.b64 p, [%1], %2;"
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(a), "r"(parity)
                 : "memory");
}

__global__ void weighted_sums(const unsigned* x, unsigned* y) {
  __shared__ unsigned long long full[2], empty[2];
  __shared__ unsigned stage[2][32];
  int lane = threadIdx.x % 32;
  if (threadIdx.x < 2) {
    init(&full[threadIdx.x], 32);
    init(&empty[threadIdx.x], 32);
  }
  __syncthreads();
  unsigned sum = 0;
#pragma unroll 1
  for (int k = 0; k < 8; ++k) {
    int s = k % 2, turn = k / 2;
    if (threadIdx.x < 32) {
      stage[s][lane] = x[(blockIdx.x * 8 + k) * 32 + lane]; // @A
      arrive(&full[s]);
    } else {
      wait(&full[s], turn & 1);
      sum += (k + 1) * stage[s][31 - lane]; // @B
      arrive(&empty[s]);
    }
  }
  if (threadIdx.x >= 32) y[blockIdx.x * 32 + lane] = sum;
}
