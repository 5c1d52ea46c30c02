// The core's f32 peak: chains of multiply-adds in registers, enough of them to hide the latency.
// Compiled once for each vector level. Fused by intrinsics where the level has them: the compiler
// does not contract vector types, whatever it is asked.
#include <immintrin.h>

namespace assay::bench::ASSAY_LEVEL {

#if defined(__AVX512F__)
using Vector = __m512;
inline Vector multiply_add(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
#elif defined(__FMA__)
using Vector = __m256;
inline Vector multiply_add(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
#else
using Vector = __m128;
inline Vector multiply_add(Vector a, Vector b, Vector c) { return a * b + c; }
#endif
constexpr int kChains = 10; // more than latency (4) times instructions a cycle (2)
constexpr int kLanes = sizeof(Vector) / 4;

// Returns the number of floating-point operations.
double multiply_adds(long turns) {
  Vector factor, addend, chain[kChains];
  for (int lane = 0; lane < kLanes; ++lane) {
    factor[lane] = 0.999f;
    addend[lane] = 0.001f;
    for (int i = 0; i < kChains; ++i) chain[i][lane] = float(i + lane);
  }
  for (long turn = 0; turn < turns; ++turn)
    for (int i = 0; i < kChains; ++i) chain[i] = multiply_add(chain[i], factor, addend);
  for (int i = 0; i < kChains; ++i) asm volatile("" : : "x"(chain[i])); // the result is used
  return 2.0 * kChains * kLanes * double(turns);
}

} // namespace assay::bench::ASSAY_LEVEL
