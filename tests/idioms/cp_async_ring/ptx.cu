// Sums columns of tiles that come through a ring of three stages by cp.async, two ahead.
// launch: --arch sm_80 --grid 2 --block 64 --arg out:512
// launch: --arg list:u32[1*64,2*64,3*64,4*64,5*64,6*64,7*64,8*64,1*64,2*64,3*64,4*64,5*64,6*64,7*64,8*64]
// want 0 u32: 36*128
// expect: pass proved
// twin wait_count: race shared @C @R
// twin arrival_barrier: race shared @C @R
// twin stages: race shared @C @R
__device__ void copy(unsigned* to, const unsigned* from) {
  unsigned a = unsigned(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(a), "l"(from) : "memory"); // @C
}

__global__ void column_sums(unsigned* y, const unsigned* x) {
  __shared__ unsigned ring[3][64];
  const unsigned* from = x + blockIdx.x * 512 + threadIdx.x;
  for (int k = 0; k < 2; ++k) {
    copy(&ring[k][threadIdx.x], from + k * 64);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  unsigned sum = 0;
#pragma unroll 1
  for (int k = 0; k < 8; ++k) {
    asm volatile("cp.async.wait_group 1;" ::: "memory"); // ~wait_count{wait_group 1 => wait_group 2}
    __syncthreads(); // ~arrival_barrier
    if (k + 2 < 8) copy(&ring[(k + 2) % 3][threadIdx.x], from + (k + 2) * 64); // ~stages{(k + 2) % 3 => (k + 3) % 3}
    asm volatile("cp.async.commit_group;" ::: "memory");
    sum += ring[k % 3][threadIdx.x ^ 1]; // @R
  }
  y[blockIdx.x * 64 + threadIdx.x] = sum;
}
