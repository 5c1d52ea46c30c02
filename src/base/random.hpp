// Counter-based random numbers (splitmix64 finaliser over seed and counter): any element of any
// tensor and any choice of any schedule can be regenerated alone. Not for cryptography.
// Source of the mixing constants: Steele, Lea, Flood, "Fast splittable pseudorandom number
// generators", OOPSLA 2014.
#pragma once

#include <cstdint>

namespace assay {

constexpr uint64_t mix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// The number at `counter` of the stream (seed, stream).
constexpr uint64_t random_at(uint64_t seed, uint64_t stream, uint64_t counter) {
  return mix64(mix64(mix64(seed) ^ stream) ^ counter);
}

// A stream that remembers its counter.
class Random {
public:
  explicit Random(uint64_t seed, uint64_t stream = 0) : seed_(seed), stream_(stream) {}
  uint64_t next() { return random_at(seed_, stream_, counter_++); }
  // Uniform in [0, n); n > 0. The bias of the multiply-shift is below 2^-32 for n < 2^32.
  uint32_t below(uint32_t n) { return uint32_t(((next() >> 32) * n) >> 32); }

private:
  uint64_t seed_, stream_, counter_ = 0;
};

} // namespace assay
