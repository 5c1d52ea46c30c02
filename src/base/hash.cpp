// XXH3 behind a small header, so that no other file needs xxhash.h.
#define XXH_INLINE_ALL
#include "base/hash.hpp"

#include <fmt/format.h>
#include <xxhash.h>

namespace assay {

uint64_t hash64(const void* data, size_t size, uint64_t seed) {
  return XXH3_64bits_withSeed(data, size, seed);
}

Digest hash128(const void* data, size_t size) {
  XXH128_hash_t h = XXH3_128bits(data, size);
  return {h.low64, h.high64};
}

std::string Digest::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

Hasher::Hasher() : state_(XXH3_createState()) { XXH3_128bits_reset((XXH3_state_t*)state_); }
Hasher::~Hasher() { XXH3_freeState((XXH3_state_t*)state_); }
void Hasher::add(const void* data, size_t size) {
  XXH3_128bits_update((XXH3_state_t*)state_, data, size);
}
Digest Hasher::digest() const {
  XXH128_hash_t h = XXH3_128bits_digest((const XXH3_state_t*)state_);
  return {h.low64, h.high64};
}

} // namespace assay
