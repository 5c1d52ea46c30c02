// Sums over tiles that a three-stage pipeline of asynchronous copies brings to shared memory: two copies
// are under way while a third tile is read.
// expect: pass proved
// Not proved with -G: addresses pass through local memory then, where their flow is not followed.
__global__ void shifted_sums(const float4* x, float4* y, int steps) {
  __shared__ float4 stage[3][1024];
  int tid = threadIdx.x;
  x += (size_t)blockIdx.x * steps * blockDim.x;
  auto fetch = [&](int k) {
    if (k < steps) {
      unsigned to = (unsigned)__cvta_generic_to_shared(&stage[k % 3][tid]);
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(x + k * blockDim.x + tid));
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  fetch(0);
  fetch(1);
  float4 sum = {};
  for (int k = 0; k < steps; ++k) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    fetch(k + 2);
    float4 v = stage[k % 3][(tid + 32) % blockDim.x];
    sum.x += v.x;
    sum.y += v.y;
    sum.z += v.z;
    sum.w += v.w;
  }
  y[blockIdx.x * blockDim.x + tid] = sum;
}
