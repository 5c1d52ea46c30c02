// f16 GEMM on tensor cores, f32 totals: one warp makes a 16 × 8 tile with mma.m16n8k16.
#include <cuda_fp16.h>
extern "C" __global__ void mma_gemm(const __half* a, const __half* b, float* c, int n, int k) {
  int lane = threadIdx.x, row = blockIdx.y * 16, column = blockIdx.x * 8;
  float d[4] = {0, 0, 0, 0};
  for (int t = 0; t < k; t += 16) {
    unsigned x[4], y[2];
    const __half* p = a + (row + lane / 4) * k + t + lane % 4 * 2;
    x[0] = *(const unsigned*)p;
    x[1] = *(const unsigned*)(p + 8 * k);
    x[2] = *(const unsigned*)(p + 8);
    x[3] = *(const unsigned*)(p + 8 * k + 8);
    const __half* q = b + (column + lane / 4) * k + t + lane % 4 * 2; // B is stored by columns
    y[0] = *(const unsigned*)q;
    y[1] = *(const unsigned*)(q + 8);
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  }
  float* o = c + (row + lane / 4) * n + column + lane % 4 * 2;
  o[0] = d[0];
  o[1] = d[1];
  o[8 * n] = d[2];
  o[8 * n + 1] = d[3];
}
