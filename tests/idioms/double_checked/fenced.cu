// A table that whoever needs it first fills: the flag is looked at without the lock and, if it is
// not up, once more under the lock. Plain data, fences.
// launch: --arch sm_80 --grid 4 --block 32 --arg out:32 --arg zeros:u32[1] --arg zeros:u32[1]
// launch: --arg out:16
// want 0 u32: 1 2 4 8 16 32 64 128
// want 3 u32: 1 2 4 8
// expect: pass
// twin publish: race global @A @B
// twin publish_scope: race global @A @B
// twin acquire: race global @A @B
// twin acquire_scope: race global @A @B
// twin barrier: race global @A @B
__device__ void fill(unsigned* table) {
  for (int i = 0; i < 8; ++i) table[i] = 1u << i; // @A
}

__global__ void powers(unsigned* table, unsigned* flag, unsigned* lock, unsigned* y) {
  volatile unsigned* ready = flag;
  if (threadIdx.x == 0) {
    if (*ready == 0) {
      while (atomicCAS(lock, 0, 1) != 0) {
      }
      __threadfence();
      if (*ready == 0) {
        fill(table);
        __threadfence(); // ~publish ~publish_scope{__threadfence() => __threadfence_block()}
        *ready = 1;
      }
      __threadfence();
      atomicExch(lock, 0);
    }
    __threadfence(); // ~acquire ~acquire_scope{__threadfence() => __threadfence_block()}
  }
  __syncthreads(); // ~barrier
  if (threadIdx.x == 31) y[blockIdx.x] = table[blockIdx.x]; // @B
}
