// Flash attention, forward, causal: fp16 in and out, fp32 sums. A block makes 64 rows of the output, each of its four warps 16;
// keys and values come by cp.async, tile by tile, and both products are tensor-core products of mma.m16n8k16. The
// scores stay in registers: the accumulator fragment of the first product is the A fragment of the second.
// expect: pass proved
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

constexpr int kRows = 64, kKeys = 32, kDim = 64, kThreads = 128, kPitch = kDim + 8; // halves; staggers the banks

__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ void load_matrix4(unsigned (&r)[4], const half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(row)) : "memory");
}

__device__ void load_matrix4_transposed(unsigned (&r)[4], const half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(row)) : "memory");
}

__device__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ unsigned pack(float low, float high) {
  const half2 both = __floats2half2_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&both);
}

// Copies rows of a matrix with kDim columns; rows behind the last are zero.
template <int rows> __device__ void load_tile(half (*to)[kPitch], const half* from, int first, int length) {
  for (int i = threadIdx.x; i < rows * kDim / 8; i += kThreads) {
    const int row = i / (kDim / 8), col = i % (kDim / 8) * 8;
    const bool live = first + row < length;
    __pipeline_memcpy_async(&to[row][col], from + (size_t)(live ? first + row : 0) * kDim + col, 16, live ? 0 : 16);
  }
  __pipeline_commit();
}

__global__ void __launch_bounds__(kThreads) flash_attention(const half* q, const half* k, const half* v, half* out, float* lse,
                                                            int length, float scale_log2) {
  __shared__ alignas(16) half q_tile[kRows][kPitch];
  __shared__ alignas(16) half k_tile[2][kKeys][kPitch];
  __shared__ alignas(16) half v_tile[2][kKeys][kPitch];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int first = blockIdx.x * kRows;
  const size_t head = (size_t)blockIdx.y * length * kDim;
  q += head, k += head, v += head, out += head;

  load_tile<kRows>(q_tile, q, first, length);
  load_tile<kKeys>(k_tile[0], k, 0, length);
  load_tile<kKeys>(v_tile[0], v, 0, length);

  float acc[kDim / 8][4] = {};
  float top[2] = {-INFINITY, -INFINITY}, total[2] = {0.0f, 0.0f};
  const int row = first + warp * 16 + lane / 4; // and row + 8
  const int tiles = (min(first + kRows, length) + kKeys - 1) / kKeys;
  for (int tile = 0; tile < tiles; ++tile) {
    const int now = tile & 1;
    if (tile + 1 < tiles) {
      load_tile<kKeys>(k_tile[now ^ 1], k, (tile + 1) * kKeys, length);
      load_tile<kKeys>(v_tile[now ^ 1], v, (tile + 1) * kKeys, length);
      __pipeline_wait_prior(2);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();

    // Scores of 16 rows and kKeys keys.
    float s[kKeys / 8][4] = {};
    for (int d = 0; d < kDim; d += 16) {
      unsigned a[4];
      load_matrix4(a, &q_tile[warp * 16 + lane % 16][d + lane / 16 * 8]);
      for (int n = 0; n < kKeys / 16; ++n) {
        unsigned b[4];
        load_matrix4(b, &k_tile[now][n * 16 + lane / 16 * 8 + lane % 8][d + lane / 8 % 2 * 8]);
        multiply(s[2 * n], a, b[0], b[1]);
        multiply(s[2 * n + 1], a, b[2], b[3]);
      }
    }

    // Running maximum and sum; what lies in the future counts nothing.
    for (int half_row = 0; half_row < 2; ++half_row) {
      const int r = row + half_row * 8;
      float most = top[half_row];
      for (int n = 0; n < kKeys / 8; ++n)
        for (int j = 0; j < 2; ++j) {
          const int key = tile * kKeys + n * 8 + lane % 4 * 2 + j;
          float& x = s[n][half_row * 2 + j];
          x = key <= r && key < length ? x * scale_log2 : -INFINITY;
          most = fmaxf(most, x);
        }
      most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 1));
      most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 2));
      const float alpha = exp2f(top[half_row] - most);
      top[half_row] = most;
      float sum = 0.0f;
      for (int n = 0; n < kKeys / 8; ++n)
        for (int j = 0; j < 2; ++j) {
          float& x = s[n][half_row * 2 + j];
          x = exp2f(x - most);
          sum += x;
        }
      sum += __shfl_xor_sync(0xffffffff, sum, 1);
      sum += __shfl_xor_sync(0xffffffff, sum, 2);
      total[half_row] = total[half_row] * alpha + sum;
      for (int d = 0; d < kDim / 8; ++d)
        for (int j = 0; j < 2; ++j) acc[d][half_row * 2 + j] *= alpha;
    }

    for (int n = 0; n < kKeys / 16; ++n) {
      const unsigned a[4] = {pack(s[2 * n][0], s[2 * n][1]), pack(s[2 * n][2], s[2 * n][3]),
                             pack(s[2 * n + 1][0], s[2 * n + 1][1]), pack(s[2 * n + 1][2], s[2 * n + 1][3])};
      for (int d = 0; d < kDim / 16; ++d) {
        unsigned b[4];
        load_matrix4_transposed(b, &v_tile[now][n * 16 + lane % 16][d * 16 + lane / 16 * 8]);
        multiply(acc[2 * d], a, b[0], b[1]);
        multiply(acc[2 * d + 1], a, b[2], b[3]);
      }
    }
    __syncthreads(); // the next round refills this buffer
  }

  for (int half_row = 0; half_row < 2; ++half_row) {
    const int r = row + half_row * 8;
    if (r >= length) continue;
    const float inverse = 1.0f / total[half_row];
    for (int d = 0; d < kDim / 8; ++d) {
      const half2 two = __floats2half2_rn(acc[d][half_row * 2] * inverse, acc[d][half_row * 2 + 1] * inverse);
      *reinterpret_cast<half2*>(out + (size_t)r * kDim + d * 8 + lane % 4 * 2) = two;
    }
    if (lane % 4 == 0) lse[(size_t)blockIdx.y * length + r] = top[half_row] + log2f(total[half_row]);
  }
}
