// Inclusive scan in one pass by decoupled look-back. Flag and value of a tile share a word of 128
// bits, so that relaxed accesses of one register of 128 bits suffice and no fence is needed.
// launch: --arch sm_90 --grid 5 --block 64 --arg list:u32[1*320] --arg out:1280
// launch: --arg zeros:u64[10]
// expect: pass
// twin scope: race-without-consequence global @W @L
// twin broadcast: race shared @S @T

struct alignas(16) Word {
  unsigned long long flag, value;
};
// All 64 bits of both: of a register of which only parts are used, ptxas loads the parts, one by one.
__device__ unsigned long long flag_of(Word word) { return word.flag; }
__device__ unsigned long long value_of(Word word) { return word.value; }

__device__ void publish(Word* p, unsigned long long flag, unsigned long long value) {
  asm volatile("{ .reg .b128 w; mov.b128 w, {%1, %2}; st.relaxed.gpu.b128 [%0], w; }" ::"l"(p), "l"(flag), "l"(value) : "memory"); // @W
}
__device__ Word look(const Word* p) {
  Word word;
  asm volatile("{ .reg .b128 w; ld.relaxed.gpu.b128 w, [%2]; mov.b128 {%0, %1}, w; }" // ~scope{gpu => cta}
               : "=l"(word.flag), "=l"(word.value)
               : "l"(p) // @L
               : "memory");
  return word;
}

__device__ unsigned warp_scan(unsigned v) {
  for (int d = 1; d < 32; d *= 2) {
    unsigned left = __shfl_up_sync(~0u, v, d);
    if (threadIdx.x % 32 >= d) v += left;
  }
  return v;
}

__device__ unsigned long long look_back(int tile, unsigned long long own, Word* status) {
  unsigned long long before = 0;
  publish(status + tile, tile == 0 ? 2 : 1, own);
  if (tile == 0) return 0;
  for (int t = tile - 1;; --t) {
    Word seen;
    while (flag_of(seen = look(status + t)) == 0) {
    }
    before += value_of(seen);
    if (flag_of(seen) == 2) break;
  }
  publish(status + tile, 2, before + own);
  return before;
}

__global__ void scan(const unsigned* x, unsigned* y, Word* status) {
  __shared__ unsigned half, before;
  int tile = blockIdx.x, i = tile * 64 + threadIdx.x;
  unsigned v = warp_scan(x[i]);
  if (threadIdx.x == 31) half = v;
  __syncthreads();
  if (threadIdx.x >= 32) v += half;
  if (threadIdx.x == 63) before = look_back(tile, v, status); // @S
  __syncthreads(); // ~broadcast
  y[i] = before + v; // @T
}
