// A flag that is an element of a vector: its store is relaxed, and nothing comes before it.
// launch: --arch sm_80 --grid 2 --block 32 --arg zeros:u32[4] --arg zeros:u32[1] --arg out:4
// help: __threadfence() before the flag's store at vector_flag.cu:14
// help: st.release
// not: no barrier of a block
__global__ void hand_over(unsigned* status, unsigned* data, unsigned* out) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    *data = 7; // @A
#ifdef SOUND
    __threadfence();
#endif
    // a value and, behind it, the flag
    asm volatile("st.relaxed.gpu.v2.u32 [%0], {%1, %2};" ::"l"(status), "r"(5), "r"(1) : "memory");
  } else {
    unsigned value, flag;
    do {
      asm volatile("ld.acquire.gpu.v2.u32 {%0, %1}, [%2];" : "=r"(value), "=r"(flag) : "l"(status) : "memory");
    } while (!flag);
    *out = *data + value; // @B
  }
}
