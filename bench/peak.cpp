// The core's f32 peak: chains of multiply-adds in registers, enough of them to hide the latency.
// Compiled once for each vector level, with contraction on, so that a level with fused multiply-add
// uses it.
namespace assay::bench::ASSAY_LEVEL {

#if defined(__AVX512F__)
constexpr int kBytes = 64;
#elif defined(__AVX__)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif
constexpr int kChains = 10; // more than latency (4) times instructions a cycle (2)
constexpr int kLanes = kBytes / 4;

// Returns the number of floating-point operations.
double multiply_adds(long turns) {
  typedef float Vector __attribute__((vector_size(kBytes)));
  Vector factor, addend, chain[kChains];
  for (int lane = 0; lane < kLanes; ++lane) {
    factor[lane] = 0.999f;
    addend[lane] = 0.001f;
    for (int i = 0; i < kChains; ++i) chain[i][lane] = float(i + lane);
  }
  for (long turn = 0; turn < turns; ++turn)
    for (int i = 0; i < kChains; ++i) chain[i] = chain[i] * factor + addend;
  for (int i = 0; i < kChains; ++i) asm volatile("" : : "x"(chain[i])); // the result is used
  return 2.0 * kChains * kLanes * double(turns);
}

} // namespace assay::bench::ASSAY_LEVEL
