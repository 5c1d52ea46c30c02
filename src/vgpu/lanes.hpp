// Lanes and map: how a scalar function becomes a warp operation. Arrays and plain loops over 32
// lanes vectorise in both compilers (the vector extensions do not in g++ 12). Every value is read
// before a choice between values is made; a choice between places would become a gather.
#pragma once

#include <cstdint>
#include <cstring>

namespace assay::vgpu {

inline constexpr int kLanes = 32;
inline constexpr uint32_t kAllLanes = 0xffffffffu;

// How many lanes. Without the processor's instruction, which not every machine has, the compiler
// calls a function; mostly the answer is 32.
inline uint32_t count_lanes(uint32_t bits) {
  return bits == kAllLanes ? 32 : uint32_t(__builtin_popcount(bits));
}

template <class T> struct alignas(64) Lanes {
  T v[kLanes];
};

#define ASSAY_INLINE inline __attribute__((always_inline))
#if defined(__clang__)
#define ASSAY_LANE_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define ASSAY_LANE_LOOP _Pragma("GCC ivdep")
#endif

inline constexpr uint32_t kSlotBytes = 128;

// Where a slot begins in its frame, in bytes: one addition less than the slot's number.
enum class SlotPlace : uint32_t { none = 0xffffffff };

// A slot of the register file as lanes of T (T of 4, 8 or 16 bytes).
template <class T> ASSAY_INLINE Lanes<T>& lanes(char* regs, SlotPlace place) {
  return *reinterpret_cast<Lanes<T>*>(regs + uint32_t(place));
}
template <class T> ASSAY_INLINE Lanes<T>& lanes(char* regs, uint16_t slot) {
  return *reinterpret_cast<Lanes<T>*>(regs + slot * kSlotBytes);
}

// d[i] = f(a[i]...) in the lanes of `exec` (0 or −1 each); Full ignores exec.
template <bool Full, class D, class F, class... A>
ASSAY_INLINE void map(Lanes<D>& d, const Lanes<int32_t>& exec, F f, const Lanes<A>&... a) {
  ASSAY_LANE_LOOP for (int i = 0; i < kLanes; ++i) {
    D old = d.v[i], r = f(a.v[i]...);
    d.v[i] = Full || exec.v[i] ? r : old;
  }
}

} // namespace assay::vgpu
