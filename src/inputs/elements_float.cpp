// Families of floating-point elements. Values are made exactly (integers times powers of two) and
// rounded once into the type, so the bytes do not depend on the machine's math library.
#include "inputs/elements.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <cmath>

namespace assay::inputs {
namespace {

class Maker {
public:
  Maker(const Source& source, uint64_t index) : s_(source), i_(index) {}

  uint64_t make() const {
    switch (s_.family.kind) {
    case FamilyKind::automatic: return distinct();
    case FamilyKind::uniform: return bits(uniform(i_));
    case FamilyKind::normal: return bits(normal());
    case FamilyKind::degenerate: return bits(degenerate());
    case FamilyKind::sparse: return draw(i_, 1) % 10 ? 0 : bits(uniform(i_));
    case FamilyKind::sentinel: return sentinel();
    case FamilyKind::magnitude: return bits(magnitude());
    case FamilyKind::cancellation: return bits(cancellation());
    case FamilyKind::quantum: return bits(quantum());
    case FamilyKind::ties: return bits(uniform(draw(i_, 1) & 3));
    case FamilyKind::structure: break;
    }
    return structure_element(s_, i_);
  }

private:
  uint64_t draw(uint64_t index, uint64_t purpose = 0) const {
    return random_at(s_.seed, s_.stream * 16 + purpose, index);
  }
  double unit(uint64_t index, uint64_t purpose = 0) const { // [0, 1)
    return double(draw(index, purpose) >> 11) * 0x1p-53;
  }

  // Values outside the domain are moved in: mirrored when only the sign is wrong, else drawn anew.
  double into_domain(double value) const {
    const Domain& domain = s_.domain;
    if (std::isnan(value) || domain.contains(value)) return value;
    if (domain.contains(-value)) return -value;
    double low = domain.bounded_low() ? domain.low : domain.bounded_high() ? domain.high - 2 : -1;
    double high = domain.bounded_high() ? domain.high : low + 2;
    double inside = low + (high - low) * std::max(unit(i_, 7), 0x1p-53);
    return domain.contains(inside) ? inside : low;
  }
  uint64_t bits(double value) const {
    uint64_t encoded = encode(s_.type, into_domain(value));
    // Rounding can step onto an open end, past a closed one, or onto a zero that is not wanted.
    double rounded = decode(s_.type, encoded);
    if (std::isnan(rounded) || s_.domain.contains(rounded)) return encoded;
    if (rounded == 0) return (s_.domain.contains(-1) ? sign_bit(s_.type) : 0) | least();
    if (s_.domain.bounded())
      encoded = encode(s_.type, s_.domain.low + (s_.domain.high - s_.domain.low) / 2);
    return encoded;
  }

  uint64_t least() const { return s_.type == DType::tf32 ? uint64_t(1) << 13 : 1; } // above zero

  double uniform(uint64_t index) const {
    double u = unit(index);
    if (s_.domain.bounded()) return s_.domain.low + (s_.domain.high - s_.domain.low) * u;
    return 2 * u - 1;
  }
  double normal() const { // Irwin-Hall: exact sums, no logarithm
    double sum = -6;
    for (uint64_t k = 0; k < 12; ++k) sum += unit(12 * i_ + k);
    return sum;
  }

  // Sign, eight exponents around one and every fraction: distinct bits, and magnitudes that differ
  // enough for the order of a sum to show.
  uint64_t distinct() const {
    const Format& f = format(s_.type);
    uint64_t seed = random_at(s_.seed, s_.stream * 16 + 3, 0);
    if (s_.domain.bounded()) {
      uint64_t place = permute_bits(i_, std::min<unsigned>(f.fraction + 1, 50), seed);
      double step = std::ldexp(s_.domain.high - s_.domain.low, -int(std::min(f.fraction + 1, 50)));
      return bits(s_.domain.low + step * (double(place) + 0.5));
    }
    bool one_sign = !s_.domain.contains(-1) || !s_.domain.contains(1);
    uint64_t place = permute_bits(i_, f.fraction + 3u + !one_sign, seed);
    uint64_t fraction = place & ((uint64_t(1) << f.fraction) - 1);
    int exponent = int(place >> f.fraction & 7) - 6; // 2^-6 … 2^1
    bool negative = one_sign ? s_.domain.contains(-1) : place >> (f.fraction + 3) & 1;
    double value = std::ldexp(1.0 + std::ldexp(double(fraction), -int(f.fraction)), exponent);
    return bits(negative ? -value : value);
  }

  double degenerate() const {
    uint64_t part = s_.family.part ? s_.family.part : 1 + (draw(0, 4) & 3);
    uint64_t hot = s_.count ? below(draw(0, 5), s_.count) : 0;
    return part == 1 ? 0.0 : part == 2 ? 1.0 : part == 3 ? uniform(0) : double(i_ == hot);
  }

  uint64_t sentinel() const { // not moved into the domain: it is outside on purpose
    if (draw(i_, 1) & 3) return bits(uniform(i_));
    uint64_t smallest_normal =
        encode(s_.type, std::ldexp(1.0, 2 - (1 << (format(s_.type).exponent - 1))));
    uint64_t magnitudes[] = {nan(s_.type), infinity(s_.type), 0, largest_finite(s_.type),
                             least(),      smallest_normal};
    uint64_t random = draw(i_, 2);
    uint64_t sign = random & 1 ? sign_bit(s_.type) : 0;
    return magnitudes[(random >> 1) % 6] | sign;
  }

  double magnitude() const {
    enum { large = 1, small, log, subnormal };
    const Format& f = format(s_.type);
    int bias = (1 << (f.exponent - 1)) - 1;
    uint64_t part = s_.family.part ? s_.family.part : 1 + (draw(i_, 1) & 3);
    double signed_unit = 2 * unit(i_) - 1, most = decode(s_.type, largest_finite(s_.type));
    if (part == large) return std::clamp(1e6 * signed_unit, -most, most);
    if (part == small) return 1e-6 * signed_unit;
    if (part == subnormal) return std::ldexp(signed_unit, 1 - bias);
    int exponent = int(below(draw(i_, 2), uint64_t(2 * bias - 1))) - (bias - 1);
    double value = std::ldexp(1.0 + unit(i_, 6), exponent);
    return draw(i_, 2) & 1 ? -value : value;
  }

  double cancellation() const {
    enum { pairs = 1, big_small };
    uint64_t group = i_ / 4;
    bool mixed = s_.family.part ? s_.family.part == big_small : draw(group, 1) & 1;
    uint64_t pair = i_ / 2;
    if (!mixed) return (i_ & 1 ? -1 : 1) * decode(s_.type, encode(s_.type, uniform(pair)));
    double big = std::ldexp(1.0, std::min<int>(format(s_.type).fraction + 1, 30));
    double small = uniform(i_);
    return i_ % 4 == 0 ? big : i_ % 4 == 2 ? -big : small; // big + small - big + small
  }

  double quantum() const { // halfway between two neighbours of a narrower type
    static constexpr DType kNarrow[] = {DType::f16, DType::bf16, DType::e4m3};
    DType narrow = kNarrow[s_.family.part ? s_.family.part - 1 : draw(i_, 1) % 3];
    double low = decode(narrow, encode(narrow, unit(i_) + 0.5));
    double high = decode(narrow, encode(narrow, unit(i_) + 0.5) + 1);
    return (draw(i_, 2) & 1 ? -0.5 : 0.5) * (low + high);
  }

  const Source& s_;
  uint64_t i_;
};

} // namespace

uint64_t float_element(const Source& source, uint64_t index) { return Maker(source, index).make(); }

} // namespace assay::inputs
