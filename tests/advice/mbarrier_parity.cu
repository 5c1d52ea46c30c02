// A consumer that waits for the wrong parity of an mbarrier: the phase before the first counts as complete.
// launch: --arch sm_80 --grid 1 --block 64 --arg rand:s32[32] --arg out:128
// help: parity
// not: __syncthreads
__device__ void wait(unsigned bar, unsigned parity) {
  asm volatile(
      "{\n.reg .pred p;\nagain:\nmbarrier.test_wait.parity.shared.b64 p, [%0], %1;\n@!p bra again;\n}" ::"r"(bar),
      "r"(parity)
      : "memory");
}
__global__ void hand_over(const int* x, int* y) {
  __shared__ int data[32];
  __shared__ unsigned long long bar;
  unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&bar));
  int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(at) : "memory");
  __syncthreads();
  if (threadIdx.x < 32) {
    data[lane] = x[lane] * 3; // @A
    asm volatile("{\n.reg .b64 s;\nmbarrier.arrive.shared.b64 s, [%0];\n}" ::"r"(at) : "memory");
  } else {
#ifdef SOUND
    wait(at, 0);
#else
    wait(at, 1);
#endif
    y[lane] = data[31 - lane]; // @B
  }
}
