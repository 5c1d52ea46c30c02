// Rotates tiles by one warp: asynchronous copies fill shared memory, each thread waits for its own,
// a barrier joins them, then each thread reads the cell of a thread one warp on.
// expect: pass proved
__global__ void rotate_tiles(const float4* x, float4* y, int turns) {
  __shared__ float4 tile[1024];
  int tid = threadIdx.x;
  unsigned cell = (unsigned)__cvta_generic_to_shared(&tile[tid]);
  for (int t = 0; t < turns; ++t) {
    int i = (blockIdx.x * turns + t) * blockDim.x + tid;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(cell), "l"(x + i));
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    y[i] = tile[(tid + 32) % blockDim.x];
    __syncthreads();
  }
}
