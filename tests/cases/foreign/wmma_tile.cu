// Tensor cores through nvcuda::wmma, one operand from shared memory.
// launch: --entry k --arch sm_80 --grid 1 --block 64 --arg rand:f16[512] --arg rand:f16[512] --arg out:1024
// expect: pass proved
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void k(const half* a, const half* b, float* c) {
  __shared__ half as[16 * 32];
  __shared__ float cs[2][256];
  for (int i = threadIdx.x; i < 512; i += 64) as[i] = a[i];
  __syncthreads();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  int w = threadIdx.x / 32;
  wmma::load_matrix_sync(fa, as + 16 * w, 32);
  wmma::load_matrix_sync(fb, b + 16 * w, 32);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(cs[w], fc, 16, wmma::mem_row_major);
#ifndef NO_SYNC
  __syncthreads();
#endif
  for (int i = threadIdx.x; i < 256; i += 64) c[i] = cs[0][i] + cs[1][i];
}
