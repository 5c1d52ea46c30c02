// Sum in one launch: volatile partial sums, a fence, atomicInc, the last block adds up.
// launch: --entry tfr --grid 4 --block 64 --arg rand:s32[1024] --arg out:16 --arg u32:1024 --arg out:4
// expect: pass
__device__ unsigned retirementCount = 0;
extern "C" __global__ void tfr(const int* g, int* partials, unsigned n, int* out) {
  __shared__ int s[64];
  __shared__ bool amLast;
  unsigned t = threadIdx.x;
  int sum = 0;
  for (unsigned i = blockIdx.x * 64 + t; i < n; i += gridDim.x * 64) sum += g[i];
  s[t] = sum;
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
#ifdef PLAIN
  int* p = partials;
#else
  volatile int* p = partials;
#endif
  if (t == 0) {
    p[blockIdx.x] = s[0];
    __threadfence();
    unsigned ticket = atomicInc(&retirementCount, gridDim.x);
    amLast = ticket == gridDim.x - 1;
  }
  __syncthreads();
  if (amLast) {
    int v = 0;
    for (unsigned i = t; i < gridDim.x; i += 64) v += p[i];
    s[t] = v;
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
      if (t < d) s[t] += s[t + d];
      __syncthreads();
    }
    if (t == 0) {
      out[0] = s[0];
      retirementCount = 0;
    }
  }
}
