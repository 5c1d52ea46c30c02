// The token of an arrival is opaque: its bits are the machine's choice, and here they go into the result.
// launch: --entry meet --grid 1 --block 64 --arch sm_80 --arg list:u32[1*64] --arg out:256
// expect: unspecified-value @A
extern "C" __global__ void meet(const unsigned* x, unsigned* y) {
  __shared__ unsigned long long barrier;
  unsigned at = (unsigned)__cvta_generic_to_shared(&barrier), done = 0;
  unsigned long long token;
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(blockDim.x) : "memory");
  __syncthreads();
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(at) : "memory"); // @A
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(at), "l"(token) : "memory");
  y[threadIdx.x] = x[threadIdx.x] + (unsigned)(token >> 32);
}
