// A pointer is published, the reader follows it.
// launch: --entry publish --grid 2 --block 32 --arg zeros:u32[4] --arg zeros:u64[1] --arg out:4
// expect: pass
extern "C" __global__ void publish(unsigned* node, unsigned long long* root, unsigned* y) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    node[2] = 42;
    __threadfence();
    *(volatile unsigned long long*)root = (unsigned long long)node;
  } else {
    unsigned* p;
    while (!(p = (unsigned*)*(volatile unsigned long long*)root)) {}
#ifndef DEPENDENT
    __threadfence();
#endif
    *y = p[2];
    *(volatile unsigned long long*)root = 0;
  }
}
