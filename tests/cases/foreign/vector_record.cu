// A record of state and hint: one block writes both, the other one answers with one vector store
// once it has read the state. What it has read, its own state follows; only the hint has no order.
// launch: --entry answer --grid 2 --block 1 --arg zeros:u32[2] --arg zeros:u32[1] --launch --entry look --grid 1 --block 1 --arg same:0 --arg out:4
// expect: pass
extern "C" __global__ void answer(unsigned* record, unsigned* unused) {
  if (blockIdx.x == 0) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" ::"l"(record + 1) : "memory");
    asm volatile("st.relaxed.gpu.global.u32 [%0], 2;" ::"l"(record) : "memory");
  } else {
    unsigned state;
    do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(state) : "l"(record) : "memory");
    while (state != 2);
    asm volatile("st.relaxed.gpu.global.v2.u32 [%0], {8, 16};" ::"l"(record) : "memory");
  }
}
extern "C" __global__ void look(unsigned* record, unsigned* state) {
  *state = record[0];
  record[1] = 0;
}
