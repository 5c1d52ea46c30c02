// A linear layer with a warp-specialised pipeline: y = relu(x W^T + b) in fp16 with fp32 sums. One producer warp brings
// tiles of x and W by cp.async into a ring of stages and lets the copies arrive at the stage's `full` mbarrier
// (cp.async.mbarrier.arrive.noinc); four consumer warps wait for it by parity, multiply by mma.sync and arrive, one lane
// a warp, at the stage's `empty` mbarrier, for which the producer waits before it fills the stage again. Blocks are
// persistent, and the producer runs ahead into the next tile while the consumers still write the last one.
// expect: pass proved
#include <cuda_fp16.h>

constexpr int kTileM = 64, kTileN = 64, kTileK = 32, kPitch = kTileK + 8; // no two rows of eight in one bank
constexpr int kStages = 3, kConsumerWarps = 4, kWarpM = 32, kWarpN = 32;
constexpr int kThreads = 32 * (1 + kConsumerWarps);

struct Stage {
  alignas(16) __half x[kTileM][kPitch];
  alignas(16) __half w[kTileN][kPitch];
};
struct Shared {
  Stage stages[kStages];
  alignas(8) unsigned long long full[kStages], empty[kStages];
};

__device__ unsigned address_of(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

// Which stage is next, and the parity of its phase.
struct Cursor {
  int stage = 0;
  unsigned parity = 0;
  __device__ void advance() {
    if (++stage == kStages) stage = 0, parity ^= 1;
  }
};

__device__ void init_barrier(unsigned long long* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address_of(barrier)), "r"(arrivals) : "memory");
}
__device__ void arrive(unsigned long long* barrier) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(address_of(barrier)) : "memory");
}
__device__ void arrive_when_copied(unsigned long long* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(address_of(barrier)) : "memory");
}
__device__ void wait(unsigned long long* barrier, unsigned parity) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "again: mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
               "@!done bra again;\n"
               "}" ::"r"(address_of(barrier)), "r"(parity) : "memory");
}
__device__ void copy16(void* to, const void* from, bool live) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address_of(to)), "l"(from), "r"(live ? 16 : 0) : "memory");
}

__device__ void fetch_rows(__half (*to)[kPitch], const __half* from, int first, int rows, int k0, int K) {
  constexpr int kChunks = kTileK / 8;
  for (int i = threadIdx.x % 32; i < kTileM * kChunks; i += 32) {
    const int row = i / kChunks, col = i % kChunks * 8;
    const bool live = first + row < rows && k0 + col < K;
    copy16(&to[row][col], live ? from + (size_t)(first + row) * K + k0 + col : from, live);
  }
}

__device__ void produce(Shared& s, const __half* x, const __half* w, int M, int N, int K, int tiles_n, int tiles) {
  Cursor next;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    for (int k0 = 0; k0 < K; k0 += kTileK, next.advance()) {
#ifndef NO_EMPTY_WAIT
      wait(&s.empty[next.stage], next.parity ^ 1); // the phase before the first one counts as complete
#endif
      fetch_rows(s.stages[next.stage].x, x, tile / tiles_n * kTileM, M, k0, K);
      fetch_rows(s.stages[next.stage].w, w, tile % tiles_n * kTileN, N, k0, K);
#ifdef ARRIVE_BEFORE_COPIES
      arrive(&s.full[next.stage]);
#else
      arrive_when_copied(&s.full[next.stage]);
#endif
    }
  }
  // Not before they have arrived may the warp end: drain.
  asm volatile("cp.async.wait_all;" ::: "memory");
}

__device__ void multiply(float (&sums)[2][4][4], const Stage& stage, int m0, int n0, int lane) {
#pragma unroll
  for (int k = 0; k < kTileK; k += 16) {
    unsigned a[2][4], b[4][2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const unsigned from = address_of(&stage.x[m0 + 16 * i + lane % 16][k + lane / 16 * 8]);
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(a[i][0]), "=r"(a[i][1]), "=r"(a[i][2]), "=r"(a[i][3]) : "r"(from) : "memory");
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const unsigned from = address_of(&stage.w[n0 + 8 * j + lane % 8][k + lane / 8 % 2 * 8]);
      asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                   : "=r"(b[j][0]), "=r"(b[j][1]) : "r"(from) : "memory");
    }
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(sums[i][j][0]), "+f"(sums[i][j][1]), "+f"(sums[i][j][2]), "+f"(sums[i][j][3])
                     : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j][0]), "r"(b[j][1]));
  }
}

__device__ void store(const float (&sums)[2][4][4], const __half* bias, __half* y, int m0, int n0, int M, int N, int lane) {
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int half = 0; half < 2; ++half) {
        const int row = m0 + 16 * i + lane / 4 + 8 * half, col = n0 + 8 * j + lane % 4 * 2;
        if (row >= M || col >= N) continue;
        const float2 b = __half22float2(*(const __half2*)&bias[col]);
        const float left = sums[i][j][2 * half] + b.x, right = sums[i][j][2 * half + 1] + b.y;
        *(__half2*)&y[(size_t)row * N + col] = __floats2half2_rn(fmaxf(left, 0.0f), fmaxf(right, 0.0f));
      }
}

__device__ void consume(Shared& s, const __half* bias, __half* y, int M, int N, int K, int tiles_n, int tiles) {
  const int warp = threadIdx.x / 32 - 1, lane = threadIdx.x % 32;
  const int m0 = warp / 2 * kWarpM, n0 = warp % 2 * kWarpN;
  Cursor next;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    float sums[2][4][4] = {};
    for (int k0 = 0; k0 < K; k0 += kTileK, next.advance()) {
#ifndef NO_FULL_WAIT
      wait(&s.full[next.stage], next.parity);
#endif
      multiply(sums, s.stages[next.stage], m0, n0, lane);
#ifndef NO_WARP_SYNC
      __syncwarp(); // one lane arrives for all
#endif
      if (lane == 0) arrive(&s.empty[next.stage]);
    }
    store(sums, bias, y, tile / tiles_n * kTileM + m0, tile % tiles_n * kTileN + n0, M, N, lane);
  }
}

__global__ void __launch_bounds__(kThreads) linear(const __half* x, const __half* w, const __half* bias, __half* y, int M, int N, int K) {
  __shared__ Shared shared;
  if (threadIdx.x == 0)
    for (int i = 0; i < kStages; ++i) init_barrier(&shared.full[i], 32), init_barrier(&shared.empty[i], kConsumerWarps);
  __syncthreads();
  const int tiles_n = (N + kTileN - 1) / kTileN, tiles = (M + kTileM - 1) / kTileM * tiles_n;
  if (threadIdx.x < 32) produce(shared, x, w, M, N, K, tiles_n, tiles);
  else consume(shared, bias, y, M, N, K, tiles_n, tiles);
}
