// Producers and consumers by bar.arrive and bar.sync in inline assembly; 64-bit data.
// launch: --entry k --grid 2 --block 32,4 --arg rand:u64[128] --arg out:2048
// expect: race shared @A @B
// expect: barrier-divergence @R
__device__ inline void arrive(int b, int n) {
  asm volatile("bar.arrive %0, %1;" ::"r"(b), "r"(n) : "memory"); // @R
}
__device__ inline void wait(int b, int n) {
  asm volatile("bar.sync %0, %1;" ::"r"(b), "r"(n) : "memory");
}
extern "C" __global__ void k(const long long* x, long long* y) {
  __shared__ long long cells[2][32];
  int lane = threadIdx.x, pair = threadIdx.y / 2;
  for (int turn = 0; turn < 2; ++turn) {
    if (threadIdx.y % 2 == 0) {
      cells[pair][lane] = x[(blockIdx.x * 2 + pair) * 32 + lane] + turn; // @A
      arrive(1 + pair, 64);
    } else {
      wait(1 + pair, 64);
      y[((blockIdx.x * 2 + pair) * 2 + turn) * 32 + lane] = cells[pair][31 - lane]; // @B
    }
  }
}
