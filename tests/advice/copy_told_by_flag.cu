// A copy is announced by a flag, and its own thread has not waited for it.
// launch: --arch sm_80 --grid 1 --block 64 --arg rand:u32[1] --arg out:4
// help: wait_all
// help: before the flag's store at
// not: again
__global__ void hand_over(const unsigned* in, unsigned* out) {
  __shared__ unsigned value, flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned to = (unsigned)__cvta_generic_to_shared(&value);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in) : "memory"); // @A
#ifdef SOUND
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
    __threadfence_block();
    *(volatile unsigned*)&flag = 1;
    asm volatile("cp.async.wait_all;" ::: "memory");
  }
  if (threadIdx.x == 32) {
    while (*(volatile unsigned*)&flag == 0) {}
    __threadfence_block();
    *out = value; // @B
  }
}
