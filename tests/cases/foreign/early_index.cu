// launch: --entry count --grid 2 --block 128 --arg rand:u8[256] --arg zeros:u32[256]
// expect: pass
extern "C" __global__ void count(const unsigned char* keys, unsigned* bins) {
  __shared__ int bin[128];
  bin[threadIdx.x] = keys[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  int other = bin[threadIdx.x ^ 64];
  atomicAdd(&bins[other], 1);
}
