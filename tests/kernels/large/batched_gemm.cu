// C[b] = alpha A[b] B[b] + beta C[b] in fp32. Each block makes a tile of 64 x 64, each thread 8 x 4 of it; the tiles of A
// and B come by cp.async into two buffers, so that the next step's copies run while this one is computed.
// expect: pass proved
#include <cuda_pipeline.h>

constexpr int kTile = 64, kStep = 16, kThreads = 128, kRows = 8, kCols = 4;
constexpr int kPitch = kTile + 4; // rows of A's buffer are columns of A; keeps float4 aligned

struct Buffers {
  alignas(16) float a[2][kTile][kStep + 4];
  alignas(16) float b[2][kStep][kPitch];
};

// Starts the copies of one step; what lies outside of the matrices is zero.
__device__ void load_step(Buffers& s, int buffer, const float* a, const float* b, int m0, int n0, int k0, int M, int N, int K) {
  for (int i = threadIdx.x; i < kTile * kStep / 4; i += kThreads) {
    const int row = i / (kStep / 4), k = i % (kStep / 4) * 4;
    float* to = &s.a[buffer][row][k];
    if (m0 + row < M && k0 + k + 3 < K) {
      __pipeline_memcpy_async(to, a + (size_t)(m0 + row) * K + k0 + k, 16);
      continue;
    }
    for (int j = 0; j < 4; ++j) to[j] = m0 + row < M && k0 + k + j < K ? a[(size_t)(m0 + row) * K + k0 + k + j] : 0.0f;
  }
  for (int i = threadIdx.x; i < kStep * kTile / 4; i += kThreads) {
    const int k = i / (kTile / 4), col = i % (kTile / 4) * 4;
    float* to = &s.b[buffer][k][col];
    if (k0 + k < K && n0 + col + 3 < N) {
      __pipeline_memcpy_async(to, b + (size_t)(k0 + k) * N + n0 + col, 16);
      continue;
    }
    for (int j = 0; j < 4; ++j) to[j] = k0 + k < K && n0 + col + j < N ? b[(size_t)(k0 + k) * N + n0 + col + j] : 0.0f;
  }
  __pipeline_commit();
}

__device__ void multiply_step(const Buffers& s, int buffer, float (&acc)[kRows][kCols]) {
  const int row = threadIdx.x / 16 * kRows, col = threadIdx.x % 16 * kCols;
#pragma unroll
  for (int k = 0; k < kStep; ++k) {
    float a[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) a[i] = s.a[buffer][row + i][k];
    const float4 b = *reinterpret_cast<const float4*>(&s.b[buffer][k][col]);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      acc[i][0] += a[i] * b.x;
      acc[i][1] += a[i] * b.y;
      acc[i][2] += a[i] * b.z;
      acc[i][3] += a[i] * b.w;
    }
  }
}

__global__ void __launch_bounds__(kThreads) batched_gemm(const float* a, const float* b, float* c, int M, int N, int K,
                                                         float alpha, float beta) {
  __shared__ Buffers shared;
  const int m0 = blockIdx.y * kTile, n0 = blockIdx.x * kTile;
  a += (size_t)blockIdx.z * M * K;
  b += (size_t)blockIdx.z * K * N;
  c += (size_t)blockIdx.z * M * N;

  float acc[kRows][kCols] = {};
  load_step(shared, 0, a, b, m0, n0, 0, M, N, K);
  int buffer = 0;
  for (int k0 = 0; k0 < K; k0 += kStep, buffer ^= 1) {
    const bool more = k0 + kStep < K;
    if (more) load_step(shared, buffer ^ 1, a, b, m0, n0, k0 + kStep, M, N, K);
    __pipeline_wait_prior(more ? 1 : 0);
    __syncthreads(); // every thread's copies of this step have arrived
    multiply_step(shared, buffer, acc);
    __syncthreads(); // nobody reads this buffer any more
  }

  const int row = m0 + threadIdx.x / 16 * kRows, col = n0 + threadIdx.x % 16 * kCols;
  for (int i = 0; i < kRows && row + i < M; ++i)
    for (int j = 0; j < kCols && col + j < N; ++j) {
      float* out = c + (size_t)(row + i) * N + col + j;
      *out = alpha * acc[i][j] + (beta == 0.0f ? 0.0f : beta * *out);
    }
}

// Sums of the rows of every product, one warp for a row: what a caller would check the products with.
__global__ void row_sums(const float* c, float* sums, int rows, int N) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int j = lane; j < N; j += 32) sum += c[(size_t)row * N + j];
  for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  if (lane == 0) sums[row] = sum;
}
