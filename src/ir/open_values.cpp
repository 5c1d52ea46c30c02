// Checks for values that the manual leaves open; see open_values.hpp. Sources: PTX ISA 9.0, section
// 9.7.1 (div, rem: "division by zero yields an unspecified, machine-specific value"; fns: a base
// above 31 is undefined); a register holds no defined value before an instruction has written it.
// The manual also leaves the sign of rem to the machine; CUDA C++ does not, and all machines round
// alike.
#include "ir/open_values.hpp"
#include "ir/slots.hpp"

#include <algorithm>

namespace assay::ir {
namespace {

bool is_division(OpCode code) {
  switch (code) {
  case OpCode::div_s16:
  case OpCode::div_u16:
  case OpCode::div_s32:
  case OpCode::div_u32:
  case OpCode::div_s64:
  case OpCode::div_u64:
  case OpCode::rem_s16:
  case OpCode::rem_u16:
  case OpCode::rem_s32:
  case OpCode::rem_u32:
  case OpCode::rem_s64:
  case OpCode::rem_u64: return true;
  default: return false;
  }
}

class OpenValues {
public:
  explicit OpenValues(VirtualFunction& f) : f_(f) {}

  void run() {
    find_watched();
    bool any = !watched_.empty();
    for (const Block& b : f_.blocks)
      for (uint32_t i = b.first; i < b.end && !b.dropped && !any; ++i)
        any = may_divide_by_zero(f_.ops[i]) || may_begin_outside(f_.ops[i]);
    if (any) rewrite();
  }

private:
  bool may_divide_by_zero(const VirtualOp& op) const {
    if (!is_division(op.code)) return false;
    const VirtualRegister& divisor = f_.registers[op.b];
    bool known = divisor.constant && divisor.source == Constant::Source::value;
    return !known || divisor.value == 0;
  }

  bool may_begin_outside(const VirtualOp& op) const {
    if (op.code != OpCode::fns_b32) return false;
    const VirtualRegister& base = f_.registers[op.b];
    bool known = base.constant && base.source == Constant::Source::value;
    return !known || base.value > 31;
  }

  // A plain copy reads nothing yet: what it writes is as written as what it reads.
  bool is_copy(const VirtualOp& op) const {
    bool mov =
        op.code == OpCode::mov_b32 || op.code == OpCode::mov_b64 || op.code == OpCode::mov_b128;
    return mov && f_.registers[op.d].slots() == f_.registers[op.a].slots();
  }

  void find_watched() {
    written_.assign(f_.registers.size(), kNoIndex);
    watched_ = maybe_unwritten(f_);
    for (size_t n = 0; n < watched_.size(); ++n) written_[watched_[n]] = kPlanned;
    for (bool more = !watched_.empty(); more;) {
      more = false;
      for (const Block& b : f_.blocks)
        for (uint32_t i = b.first; i < b.end && !b.dropped; ++i) {
          const VirtualOp& op = f_.ops[i];
          if (!is_copy(op) || written_[op.a] == kNoIndex || written_[op.d] != kNoIndex) continue;
          written_[op.d] = kPlanned;
          watched_.push_back(op.d);
          more = true;
        }
    }
    for (uint32_t id : watched_) {
      written_[id] = uint32_t(f_.registers.size());
      f_.registers.push_back({.bits = 1});
    }
    if (watched_.empty()) return;
    yes_ = uint32_t(f_.registers.size());
    f_.registers.push_back({.bits = 1, .constant = true, .value = 0xffffffff});
  }

  void rewrite() {
    kept_.reserve(f_.ops.size() + 2 * watched_.size());
    for (Block& b : f_.blocks) {
      auto first = uint32_t(kept_.size());
      for (uint32_t i = b.first; i < b.end; ++i) {
        if (b.dropped) {
          kept_.push_back(f_.ops[i]);
          continue;
        }
        const VirtualOp op = f_.ops[i];
        if (!watched_.empty()) before(op);
        const bool divides = may_divide_by_zero(op), looks = divides || may_begin_outside(op);
        const uint32_t operand = looks ? kept_operand(op) : kNoIndex;
        kept_.push_back(op);
        if (!watched_.empty()) behind(op);
        if (looks) check(divides ? OpCode::check_divisor : OpCode::check_base, op, op.d, operand);
      }
      b.first = first;
      b.end = uint32_t(kept_.size());
    }
    f_.ops = std::move(kept_);
  }

  // The operand to look at behind the operation: a copy where the result takes its place.
  uint32_t kept_operand(const VirtualOp& op) {
    if (op.b != op.d) return op.b;
    VirtualOp copy;
    copy.code = f_.registers[op.b].bits == 64 ? OpCode::mov_b64 : OpCode::mov_b32;
    copy.a = op.b;
    copy.d = uint32_t(f_.registers.size());
    copy.instruction = op.instruction;
    f_.registers.push_back({.bits = f_.registers[op.b].bits});
    kept_.push_back(copy);
    return copy.d;
  }

  uint32_t written_of(uint32_t id) const { // registers of our own are not watched
    return id < written_.size() ? written_[id] : kNoIndex;
  }

  void check(OpCode code, const VirtualOp& of, uint32_t id, uint32_t a, bool guarded = true) {
    VirtualOp op;
    op.code = code;
    op.d = op.b = id;
    op.a = a;
    if (guarded && of.flags & kGuarded) {
      op.c = of.guard;
      if (of.flags & kGuardNegated) op.flags = kNegate;
    }
    op.imm = f_.registers[id].bits;
    op.instruction = of.instruction;
    kept_.push_back(op);
  }

  // Between a `meet` and its operation nothing stands.
  void before(const VirtualOp& op) {
    if (is_copy(op)) {
      if (op.flags & kGuarded && written_of(op.guard) != kNoIndex)
        check(OpCode::check_written, op, op.guard, written_of(op.guard), false);
      return;
    }
    bool meets = !kept_.empty() && kept_.back().code == OpCode::meet &&
                 kept_.back().instruction == op.instruction;
    VirtualOp meet;
    if (meets) {
      meet = kept_.back();
      kept_.pop_back();
    }
    std::vector<uint32_t> seen;
    for_each_operand(
        f_, op,
        [&](uint32_t id) {
          if (written_of(id) == kNoIndex || std::find(seen.begin(), seen.end(), id) != seen.end())
            return;
          seen.push_back(id);
          check(OpCode::check_written, op, id, written_of(id), id != op.guard);
        },
        [](uint32_t) {});
    if (meets) kept_.push_back(meet);
  }

  void behind(const VirtualOp& op) {
    std::vector<uint32_t> written;
    for_each_operand(
        f_, op, [](uint32_t) {},
        [&](uint32_t id) {
          if (written_of(id) != kNoIndex) written.push_back(id);
        });
    for (uint32_t id : written) {
      VirtualOp mark;
      mark.code = OpCode::mov_b32;
      mark.d = written_of(id);
      mark.a = is_copy(op) && written_of(op.a) != kNoIndex ? written_of(op.a) : yes_;
      mark.flags = op.flags & (kGuarded | kGuardNegated);
      mark.guard = op.guard;
      mark.instruction = op.instruction;
      kept_.push_back(mark);
    }
  }

  static constexpr uint32_t kPlanned = kNoIndex - 1;
  VirtualFunction& f_;
  std::vector<uint32_t> written_; // per register: its predicate, kNoIndex for none
  std::vector<uint32_t> watched_;
  uint32_t yes_ = kNoIndex;
  std::vector<VirtualOp> kept_;
};

} // namespace

void watch_open_values(VirtualFunction& f) { OpenValues(f).run(); }

} // namespace assay::ir
