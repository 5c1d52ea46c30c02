// Three steps of a ring's averages with a barrier over the grid between them: every block counts
// itself, and waits by volatile loads until all have. Plain data, fences.
// launch: --arch sm_80 --grid 4 --block 64 --arg rand:f32[256] --arg out:1024 --arg zeros:u32[1]
// want 2 u32: 12
// expect: pass
// twin release: race global @A @B
// twin release_scope: race global @A @B
// twin acquire: race global @A @B
// twin acquire_scope: race global @A @B
// twin gather: race global @A @B
// twin scatter: race global @A @B
__device__ void grid_barrier(unsigned* count, unsigned goal) {
  __syncthreads(); // ~gather
  if (threadIdx.x == 0) {
    __threadfence(); // ~release ~release_scope{__threadfence() => __threadfence_block()}
    atomicAdd(count, 1);
    while (*(volatile unsigned*)count < goal) {
    }
    __threadfence(); // ~acquire ~acquire_scope{__threadfence() => __threadfence_block()}
  }
  __syncthreads(); // ~scatter
}

__global__ void diffuse(float* a, float* b, unsigned* count) {
  int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int step = 1; step <= 3; ++step) {
    float v = 0.5f * (a[(i + 1) % n] + a[(i + n - 1) % n]); // @A
    b[i] = v; // @B
    grid_barrier(count, step * gridDim.x);
    float* t = a;
    a = b, b = t;
  }
}
