// The same with two stores, and the hint is what counts: it may be overtaken.
// launch: --entry answer --grid 2 --block 1 --arg zeros:u32[2] --arg zeros:u32[1] --launch --entry look --grid 1 --block 1 --arg same:0 --arg out:4
// expect: nondeterministic global @A @B
extern "C" __global__ void answer(unsigned* record, unsigned* unused) {
  if (blockIdx.x == 0) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" ::"l"(record + 1) : "memory"); // @A
    asm volatile("st.relaxed.gpu.global.u32 [%0], 2;" ::"l"(record) : "memory");
  } else {
    unsigned state;
    do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(state) : "l"(record) : "memory");
    while (state != 2);
    asm volatile("st.relaxed.gpu.global.u32 [%0], 8;" ::"l"(record) : "memory");
    asm volatile("st.relaxed.gpu.global.u32 [%0], 16;" ::"l"(record + 1) : "memory"); // @B
  }
}
extern "C" __global__ void look(unsigned* record, unsigned* hint) { *hint = record[1]; }
