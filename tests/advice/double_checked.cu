// Lazily made table: whoever finds the flag down makes it; the flag goes up before the table is there for all.
// launch: --arch sm_80 --grid 3 --block 32 --arg zeros:s32[1] --arg zeros:s32[1] --arg zeros:s32[3]
// help: __threadfence() before
__global__ void use(int* flag, int* table, int* y) {
  if (threadIdx.x) return;
  if (atomicCAS(flag, 0, 1) == 0) {
    *table = 17; // @A
#ifdef SOUND
    __threadfence();
#endif
    atomicExch(flag, 2);
  }
  while (atomicAdd(flag, 0) != 2) {
  }
  __threadfence();
  y[blockIdx.x] = *table; // @B
}
