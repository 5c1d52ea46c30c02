// The toolkit's own headers: half types, wmma, fp8, intrinsics, textures, dynamic features. -DALGO=0..9
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <mma.h>
#include <cassert>

namespace cg = cooperative_groups;
using namespace nvcuda;

#if ALGO == 0
extern "C" __global__ void halves(__half2* a, __nv_bfloat162* b, float* f) {
  int i = threadIdx.x;
  a[i] = __hfma2(a[i], a[i + 1], h2exp(a[i + 2]));
  a[i] = __hmax2(a[i], h2rsqrt(a[i + 1])) + h2log2(a[i]);
  b[i] = __hfma2_relu(b[i], b[i + 1], b[i + 2]);
  b[i] = h2sin(b[i]) * __hmin2(b[i + 1], b[i + 3]);
  f[i] = __half2float(__low2half(a[i])) + __bfloat162float(__high2bfloat16(b[i])) + (__hlt(a[i].x, a[i].y) ? 1 : 2);
}
#elif ALGO == 1
extern "C" __global__ void wmma_f16(const half* a, const half* b, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
#elif ALGO == 2
extern "C" __global__ void wmma_others(const __nv_bfloat16* a, const signed char* i8, const double* d, float* c, int* ci, double* cd) {
  { wmma::fragment<wmma::matrix_a, 32, 8, 16, __nv_bfloat16, wmma::col_major> fa;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, __nv_bfloat16, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 32, 8, 16, float> fc;
    wmma::load_matrix_sync(fc, c, 8, wmma::mem_col_major);
    wmma::load_matrix_sync(fa, a, 32); wmma::load_matrix_sync(fb, a, 8);
    wmma::mma_sync(fc, fa, fb, fc); wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major); }
  { wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> fc;
    wmma::fill_fragment(fc, 0); wmma::load_matrix_sync(fa, i8, 16); wmma::load_matrix_sync(fb, i8, 16);
    wmma::mma_sync(fc, fa, fb, fc, true); wmma::store_matrix_sync(ci, fc, 16, wmma::mem_row_major); }
  { wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> fc;
    wmma::fill_fragment(fc, 0.0); wmma::load_matrix_sync(fa, d, 4); wmma::load_matrix_sync(fb, d, 4);
    wmma::mma_sync(fc, fa, fb, fc); wmma::store_matrix_sync(cd, fc, 8, wmma::mem_row_major); }
}
#elif ALGO == 3
extern "C" __global__ void fp8(__nv_fp8_e4m3* a, __nv_fp8x4_e5m2* b, float* f, float4* g) {
  int i = threadIdx.x;
  f[i] = float(a[i]); a[i + 1] = __nv_fp8_e4m3(f[i + 1]);
  g[i] = float4(b[i]); b[i + 1] = __nv_fp8x4_e5m2(g[i + 2]);
}
#elif ALGO == 4
extern "C" __global__ void intrinsics(int* a, unsigned* b, long long* l, float* f, double* d) {
  int i = threadIdx.x;
  a[i] = __dp4a(a[i], a[i + 1], a[i + 2]) + __vadd4(b[i], b[i + 1]) + __vabsdiffs2(b[i], b[i + 2]) + __sad(a[i], a[3], b[0]);
  b[i] = __byte_perm(b[i], b[i + 1], b[2]) + __funnelshift_l(b[i], b[i + 1], 7) + __brev(b[i]) + __ffs(a[i]) + __vcmpgtu4(b[i], b[3]);
  l[i] = __mul64hi(l[i], l[i + 1]) / l[i + 2] % 77;
  f[i] = __fdividef(f[i], f[i + 1]) + __fsqrt_rz(f[i]) + __frcp_ru(f[i + 1]) + fmodf(f[i], f[2]) + erfcf(f[i]) + tgammaf(f[3]) + rnorm3df(f[0], f[1], f[2]);
  d[i] = __dmul_rz(d[i], d[i + 1]) + sin(d[i]) + pow(d[i], d[i + 1]) + __fma_ru(d[0], d[1], d[2]) + j0(d[3]) + __double2ll_rd(d[4]);
  f[i + 1] = __int2float_rd(a[i]) + __float2uint_ru(f[i]) + __saturatef(f[i]) + truncf(f[i]) + rintf(f[3]) + copysignf(f[0], f[1]);
}
#elif ALGO == 5
extern "C" __global__ void textures(cudaTextureObject_t t, cudaSurfaceObject_t s, float4* out, int* o) {
  int i = threadIdx.x;
  out[i] = tex2D<float4>(t, i, 2.5f) ;
  out[i].x += tex1Dfetch<float>(t, i) + tex3DLod<float>(t, 1, 2, 3, 0.5f) + texCubemap<float>(t, 1, 2, 3) + tex2DLayered<float>(t, 1, 2, 3);
  out[i].y += tex2DGrad<float>(t, 1, 2, make_float2(1, 2), make_float2(3, 4)) + tex2Dgather<float4>(t, 1, 2, 1).x;
  o[i] = surf2Dread<int>(s, i * 4, 3) + surf3Dread<int>(s, i * 4, 1, 2, cudaBoundaryModeZero);
  surf2Dwrite(o[i], s, i * 4, 4);
}
#elif ALGO == 6
__device__ int table[64];
__constant__ float weights[16] = {1.5f, 2, -3};
__managed__ int shared_with_host = 3;
typedef float (*Function)(float);
__device__ float square(float x) { return x * x; }
__device__ __noinline__ float cube(float x) { return x * square(x); }
__device__ Function functions[2] = {square, cube};
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
extern "C" __global__ void calls(float* f, int n) {
  assert(n > 0);
  printf("%d %f\n", n, f[0]);
  f[0] = functions[n & 1](f[1]) + weights[n & 15] + table[n & 63] + fibonacci(n) + shared_with_host;
  int* p = new int[n];
  p[n - 1] = n;
  f[2] = p[n - 1];
  delete[] p;
  switch (n) {
  case 1: f[3] = 1; break; case 2: f[3] = 4; break; case 3: f[3] = -1; break; case 4: f[3] = 8; break;
  case 5: f[3] = 3; break; case 6: f[3] = 7; break; case 7: f[3] = 2; break; default: __trap();
  }
}
struct Base { virtual __device__ float run(float) const = 0; };
struct One : Base { __device__ float run(float x) const override { return x + 1; } };
struct Two : Base { __device__ float run(float x) const override { return x * 2; } };
extern "C" __global__ void virtual_calls(float* f, int n) {
  One one; Two two;
  const Base* b = n ? static_cast<const Base*>(&one) : &two;
  f[0] = b->run(f[0]);
}
#elif ALGO == 7
extern "C" __global__ void __launch_bounds__(256, 2) sync(int* out, const int* in, unsigned long long* clock) {
  __shared__ int s[256];
  int i = threadIdx.x;
  s[i] = in[i];
  int any = __syncthreads_or(s[i] > 3) + __syncthreads_count(s[i]) + __syncthreads_and(i);
  out[i] = any + __shfl_xor_sync(~0u, s[i], 1) + __ballot_sync(~0u, s[i]) + __match_any_sync(~0u, s[i]) + __reduce_add_sync(~0u, s[i]);
  int p;
  out[i] += __match_all_sync(~0u, s[i], &p) + p + __activemask() + __popc(p);
  __threadfence_block(); __threadfence(); __threadfence_system(); __syncwarp();
  __nanosleep(100);
  clock[i] = clock64();
  atomicCAS(out, 1, 2); atomicInc((unsigned*)out, 7); atomicMin(out + 1, 4); atomicExch(out + 2, 5); atomicAnd_system(out + 3, 6);
  asm volatile("bar.sync 1, 64;");
}
#elif ALGO == 8
__device__ void deep(int* x, int n) { if (n & 1) x[n] += 3; }
extern "C" __global__ void lines(int* x, int n) {
  for (int i = 0; i < n; ++i) deep(x, i);
}
#elif ALGO == 9
extern "C" __global__ void atomics_half(__half* h, __half2* h2, __nv_bfloat162* b2, double* d, unsigned short* u, float4* f4) {
  atomicAdd(h, __float2half(1)); atomicAdd(h2, __float2half2_rn(2)); atomicAdd(b2, __float2bfloat162_rn(1));
  atomicAdd(d, 2.0); atomicCAS(u, 1, 2); __stcs(f4, __ldcg(f4 + 1)); __stwt(d, __ldlu(d + 1)); f4[2] = __ldg(f4 + 3);
}
#endif
