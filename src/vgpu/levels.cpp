// Which build of the handlers this processor runs: chosen once, at start, by CPUID.
#include "vgpu/machine.hpp"

namespace assay::vgpu {

#define ASSAY_DECLARE(name)                                                                        \
  namespace name {                                                                                 \
  extern const Level kLevel;                                                                       \
  }
#ifdef ASSAY_HAS_PORTABLE
ASSAY_DECLARE(portable)
#endif
#ifdef ASSAY_HAS_AVX2
ASSAY_DECLARE(avx2)
#endif
#ifdef ASSAY_HAS_AVX512
ASSAY_DECLARE(avx512)
#endif
#undef ASSAY_DECLARE

namespace {
[[maybe_unused]] bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c");
}
[[maybe_unused]] bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512cd");
}
} // namespace

const Level& level(const std::string& name) {
#ifdef ASSAY_HAS_AVX512
  if ((name == "avx512" || name.empty()) && has_avx2() && has_avx512()) return avx512::kLevel;
#endif
#ifdef ASSAY_HAS_AVX2
  if (name != "portable" && has_avx2()) return avx2::kLevel;
#endif
#ifdef ASSAY_HAS_PORTABLE
  return portable::kLevel;
#else
  return avx2::kLevel;
#endif
}

std::string best_level() { return level("").name; }

} // namespace assay::vgpu
