// The checks that hold after lowering; see program.hpp. A violation is our own mistake.
#include "ir/virtual_code.hpp"

#include <fmt/format.h>

namespace assay::ir {
namespace {

class Verifier {
public:
  explicit Verifier(const Program& p) : p_(p) {}

  Result<void> run() {
    if (p_.sites.size() != p_.ops.size()) return wrong(0, "sites are not parallel to ops");
    if (p_.functions.empty() || p_.functions[0].name != p_.kernel)
      return wrong(0, "function 0 is not the kernel");
    find_starts();
    for (uint32_t i = 0; i < p_.ops.size(); ++i) {
      auto r = op(i);
      if (!r) return r;
    }
    return {};
  }

private:
  static Error wrong(uint32_t i, std::string what) {
    return {ErrorCode::internal, fmt::format("op {}: {}", i, what), {}, {}};
  }

  void find_starts() {
    owner_.assign(p_.ops.size(), 0);
    starts_.assign(p_.ops.size(), false);
    for (uint32_t f = 0; f < p_.functions.size(); ++f) {
      uint32_t end =
          f + 1 < p_.functions.size() ? p_.functions[f + 1].entry : uint32_t(p_.ops.size());
      for (uint32_t i = p_.functions[f].entry; i < end; ++i) owner_[i] = f;
      if (p_.functions[f].entry < starts_.size()) starts_[p_.functions[f].entry] = true;
    }
    for (uint32_t i = 0; i + 1 < p_.ops.size(); ++i)
      if (is_terminator(p_.ops[i].code)) starts_[i + 1] = true;
  }

  // A target must start a block of the same function.
  bool target(uint32_t from, uint64_t to) const {
    return to < p_.ops.size() && starts_[to] && owner_[to] == owner_[from];
  }
  bool join(uint32_t from, uint64_t to) const {
    return to == kNoIndex || (target(from, to) && p_.ops[to].code == OpCode::join);
  }
  bool inside(uint32_t i, Slot slot) const {
    return slot == kNoSlot || slot < p_.functions[owner_[i]].slots;
  }

  Result<void> op(uint32_t i) {
    const Op& op = p_.ops[i];
    if (op.code >= OpCode::count) return wrong(i, "no operation code");
    if (i + 1 == p_.ops.size() || owner_[i + 1] != owner_[i])
      if (!is_terminator(op.code)) return wrong(i, "the function does not end in a terminator");
    if ((op.flags & kGuarded) && (!may_be_guarded(op.code) || op.guard == kNoSlot))
      return wrong(i, fmt::format("{} cannot be guarded", name(op.code)));
    if (op.code == OpCode::join && !starts_[i]) return wrong(i, "join inside a block");
    OperandRoles r = roles(op.code);
    if ((r.d && !inside(i, op.d)) || (r.a && !inside(i, op.a)) || (r.b && !inside(i, op.b)) ||
        (r.c && !inside(i, op.c)) || !inside(i, op.guard))
      return wrong(i, "slot outside of the frame");
    if (auto bad = lists(i); !bad.empty()) return wrong(i, bad);
    return control(i);
  }

  std::string lists(uint32_t i) const {
    const Op& op = p_.ops[i];
    if (is_memory(op.code)) {
      if (op.c >= p_.mem.size()) return "no memory description";
      const MemInfo& m = p_.mem[op.c];
      for (Slot s : m.regs)
        if (!inside(i, s)) return "memory operand outside of the frame";
      if (!inside(i, m.src_size) || !inside(i, m.ignore_src))
        return "memory operand outside of the frame";
      if (m.bytes == 0 || (m.bytes & (m.bytes - 1)) || m.bytes > 16)
        return "impossible access size";
    }
    if (op.code == OpCode::shfl && (op.imm >> 8) + 2 > p_.extra.size())
      return "operand list out of range";
    if (op.code == OpCode::assertfail && op.imm + 4 > p_.extra.size())
      return "operand list out of range";
    if (op.code == OpCode::mma) {
      if (op.imm >= p_.mmas.size()) return "no mma description";
      const MmaInfo& m = p_.mmas[op.imm];
      for (const auto* list : {&m.a, &m.b, &m.c, &m.d})
        for (Slot s : *list)
          if (!inside(i, s)) return "mma operand outside of the frame";
    }
    return {};
  }

  Result<void> control(uint32_t i) const {
    const Op& op = p_.ops[i];
    bool good = true;
    if (op.code == OpCode::jump) good = target(i, op.imm);
    if (op.code == OpCode::branch)
      good = target(i, op.imm & 0xffffffff) && join(i, op.imm >> 32) && target(i, i + 1) &&
             op.a != kNoSlot;
    if (op.code == OpCode::call) good = op.imm < p_.functions.size() && target(i, i + 1);
    if (op.code == OpCode::brx) {
      if (op.imm >= p_.tables.size()) return wrong(i, "no branch table");
      good = join(i, p_.tables[op.imm].reconverge);
      for (uint32_t t : p_.tables[op.imm].targets) good &= target(i, t);
    }
    if (!good) return wrong(i, fmt::format("{} to no block", name(op.code)));
    return {};
  }

  const Program& p_;
  std::vector<uint32_t> owner_; // function of each op
  std::vector<bool> starts_;    // ops that start a block
};

} // namespace

Result<void> verify(const Program& program) { return Verifier(program).run(); }

} // namespace assay::ir
