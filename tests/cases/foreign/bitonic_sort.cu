// Bitonic sort of pairs in shared memory.
// launch: --entry bitonic --grid 2 --block 64 --arg rand:u32[256] --arg rand:u32[256]
// expect: pass proved
__device__ void comparator(unsigned& ka, unsigned& va, unsigned& kb, unsigned& vb, unsigned dir) {
  if ((ka > kb) == dir) { unsigned t = ka; ka = kb; kb = t; t = va; va = vb; vb = t; }
}
extern "C" __global__ void bitonic(unsigned* keys, unsigned* vals) {
  __shared__ unsigned sk[128], sv[128];
  unsigned t = threadIdx.x, base = blockIdx.x * 128 + t;
  sk[t] = keys[base], sv[t] = vals[base], sk[t + 64] = keys[base + 64], sv[t + 64] = vals[base + 64];
  for (unsigned size = 2; size < 128; size <<= 1) {
    unsigned dir = 1 ^ ((t & (size / 2)) != 0);
    for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      unsigned p = 2 * t - (t & (stride - 1));
      comparator(sk[p], sv[p], sk[p + stride], sv[p + stride], dir);
    }
  }
  for (unsigned stride = 64; stride > 0; stride >>= 1) {
#ifndef NO_SYNC
    __syncthreads();
#endif
    unsigned p = 2 * t - (t & (stride - 1));
    comparator(sk[p], sv[p], sk[p + stride], sv[p + stride], 1);
  }
  __syncthreads();
  keys[base] = sk[t], vals[base] = sv[t], keys[base + 64] = sk[t + 64], vals[base + 64] = sv[t + 64];
}
