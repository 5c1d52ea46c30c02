// acquire.cu without `gather`; written by tests/idioms/derive.py.
// Three steps of a ring's averages with a barrier over the grid between them: red.release counts
// the block, ld.acquire waits for the others.
// launch: --arch sm_80 --grid 4 --block 64 --arg rand:f32[256] --arg out:1024 --arg zeros:u32[1]
// expect: race global @A @B
__device__ void arrive(unsigned* count) {
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(count) : "memory"); // @C
}

__device__ unsigned look(unsigned* count) {
  unsigned v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(count) : "memory"); // @P
  return v;
}

__global__ void diffuse(float* a, float* b, unsigned* count) {
  int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int step = 1; step <= 3; ++step) {
    float v = 0.5f * (a[(i + 1) % n] + a[(i + n - 1) % n]); // @A
    b[i] = v; // @B
    if (threadIdx.x == 0) {
      arrive(count);
      while (look(count) < step * gridDim.x) {
      }
    }
    __syncthreads();
    float* t = a;
    a = b, b = t;
  }
}
