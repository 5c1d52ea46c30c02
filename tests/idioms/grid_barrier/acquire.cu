// Three steps of a ring's averages with a barrier over the grid between them: red.release counts
// the block, ld.acquire waits for the others.
// launch: --arch sm_80 --grid 4 --block 64 --arg rand:f32[256] --arg out:1024 --arg zeros:u32[1]
// want 2 u32: 12
// expect: pass
// twin release: race global @A @B
// twin acquire: race global @A @B
// twin release_scope: race global @A @B
// twin release_scope: race global @C @C
// twin release_scope: race-without-consequence global @C @P
// twin release_scope: race global @C @P
// twin acquire_scope: race global @A @B
// twin acquire_scope: race-without-consequence global @C @P
// twin acquire_scope: race global @C @P
// twin gather: race global @A @B
// twin scatter: race global @A @B
__device__ void arrive(unsigned* count) {
  asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(count) : "memory"); // @C ~release{release => relaxed} ~release_scope{gpu => cta}
}

__device__ unsigned look(unsigned* count) {
  unsigned v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(count) : "memory"); // @P ~acquire{acquire => relaxed} ~acquire_scope{gpu => cta}
  return v;
}

__global__ void diffuse(float* a, float* b, unsigned* count) {
  int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int step = 1; step <= 3; ++step) {
    float v = 0.5f * (a[(i + 1) % n] + a[(i + n - 1) % n]); // @A
    b[i] = v; // @B
    __syncthreads(); // ~gather
    if (threadIdx.x == 0) {
      arrive(count);
      while (look(count) < step * gridDim.x) {
      }
    }
    __syncthreads(); // ~scatter
    float* t = a;
    a = b, b = t;
  }
}
