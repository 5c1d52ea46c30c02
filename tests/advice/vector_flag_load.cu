// A vector with a flag in it is polled by relaxed loads, and nothing comes behind them.
// launch: --arch sm_80 --grid 2 --block 32 --arg zeros:u32[4] --arg zeros:u32[1] --arg out:4
// help: __threadfence() after the flag's load at vector_flag_load.cu:15
// help: ld.acquire
// not: no barrier of a block
__global__ void hand_over(unsigned* status, unsigned* data, unsigned* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    *data = 7; // @A
    asm volatile("st.release.gpu.v2.u32 [%0], {%1, %2};" ::"l"(status), "r"(5), "r"(1) : "memory");
  } else {
    unsigned value, flag;
    // until the flag is there
    do {
      asm volatile("ld.relaxed.gpu.v2.u32 {%0, %1}, [%2];" : "=r"(value), "=r"(flag) : "l"(status) : "memory");
    } while (!flag);
#ifdef SOUND
    __threadfence();
#endif
    *out = *data + value; // @B
  }
}
