// Runs mma.sync on whole matrices given row-major, one warp a trial; fragment layouts as in the PTX
// ISA, "Matrix Fragments for mma.m16n8k4 / k8 / k16". Compiled by measure.py, read by nothing else.
#include <cstdint>

namespace {
__device__ int lane() { return threadIdx.x; }
__device__ int group() { return lane() / 4; }
__device__ int quad() { return lane() % 4; }

__device__ uint32_t pair(const uint16_t* m, int first, int second) {
  return m[first] | uint32_t(m[second]) << 16;
}

// 16-bit A (16 x k) and B (k x 8): register i of A holds row group()+8*(i&1), columns from 8*(i/2).
template <int K>
__device__ void load16(const uint16_t* a, const uint16_t* b, uint32_t* ra, uint32_t* rb) {
  for (int i = 0; i < K / 4; ++i) {
    int row = group() + 8 * (i & 1), column = quad() * 2 + 8 * (i / 2);
    ra[i] = pair(a, row * K + column, row * K + column + 1);
  }
  for (int i = 0; i < K / 8; ++i) {
    int row = quad() * 2 + 8 * i;
    rb[i] = pair(b, row * 8 + group(), (row + 1) * 8 + group());
  }
}

template <class T> __device__ void load_c(const T* c, T* rc) {
  for (int i = 0; i < 4; ++i) rc[i] = c[(group() + 8 * (i / 2)) * 8 + quad() * 2 + (i & 1)];
}
template <class T> __device__ void store_d(T* d, const T* rd) {
  for (int i = 0; i < 4; ++i) d[(group() + 8 * (i / 2)) * 8 + quad() * 2 + (i & 1)] = rd[i];
}
} // namespace

#define KERNEL_F32(NAME, K, SHAPE)                                                                 \
  extern "C" __global__ void NAME(float* d, const uint16_t* a, const uint16_t* b,                  \
                                  const float* c) {                                                \
    uint32_t ra[4], rb[2];                                                                         \
    float r[4];                                                                                    \
    load16<K>(a + blockIdx.x * 16 * K, b + blockIdx.x * 8 * K, ra, rb);                            \
    load_c(c + blockIdx.x * 128, r);                                                               \
    SHAPE;                                                                                         \
    store_d(d + blockIdx.x * 128, r);                                                              \
  }
#define K16(T)                                                                                     \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." T "." T ".f32 {%0,%1,%2,%3}, "             \
               "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                                            \
               : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3])                                    \
               : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]))
#define K8(T)                                                                                      \
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32." T "." T                                     \
               ".f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "                                               \
               "{%0,%1,%2,%3};"                                                                    \
               : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3])                                    \
               : "r"(ra[0]), "r"(ra[1]), "r"(rb[0]))

KERNEL_F32(m16n8k16_f32_f16, 16, K16("f16"))
KERNEL_F32(m16n8k16_f32_bf16, 16, K16("bf16"))
KERNEL_F32(m16n8k8_f32_f16, 8, K8("f16"))
KERNEL_F32(m16n8k8_f32_bf16, 8, K8("bf16"))

extern "C" __global__ void m16n8k16_f16_f16(uint16_t* d, const uint16_t* a, const uint16_t* b,
                                            const uint16_t* c) {
  uint32_t ra[4], rb[2];
  uint16_t h[4];
  load16<16>(a + blockIdx.x * 256, b + blockIdx.x * 128, ra, rb);
  load_c(c + blockIdx.x * 128, h);
  uint32_t r[2] = {h[0] | uint32_t(h[1]) << 16, h[2] | uint32_t(h[3]) << 16};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, "
               "{%0,%1};"
               : "+r"(r[0]), "+r"(r[1])
               : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  uint16_t out[4] = {uint16_t(r[0]), uint16_t(r[0] >> 16), uint16_t(r[1]), uint16_t(r[1] >> 16)};
  store_d(d + blockIdx.x * 128, out);
}

// tf32: register i of A holds row group()+8*(i&1), column quad()+4*(i/2).
extern "C" __global__ void m16n8k8_f32_tf32(float* d, const uint32_t* a, const uint32_t* b,
                                            const float* c) {
  a += blockIdx.x * 128;
  b += blockIdx.x * 64;
  uint32_t ra[4], rb[2];
  float r[4];
  for (int i = 0; i < 4; ++i) ra[i] = a[(group() + 8 * (i & 1)) * 8 + quad() + 4 * (i / 2)];
  for (int i = 0; i < 2; ++i) rb[i] = b[(quad() + 4 * i) * 8 + group()];
  load_c(c + blockIdx.x * 128, r);
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
               "{%8,%9}, {%0,%1,%2,%3};"
               : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3])
               : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  store_d(d + blockIdx.x * 128, r);
}

extern "C" __global__ void m16n8k4_f32_tf32(float* d, const uint32_t* a, const uint32_t* b,
                                            const float* c) {
  a += blockIdx.x * 64;
  b += blockIdx.x * 32;
  uint32_t ra[2], rb;
  float r[4];
  for (int i = 0; i < 2; ++i) ra[i] = a[(group() + 8 * i) * 4 + quad()];
  rb = b[quad() * 8 + group()];
  load_c(c + blockIdx.x * 128, r);
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
               "{%0,%1,%2,%3};"
               : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3])
               : "r"(ra[0]), "r"(ra[1]), "r"(rb));
  store_d(d + blockIdx.x * 128, r);
}
