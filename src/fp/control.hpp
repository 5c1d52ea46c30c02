// The floating-point control register of x86 (MXCSR): rounding mode, and FTZ with DAZ for .ftz. On
// the H200 `.ftz` equals the two together (tininess is detected after rounding); flushing a rounded
// result in code would be wrong. Operations stay between `Control`'s constructor and destructor
// because both clobber memory: what is computed must come from memory and go to memory in between.
#pragma once

#include "fp/scalar.hpp"

namespace assay::fp {

inline constexpr uint32_t kDefaultControl = 0x1f80; // exceptions masked, to nearest
inline constexpr uint32_t kFlushControl = 0x8040;

constexpr uint32_t control_word(Rounding mode, bool ftz) {
  constexpr uint32_t modes[] = {0, 0x6000, 0x2000, 0x4000};
  return kDefaultControl | modes[int(mode)] | (ftz ? kFlushControl : 0);
}

// Constants in memory: loading the register from the stack was measured up to 16 times slower.
template <uint32_t Word> inline constexpr uint32_t kControlWord = Word;

template <Rounding Mode, bool Ftz> class Control {
  static constexpr uint32_t kWord = control_word(Mode, Ftz);
  static constexpr bool kChanges = kWord != kDefaultControl;

public:
  ASSAY_FP_INLINE Control() {
    if constexpr (kChanges) asm volatile("ldmxcsr %0" ::"m"(kControlWord<kWord>) : "memory");
  }
  ASSAY_FP_INLINE ~Control() {
    if constexpr (kChanges)
      asm volatile("ldmxcsr %0" ::"m"(kControlWord<kDefaultControl>) : "memory");
  }
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;
};

} // namespace assay::fp
