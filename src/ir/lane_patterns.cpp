// The stride of every register over the lanes, by iteration to a fixed point without regard to
// order: a register's stride is what all its definitions agree on. Wrong guesses cost time, never
// results.
#include "ir/lane_patterns.hpp"
#include "ir/special.hpp"

#include <optional>

namespace assay::ir {
namespace {

// unset < stride k < varying
struct Stride {
  enum class Kind : uint8_t { unset, known, varying };
  Kind kind = Kind::unset;
  int64_t k = 0; // the difference between neighbouring lanes; 0: uniform
  bool uniform() const { return kind == Kind::known && k == 0; }
  bool operator==(const Stride&) const = default;
};
constexpr Stride known(int64_t k) { return {Stride::Kind::known, k}; }
constexpr Stride kVarying{Stride::Kind::varying, 0};
constexpr Stride kUnset{};

class LanePatterns {
public:
  explicit LanePatterns(VirtualFunction& f) : f_(f), stride_(f.registers.size()) {
    for (size_t i = 0; i < f.registers.size(); ++i)
      if (f.registers[i].constant) stride_[i] = known(0);
  }

  void run() {
    // Registers only move upwards, by at most two steps; loops settle in a few rounds.
    for (bool changed = true; changed;) {
      changed = false;
      for (const Block& b : f_.blocks)
        for (uint32_t i = b.first; i < b.end && !b.dropped; ++i) changed |= visit(f_.ops[i]);
    }
    for (const Block& b : f_.blocks)
      for (uint32_t i = b.first; i < b.end && !b.dropped; ++i)
        if (is_memory(f_.ops[i].code)) annotate(f_.ops[i]);
  }

private:
  Stride of(uint32_t id) const { return id == kNoIndex ? known(0) : stride_[id]; }

  bool join(uint32_t id, Stride s) {
    if (id == kNoIndex || s == kUnset) return false;
    Stride& old = stride_[id];
    Stride next = old == kUnset ? s : old == s ? old : kVarying;
    bool changed = !(next == old);
    old = next;
    return changed;
  }

  std::optional<int64_t> value(uint32_t id) const {
    if (id == kNoIndex || !f_.registers[id].constant) return std::nullopt;
    uint64_t v = f_.registers[id].value;
    return f_.registers[id].bits == 64 ? int64_t(v) : int64_t(int32_t(uint32_t(v)));
  }

  static Stride add(Stride a, Stride b, int64_t sign = 1) {
    if (a == kUnset || b == kUnset) return kUnset;
    if (a == kVarying || b == kVarying) return kVarying;
    return known(a.k + sign * b.k);
  }

  Stride times(uint32_t x, uint32_t y) const {
    Stride a = of(x), b = of(y);
    if (a == kUnset || b == kUnset) return kUnset;
    if (a.uniform() && b.uniform()) return known(0);
    if (auto v = value(y); v && a.kind == Stride::Kind::known) return known(a.k * *v);
    if (auto v = value(x); v && b.kind == Stride::Kind::known) return known(b.k * *v);
    return kVarying;
  }

  Stride and_(const VirtualOp& op) const {
    Stride a = of(op.a), b = of(op.b);
    auto mask = value(op.b);
    if (!mask && (mask = value(op.a))) std::swap(a, b);
    if (mask && a.kind == Stride::Kind::known) {
      if ((*mask & 31) == 31) return a;                   // keeps the lane
      if ((*mask & 31) == 0 && a.k == 1) return known(0); // drops it
    }
    return all_uniform(op);
  }

  Stride shift_right(const VirtualOp& op) const {
    Stride a = of(op.a);
    auto n = value(op.b);
    if (!n || *n < 0 || *n > 62 || a.kind != Stride::Kind::known) return all_uniform(op);
    if (a.k == 1 && *n >= 5) return known(0);
    return a.k % (int64_t(1) << *n) == 0 ? known(a.k >> *n) : kVarying;
  }

  // Any function of uniform values is uniform.
  Stride all_uniform(const VirtualOp& op) const {
    Stride result = known(0);
    for_each_operand(
        f_, op,
        [&](uint32_t id) {
          Stride s = of(id);
          if (result == kVarying) return;
          if (s == kUnset)
            result = kUnset;
          else if (!s.uniform())
            result = kVarying;
        },
        [](uint32_t) {});
    return result;
  }

