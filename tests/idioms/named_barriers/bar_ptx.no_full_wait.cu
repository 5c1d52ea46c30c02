// bar_ptx.cu without `full_wait`; written by tests/idioms/derive.py.
// Warp 0 produces tiles, warp 1 consumes them, through two stages with a full and an empty barrier
// each (bar.sync and bar.arrive).
// launch: --arch sm_80 --grid 2 --block 64 --arg list:u32[1*32,2*32,3*32,4*32,1*32,2*32,3*32,4*32] --arg out:256
// expect: race shared @A @B
// expect: barrier-divergence @R
__device__ void arrive(int barrier) {
  asm volatile("bar.arrive %0, 64;" ::"r"(barrier) : "memory"); // @R
}

__device__ void wait(int barrier) {
  asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory");
}

__global__ void weighted_sums(const unsigned* x, unsigned* y) {
  __shared__ unsigned stage[2][32];
  int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
#pragma unroll 1
    for (int k = 0; k < 4; ++k) {
      if (k >= 2) wait(3 + k % 2);
      stage[k % 2][lane] = x[(blockIdx.x * 4 + k) * 32 + lane] * (k + 1); // @A
      arrive(1 + k % 2);
    }
  } else {
    unsigned sum = 0;
#pragma unroll 1
    for (int k = 0; k < 4; ++k) {
      arrive(1 + k % 2);
      sum += stage[k % 2][31 - lane]; // @B
      if (k < 2) arrive(3 + k % 2);
    }
    y[blockIdx.x * 32 + lane] = sum;
  }
}
