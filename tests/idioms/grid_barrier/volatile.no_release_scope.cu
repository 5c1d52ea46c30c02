// volatile.cu without `release_scope`; written by tests/idioms/derive.py.
// Three steps of a ring's averages with a barrier over the grid that is used again and again: the
// last block to arrive starts a new generation. Counter, generation and data are volatile.
// launch: --arch sm_80 --grid 4 --block 64 --arg rand:f32[256] --arg out:1024
// launch: --arg zeros:u32[1] --arg zeros:u32[1]
// expect: nondeterministic global @A @B
__device__ void grid_barrier(unsigned* count, volatile unsigned* generation) {
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned current = *generation;
    __threadfence_block();
    if (atomicAdd(count, 1) == gridDim.x - 1) { // @N
      *(volatile unsigned*)count = 0;
      __threadfence();
      *generation = current + 1; // @G
    } else {
      while (*generation == current) { // @C
      }
    }
    __threadfence();
  }
  __syncthreads();
}

__global__ void diffuse(volatile float* a, volatile float* b, unsigned* count,
                        volatile unsigned* generation) {
  int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int step = 1; step <= 3; ++step) {
    float v = 0.5f * (a[(i + 1) % n] + a[(i + n - 1) % n]); // @A
    b[i] = v; // @B
    grid_barrier(count, generation);
    volatile float* t = a;
    a = b, b = t;
  }
}
