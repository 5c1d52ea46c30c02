// barrier_ptx.cu without `empty_wait`; written by tests/idioms/derive.py.
// As bar_ptx, in the newer spelling and without the promise that the whole warp comes (barrier.sync
// and barrier.arrive of sm_70): two producer warps and two consumer warps, one stage.
// launch: --arch sm_80 --grid 2 --block 128 --arg list:u32[1*64,2*64,3*64,4*64,1*64,2*64,3*64,4*64] --arg out:512
// expect: race shared @A @B
// expect: barrier-divergence @R
__device__ void arrive(int barrier) {
  asm volatile("barrier.arrive %0, 128;" ::"r"(barrier) : "memory"); // @R
}

__device__ void wait(int barrier) {
  asm volatile("barrier.sync %0, 128;" ::"r"(barrier) : "memory");
}

__global__ void weighted_sums(const unsigned* x, unsigned* y) {
  __shared__ unsigned stage[64];
  unsigned t = threadIdx.x % 64;
  if (threadIdx.x < 64) {
#pragma unroll 1
    for (int k = 0; k < 4; ++k) {
      if (k > 0) arrive(2);
      stage[t] = x[(blockIdx.x * 4 + k) * 64 + t] * (k + 1); // @A
      arrive(1);
    }
  } else {
    unsigned sum = 0;
#pragma unroll 1
    for (int k = 0; k < 4; ++k) {
      wait(1);
      sum += stage[63 - t]; // @B
      if (k < 3) arrive(2);
    }
    y[blockIdx.x * 64 + t] = sum;
  }
}