  static Stride special(const VirtualOp& op) {
    switch (Special(op.imm & 255)) {
    case Special::tid_x:
    case Special::laneid: return known(1);
    case Special::lanemask_eq:
    case Special::lanemask_ge:
    case Special::lanemask_gt:
    case Special::lanemask_le:
    case Special::lanemask_lt: return kVarying;
    default: return known(0); // tid.y and tid.z: one-dimensional blocks
    }
  }

  Stride pure(const VirtualOp& op) const {
    switch (op.code) {
    case OpCode::mov_b32:
    case OpCode::mov_b64:
    case OpCode::low_b32:
    case OpCode::zext_b16:
    case OpCode::sext_b16:
    case OpCode::zext_b32:
    case OpCode::sext_b32: return of(op.a);
    case OpCode::add_b16:
    case OpCode::add_b32:
    case OpCode::add_b64: return add(of(op.a), of(op.b));
    case OpCode::or_b32:
    case OpCode::or_b64: // base | lane, when the base is aligned
      return of(op.a).uniform() || of(op.b).uniform() ? add(of(op.a), of(op.b)) : all_uniform(op);
    case OpCode::sub_b16:
    case OpCode::sub_b32:
    case OpCode::sub_b64: return add(of(op.a), of(op.b), -1);
    case OpCode::mul_lo_b16:
    case OpCode::mul_lo_b32:
    case OpCode::mul_lo_b64:
    case OpCode::mul_wide_s16:
    case OpCode::mul_wide_u16:
    case OpCode::mul_wide_s32:
    case OpCode::mul_wide_u32: return times(op.a, op.b);
    case OpCode::mad_lo_b16:
    case OpCode::mad_lo_b32:
    case OpCode::mad_lo_b64:
    case OpCode::mad_wide_s16:
    case OpCode::mad_wide_u16:
    case OpCode::mad_wide_s32:
    case OpCode::mad_wide_u32: return add(times(op.a, op.b), of(op.c));
    case OpCode::shl_b16:
    case OpCode::shl_b32:
    case OpCode::shl_b64:
      if (auto n = value(op.b); n && *n >= 0 && *n < 32 && of(op.a).kind == Stride::Kind::known)
        return known(of(op.a).k << *n);
      return all_uniform(op);
    case OpCode::shr_u32:
    case OpCode::shr_s32:
    case OpCode::shr_u64:
    case OpCode::shr_s64: return shift_right(op);
    case OpCode::and_b32:
    case OpCode::and_b64: return and_(op);
    case OpCode::selp_b32:
    case OpCode::selp_b64: return of(op.a) == of(op.b) ? of(op.a) : all_uniform(op);
    default: return all_uniform(op);
    }
  }

  Stride core(const VirtualOp& op) const {
    switch (op.code) {
    case OpCode::special: return special(op);
    case OpCode::frame_address:
    case OpCode::activemask:
    case OpCode::vote:
    case OpCode::redux:
    case OpCode::match:
    case OpCode::elect: return known(0);
    case OpCode::bar: return known(0);
    case OpCode::shfl: return (op.imm & 3) == 3 && of(op.b).uniform() ? known(0) : of(op.a);
    case OpCode::ld: {
      ptx::Space space = f_.mems[op.c].info.space;
      if (space == ptx::Space::local) return kVarying;
      return of(op.a) == kUnset ? kUnset : of(op.a).uniform() ? known(0) : kVarying;
    }
    default: return kVarying;
    }
  }

  bool visit(const VirtualOp& op) {
    bool changed = false;
    Stride s = is_pure(op.code) ? pure(op) : core(op);
    for_each_operand(f_, op, [](uint32_t) {}, [&](uint32_t id) { changed |= join(id, s); });
    return changed;
  }

  void annotate(const VirtualOp& op) {
    MemInfo& info = f_.mems[op.c].info;
    if (info.space == ptx::Space::local || info.frame) return;
    Stride s = of(op.a);
    if (s.uniform())
      info.pattern = AddressPattern::uniform;
    else if (s == known(int64_t(info.bytes) * info.vector))
      info.pattern = AddressPattern::affine;
  }

  VirtualFunction& f_;
  std::vector<Stride> stride_;
};

} // namespace

void find_address_patterns(VirtualFunction& f) { LanePatterns(f).run(); }

} // namespace assay::ir
