// Digests of bytes: XXH3, 64 and 128 bits. Used for outcomes, traces, stale-PTX checks; not a
// cryptographic hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

uint64_t hash64(const void* data, size_t size, uint64_t seed = 0);
inline uint64_t hash64(std::string_view text, uint64_t seed = 0) {
  return hash64(text.data(), text.size(), seed);
}

struct Digest {
  uint64_t low = 0, high = 0;
  bool operator==(const Digest&) const = default;
  std::string hex() const; // 32 hexadecimal digits, high half first
};
Digest hash128(const void* data, size_t size);

// Digest of a sequence of pieces, in order.
class Hasher {
public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  void add(const void* data, size_t size);
  void add(std::string_view text) { add(text.data(), text.size()); }
  void add_u64(uint64_t value) { add(&value, sizeof value); }
  Digest digest() const;

private:
  void* state_;
};

} // namespace assay
