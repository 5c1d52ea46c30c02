// Rotates tiles by one warp: asynchronous copies fill shared memory, then each thread reads the
// cell of a thread one warp on.
// Defect: wait_group waits for a thread's own copies only; a barrier has to follow.
// expect: race shared @A @B
__global__ void rotate_tiles(const float4* x, float4* y, int turns) {
  __shared__ float4 tile[1024];
  int tid = threadIdx.x;
  tile[tid] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  unsigned cell = (unsigned)__cvta_generic_to_shared(&tile[tid]);
  __syncthreads();
  for (int t = 0; t < turns; ++t) {
    int i = (blockIdx.x * turns + t) * blockDim.x + tid;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(cell), "l"(x + i)); // @A
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    y[i] = tile[(tid + 32) % blockDim.x]; // @B
    __syncthreads();
  }
}
