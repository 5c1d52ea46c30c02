// A histogram of the neighbour half's keys: what the other warps have not stored yet is no index, so
// that the run ends past the bins before the race could show.
// launch: --entry count --grid 2 --block 128 --arg rand:u8[256] --arg zeros:u32[256]
// expect: race shared @A @B
// expect: out-of-bounds @C
extern "C" __global__ void count(const unsigned char* keys, unsigned* bins) {
  __shared__ int bin[128];
  bin[threadIdx.x] = keys[blockIdx.x * 128 + threadIdx.x]; // @A
  int other = bin[threadIdx.x ^ 64]; // @B
  atomicAdd(&bins[other], 1); // @C
}
