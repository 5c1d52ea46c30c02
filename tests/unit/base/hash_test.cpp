// Digests: published values of XXH3 on the empty input, and that pieces and whole agree.
#include "base/hash.hpp"

#include <gtest/gtest.h>

namespace assay {
namespace {

// xxHash's specification gives these digests of the empty input with seed 0.
TEST(Hash, EmptyInputIsThePublishedValue) {
  EXPECT_EQ(hash64("", 0), 0x2d06800538d394c2ull);
  EXPECT_EQ(hash128("", 0).hex(), "99aa06d3014798d86001c324468d497f");
}

TEST(Hash, PiecesHashLikeTheWhole) {
  std::string text(5000, 'x');
  for (size_t i = 0; i < text.size(); ++i) text[i] = char(i * 7);
  Hasher hasher;
  hasher.add(std::string_view(text).substr(0, 1));
  hasher.add(std::string_view(text).substr(1, 300));
  hasher.add(std::string_view(text).substr(301));
  EXPECT_EQ(hasher.digest(), hash128(text.data(), text.size()));
}

TEST(Hash, EveryByteAndTheSeedMatter) {
  std::string text(300, 'a');
  const Digest before = hash128(text.data(), text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    text[i] = 'b';
    EXPECT_NE(hash128(text.data(), text.size()), before) << i;
    text[i] = 'a';
  }
  EXPECT_NE(hash64(text, 0), hash64(text, 1));
}

TEST(Hash, HexHasTheHighHalfFirst) {
  EXPECT_EQ((Digest{.low = 0xab, .high = 1}).hex(), "000000000000000100000000000000ab");
}

} // namespace
} // namespace assay
