// Inclusive scan in one pass by decoupled look-back. Flag and value of a tile share a word of 32
// bits, so that volatile accesses suffice and no fence is needed.
// launch: --arch sm_80 --grid 5 --block 64 --arg list:u32[1*320] --arg out:1280
// launch: --arg zeros:u32[5]
// expect: pass
// twin strong_store: race global @W @L
// twin strong_load: race global @W @L
// twin broadcast: race shared @S @T

__device__ unsigned flag_of(unsigned word) { return word >> 30; }
__device__ unsigned value_of(unsigned word) { return word & 0x3fffffff; }
__device__ unsigned pack(unsigned flag, unsigned value) { return flag << 30 | value; }

__device__ void publish(unsigned* p, unsigned flag, unsigned value) {
  *(volatile unsigned*)p = pack(flag, value); // @W ~strong_store{volatile  => }
}
__device__ unsigned look(const unsigned* p) {
  return *(const volatile unsigned*)p; // @L ~strong_load{*(const volatile unsigned*)p => __ldcg(p)}
}

__device__ unsigned warp_scan(unsigned v) {
  for (int d = 1; d < 32; d *= 2) {
    unsigned left = __shfl_up_sync(~0u, v, d);
    if (threadIdx.x % 32 >= d) v += left;
  }
  return v;
}

__device__ unsigned look_back(int tile, unsigned own, unsigned* status) {
  unsigned before = 0;
  publish(status + tile, tile == 0 ? 2 : 1, own);
  if (tile == 0) return 0;
  for (int t = tile - 1;; --t) {
    unsigned seen;
    while (flag_of(seen = look(status + t)) == 0) {
    }
    before += value_of(seen);
    if (flag_of(seen) == 2) break;
  }
  publish(status + tile, 2, before + own);
  return before;
}

__global__ void scan(const unsigned* x, unsigned* y, unsigned* status) {
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
