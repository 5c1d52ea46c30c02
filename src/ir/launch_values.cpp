// Frame constants instead of operations; see launch_values.hpp. A register that is written once is
// one only if no path reads it earlier, where its value is undefined.
#include "ir/launch_values.hpp"
#include "ir/definitions.hpp"
#include "ir/special.hpp"

namespace assay::ir {
namespace {

class LaunchValues {
public:
  LaunchValues(VirtualFunction& f, uint32_t parameter_bytes)
      : f_(f), definitions_(f), parameter_bytes_(parameter_bytes) {}

  void run() {
    find_early_readings();
    std::vector<bool> gone(f_.ops.size());
    for (const Block& b : f_.blocks)
      for (uint32_t i = b.first; i < b.end && !b.dropped; ++i) gone[i] = special(i) || parameter(i);
    std::vector<VirtualOp> kept;
    kept.reserve(f_.ops.size());
    for (Block& b : f_.blocks) {
      auto first = uint32_t(kept.size());
      for (uint32_t i = b.first; i < b.end; ++i)
        if (!gone[i]) kept.push_back(f_.ops[i]);
      b.first = first;
      b.end = uint32_t(kept.size());
    }
    f_.ops = std::move(kept);
  }

private:
  void find_early_readings() {
    read_early_.assign(f_.registers.size(), false);
    for (const Block& b : f_.blocks)
      for (uint32_t i = b.first; i < b.end && !b.dropped; ++i)
        for_each_operand(
            f_, f_.ops[i],
            [&](uint32_t id) {
              if (!definitions_.defined_once_before(id, i)) read_early_[id] = true;
            },
            [](uint32_t) {});
  }
  bool only_definition(uint32_t id, uint32_t i) const {
    return id == kNoIndex || (definitions_.single(id) == i && !read_early_[id]);
  }
  void fix(uint32_t id, Constant::Source source, uint64_t value) {
    if (id == kNoIndex) return;
    f_.registers[id].constant = true;
    f_.registers[id].source = source;
    f_.registers[id].value = value;
  }

  bool special(uint32_t i) {
    const VirtualOp& op = f_.ops[i];
    if (op.code != OpCode::special || op.flags & kGuarded || op.imm > 255) return false;
    if (!is_fixed_place(Special(op.imm)) || !only_definition(op.d, i)) return false;
    if (f_.registers[op.d].slots() != 1) return false;
    fix(op.d, Constant::Source::special, op.imm);
    return true;
  }

  bool parameter(uint32_t i) {
    const VirtualOp& op = f_.ops[i];
    if (op.code != OpCode::ld || op.flags & kGuarded || op.a != kNoIndex) return false;
    const VirtualMem& m = f_.mems[op.c];
    const MemInfo& info = m.info;
    if (info.space != ptx::Space::param_entry || info.register_bits != info.bytes * 8 ||
        (info.bytes != 4 && info.bytes != 8) ||
        op.imm + uint64_t(info.bytes) * info.vector > parameter_bytes_ || op.imm % info.bytes)
      return false;
    for (unsigned k = 0; k < info.vector; ++k)
      if (!only_definition(m.regs[k], i)) return false;
    for (unsigned k = 0; k < info.vector; ++k)
      fix(m.regs[k], Constant::Source::parameter, op.imm + uint64_t(info.bytes) * k);
    return true;
  }

  VirtualFunction& f_;
  const Definitions definitions_;
  std::vector<bool> read_early_; // on some path before its only definition, or written twice
  const uint32_t parameter_bytes_;
};

} // namespace

void keep_launch_values(VirtualFunction& f, uint32_t parameter_bytes) {
  if (f.is_kernel) LaunchValues(f, parameter_bytes).run();
}

} // namespace assay::ir
