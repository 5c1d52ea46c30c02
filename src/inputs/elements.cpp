// Integer and structured families, and the bijections that make bits distinct.
#include "inputs/elements.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace assay::inputs {
namespace {

struct Range { // the integers [low, low + size) of a type within a domain; size 0: all 2^64
  int64_t low;
  uint64_t size;
};

int64_t to_integer(double value) { // saturating
  if (value <= -9.2e18) return INT64_MIN;
  if (value >= 9.2e18) return INT64_MAX;
  return int64_t(value);
}

Range range_of(const Source& source, int64_t low, uint64_t size) {
  const Domain& domain = source.domain;
  if (domain.bounded_low()) {
    double least = std::ceil(domain.low);
    int64_t first = to_integer(least == domain.low && domain.open_low ? least + 1 : least);
    if (first > low) {
      if (size)
        size -= std::min(size, uint64_t(first) - uint64_t(low));
      else
        size = 0 - (uint64_t(first) - uint64_t(low));
      low = first;
    }
  }
  if (domain.bounded_high()) {
    double most = std::floor(domain.high);
    int64_t last = to_integer(most == domain.high && domain.open_high ? most - 1 : most);
    uint64_t wanted = last < low ? 1 : uint64_t(last) - uint64_t(low) + 1;
    if (!size || wanted < size) size = wanted;
  }
  return {low, size};
}

Range integers(const Source& source) {
  unsigned width = 8 * bytes(source.type);
  uint64_t size = width == 64 ? 0 : uint64_t(1) << width;
  bool is_signed = format(source.type).kind == 's';
  // An unsigned 64-bit type is bounded at 2^63 as soon as it has a domain.
  int64_t low = is_signed ? int64_t(uint64_t(-1) << (width - 1)) : 0;
  return range_of(source, low, size);
}

uint64_t integer_bits(DType type, uint64_t value) {
  unsigned width = 8 * bytes(type);
  return width == 64 ? value : value & ((uint64_t(1) << width) - 1);
}

uint64_t draw(const Source& source, uint64_t index, uint64_t purpose = 0) {
  return random_at(source.seed, source.stream * 16 + purpose, index);
}

uint64_t one_of_few(const Source& source, const Range& range, uint64_t index) {
  uint64_t which = draw(source, index, 1) & 3;
  uint64_t random = random_at(source.seed, source.stream * 16 + 2, which);
  return uint64_t(range.low) + (range.size ? below(random, range.size) : random);
}

} // namespace

uint64_t permute_bits(uint64_t index, unsigned bits, uint64_t seed) {
  if (bits == 0) return 0;
  uint64_t mask = bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  uint64_t x = index & mask;
  for (int round = 0; round < 4; ++round) {
    // Addition, an odd product and a shifted exclusive or are each invertible modulo 2^bits.
    x = (x + mix64(seed + uint64_t(round))) & mask;
    x = (x * 0x9e3779b97f4a7c15ull) & mask;
    x ^= x >> std::max(1u, bits / 2);
  }
  return x;
}

uint64_t permute(uint64_t index, uint64_t n, uint64_t seed) {
  if (n <= 1) return 0;
  unsigned bits = std::bit_width(n - 1);
  uint64_t x = index % n;
  do x = permute_bits(x, bits, seed);
  while (x >= n);
  return x;
}

uint64_t below(uint64_t random, uint64_t n) {
  return uint64_t((unsigned __int128)random * n >> 64);
}

uint64_t integer_element(const Source& source, uint64_t index) {
  Range range = integers(source);
  uint64_t random = draw(source, index);
  uint64_t any = range.size ? below(random, range.size) : random;
  uint64_t low = uint64_t(range.low);
  uint64_t last = low + range.size - 1; // size 0 wraps to the largest, as it should
  auto inside = [&](int64_t value) {
    uint64_t offset = uint64_t(value) - low;
    return range.size && offset >= range.size ? low : uint64_t(value);
  };
  uint64_t value = low + any;
  switch (source.family.kind) {
  case FamilyKind::automatic: {
    uint64_t seed = random_at(source.seed, source.stream * 16 + 3, 0);
    value = low + (range.size ? permute(index, range.size, seed) : permute_bits(index, 64, seed));
    break;
  }
  case FamilyKind::degenerate: {
    uint64_t part = source.family.part ? source.family.part : 1 + (draw(source, 0, 4) & 3);
    uint64_t hot = source.count ? below(draw(source, 0, 5), source.count) : 0;
    value = part == 1   ? inside(0)
            : part == 2 ? inside(1)
            : part == 3 ? low + (range.size ? below(draw(source, 0, 6), range.size) : 42)
                        : inside(index == hot);
    break;
  }
  case FamilyKind::sparse: value = draw(source, index, 1) % 10 ? inside(0) : value; break;
  case FamilyKind::sentinel: {
    uint64_t choices[] = {low, last, inside(0), inside(1), inside(-1), value, value, value};
    value = choices[draw(source, index, 1) & 7];
    break;
  }
  case FamilyKind::magnitude: { // every number of digits equally often
    uint64_t cut = draw(source, index, 1) % (8 * bytes(source.type));
    value = inside(int64_t(any >> cut));
    break;
  }
  case FamilyKind::cancellation: {
    uint64_t pair = draw(source, index / 2, 1) >> 34;
    value = inside(index & 1 ? -int64_t(pair) : int64_t(pair));
    break;
  }
  case FamilyKind::ties: value = one_of_few(source, range, index); break;
  default: break; // uniform, normal and quantum have no meaning of their own for integers
  }
  return integer_bits(source.type, value);
}

uint64_t structure_element(const Source& source, uint64_t index) {
  enum { indices = 1, permutation, mask, lengths, offsets, sorted, iota, empty };
  Source within = source; // structure is about counts: it starts at 0 unless the domain says so
  if (!within.domain.bounded_low()) {
    within.domain.low = 0;
    within.domain.open_low = false;
  }
  uint64_t count = std::max<uint64_t>(source.count, 1);
  Range range = range_of(within, 0, source.domain.bounded_high() ? 0 : count);
  if (range.size == 0) range.size = count;
  uint64_t seed = random_at(source.seed, source.stream * 16 + 3, 0), value = 0;
  switch (source.family.part) {
  case permutation: value = permute(index, range.size, seed); break;
  case mask: value = draw(source, index) & 1; break;
  case lengths:
    value = draw(source, index, 1) % 4 ? below(draw(source, index), range.size) : 0;
    break;
  case offsets:
  case sorted: { // an even slope; each element keeps to its own step, so the order holds
    double step = double(range.size - 1) / double(std::max<uint64_t>(count - 1, 1));
    double jitter = source.family.part == sorted || (index && index + 1 < count)
                        ? double(draw(source, index) >> 11) * 0x1p-53
                        : 0;
    value = uint64_t(std::min(step * (double(index) + jitter), double(range.size - 1)));
    break;
  }
  case iota: value = index % range.size; break;
  case empty: value = 0; break;
  default: value = below(draw(source, index), range.size); break;
  }
  if (source.family.part != mask && source.family.part != empty) value += uint64_t(range.low);
  if (is_float(source.type)) return encode(source.type, double(int64_t(value)));
  return integer_bits(source.type, value);
}

} // namespace assay::inputs
