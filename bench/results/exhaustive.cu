// Compares each approximate f32 instruction with the correctly rounded value over all 2^32 inputs
// and prints one line for each: how often the result is off by 0, 1, 2, ... units in the last
// place, and whether the .ftz form is the plain form with flushed input and output.
//   nvcc -arch=sm_90 -O2 -o exhaustive exhaustive.cu && ./exhaustive
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

struct Count {
  unsigned long long total, ulp[12], more, nan_mismatch, inf_mismatch, ftz_rule, max_ulp;
  uint32_t example[4], worst;
  unsigned long long ftz_example[8];
  double max_abs;
  unsigned long long max_abs_bits;
};

#define UNARY(NAME, TEXT)                                                                          \
  __device__ float NAME(float x) {                                                                 \
    float y;                                                                                       \
    asm volatile(TEXT " %0, %1;" : "=f"(y) : "f"(x));                                              \
    return y;                                                                                      \
  }
UNARY(ex2, "ex2.approx.f32")
UNARY(ex2z, "ex2.approx.ftz.f32") UNARY(lg2, "lg2.approx.f32") UNARY(lg2z, "lg2.approx.ftz.f32")
    UNARY(sin_, "sin.approx.f32") UNARY(sinz, "sin.approx.ftz.f32") UNARY(cos_, "cos.approx.f32")
        UNARY(cosz, "cos.approx.ftz.f32") UNARY(rcp, "rcp.approx.f32")
            UNARY(rcpz, "rcp.approx.ftz.f32") UNARY(rsq, "rsqrt.approx.f32")
                UNARY(rsqz, "rsqrt.approx.ftz.f32") UNARY(sqr, "sqrt.approx.f32")
                    UNARY(sqrz, "sqrt.approx.ftz.f32") UNARY(tnh, "tanh.approx.f32")

                        __device__ double reference(int op, double x) {
  switch (op) {
  case 0: return exp2(x);
  case 1: return log2(x);
  case 2: return sin(x);
  case 3: return cos(x);
  case 4: return 1.0 / x;
  case 5: return 1.0 / sqrt(x);
  case 6: return sqrt(x);
  default: return tanh(x);
  }
}
__device__ float plain(int op, float x) {
  switch (op) {
  case 0: return ex2(x);
  case 1: return lg2(x);
  case 2: return sin_(x);
  case 3: return cos_(x);
  case 4: return rcp(x);
  case 5: return rsq(x);
  case 6: return sqr(x);
  default: return tnh(x);
  }
}
__device__ float flushed(int op, float x) {
  switch (op) {
  case 0: return ex2z(x);
  case 1: return lg2z(x);
  case 2: return sinz(x);
  case 3: return cosz(x);
  case 4: return rcpz(x);
  case 5: return rsqz(x);
  case 6: return sqrz(x);
  default: return tnh(x);
  }
}
__device__ uint32_t ftz(uint32_t b) { return (b & 0x7f800000) ? b : b & 0x80000000; }
__device__ long long order(uint32_t b) {
  return b & 0x80000000 ? -(long long)(b & 0x7fffffff) : (long long)b;
}

__global__ void compare(int op, Count* c) {
  unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
  for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < 1ull << 32; i += stride) {
    uint32_t bits = (uint32_t)i;
    float x = __uint_as_float(bits);
    float y = plain(op, x), r = __double2float_rn(reference(op, (double)x));
    uint32_t yb = __float_as_uint(y), rb = __float_as_uint(r);
    if (isnan(y) || isnan(r)) {
      if (isnan(y) != isnan(r)) atomicAdd(&c->nan_mismatch, 1ull);
    } else if (isinf(y) != isinf(r)) {
      atomicAdd(&c->inf_mismatch, 1ull);
    } else {
      long long d = llabs(order(yb) - order(rb));
      if (d < 12) {
        if (d) atomicAdd(&c->ulp[d], 1ull);
      } else {
        atomicAdd(&c->more, 1ull);
      }
      if ((unsigned long long)d > c->max_ulp) atomicMax(&c->max_ulp, (unsigned long long)d);
      if (fabsf(x) <= 3.2f) {
        double e = fabs((double)y - reference(op, (double)x));
        if (e > __longlong_as_double(c->max_abs_bits))
          atomicMax(&c->max_abs_bits, (unsigned long long)__double_as_longlong(e));
      }
    }
    if (op < 7) {
      uint32_t z = __float_as_uint(flushed(op, x));
      uint32_t rule = ftz(__float_as_uint(plain(op, __uint_as_float(ftz(bits)))));
      if (z != rule && !(isnan(__uint_as_float(z)) && isnan(__uint_as_float(rule)))) {
        unsigned long long k = atomicAdd(&c->ftz_rule, 1ull);
        if (k < 8) c->ftz_example[k] = (unsigned long long)bits << 32 | z;
      }
    }
  }
}

// cvt.rna.tf32: how the unit treats the low 13 bits of an f32 used as tf32 is measured by mma.cu.
int main() {
  const char* names[] = {"ex2", "lg2", "sin", "cos", "rcp", "rsqrt", "sqrt", "tanh"};
  Count* c;
  cudaMalloc(&c, sizeof(Count));
  for (int op = 0; op < 8; ++op) {
    cudaMemset(c, 0, sizeof(Count));
    compare<<<132 * 8, 256>>>(op, c);
    Count h;
    cudaError_t e = cudaMemcpy(&h, c, sizeof h, cudaMemcpyDeviceToHost);
    if (e) return printf("%s\n", cudaGetErrorString(e)), 1;
    double abs_error;
    __builtin_memcpy(&abs_error, &h.max_abs_bits, 8);
    printf("%s.approx.f32\tulp 1:%llu 2:%llu 3:%llu 4:%llu 5:%llu 6-11:%llu more:%llu max:%llu\t"
           "nan mismatch:%llu inf mismatch:%llu\tmax abs error for |x|<=3.2: %.6g\tftz rule "
           "broken:%llu",
           names[op], h.ulp[1], h.ulp[2], h.ulp[3], h.ulp[4], h.ulp[5],
           h.ulp[6] + h.ulp[7] + h.ulp[8] + h.ulp[9] + h.ulp[10] + h.ulp[11], h.more, h.max_ulp,
           h.nan_mismatch, h.inf_mismatch, abs_error, h.ftz_rule);
    for (int k = 0; k < 8 && k < (int)h.ftz_rule; ++k)
      printf(" 0x%08llx->0x%08llx", h.ftz_example[k] >> 32, h.ftz_example[k] & 0xffffffff);
    printf("\n");
  }
}
