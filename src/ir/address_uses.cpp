// Flow of addresses through registers; see address_uses.hpp. PTX ISA 9.0, section 5.1, leaves to
// the system where variables lie.
//
// For each register: which buffers' addresses its value may come from, and how. An address plus a
// distance that follows from no address is an address still; so are one of several (selp), and the
// difference of two addresses in one buffer follows from none. Its lowest bits are known as far as
// the allocation's alignment goes. All else is data, which must reach no memory, no branch and no
// address. Between blocks registers are taken without regard to the order of operations, and
// what local memory holds (arguments of calls too) as one register.
#include "ir/address_uses.hpp"
#include "ir/flow.hpp"
#include "ir/function_lowering.hpp"
#include "ir/simplify.hpp"

#include <algorithm>
#include <bit>

namespace assay::ir {
namespace {

enum class Form : uint8_t {
  address,  // of a byte in one of the buffers, or behind it
  low_part, // the low bits of one
  data,     // anything else that follows from one
};

struct Origin {
  uint64_t buffers = 0; // a bit each; none: follows from no address
  Form form = Form::address;
  bool operator==(const Origin&) const = default;
  bool none() const { return buffers == 0; }
};

constexpr uint32_t kOthers = 63; // the bit of all buffers from the 64th on

Origin joined(Origin a, Origin b) {
  if (a.none()) return b;
  if (b.none()) return a;
  return {a.buffers | b.buffers, std::max(a.form, b.form)};
}

Origin as(Form form, Origin a) { return {a.buffers, std::max(form, a.form)}; }

bool is_compare(OpCode code) {
  switch (code) {
  case OpCode::setp_eq_b64:
  case OpCode::setp_ne_b64:
  case OpCode::setp_lt_u64:
  case OpCode::setp_le_u64:
  case OpCode::setp_lt_s64:
  case OpCode::setp_le_s64: return true;
  default: return false;
  }
}

class AddressUses {
public:
  AddressUses(const Program& layout, std::vector<VirtualFunction>& functions,
              const std::vector<BufferPointer>& pointers)
      : layout_(layout), functions_(functions), pointers_(pointers), aligned_(~uint64_t(0)) {
    for (const BufferPointer& p : pointers)
      aligned_ = std::min<uint64_t>(aligned_, p.align ? p.align : 1);
    if (!layout.globals.empty()) aligned_ = 1;
  }

  std::optional<uint32_t> run() {
    for (const VirtualFunction& f : functions_) origins_.emplace_back(f.registers.size());
    for (size_t n = 0; n < functions_.size(); ++n) constants(n);
    do {
      changed_ = false;
      for (size_t n = 0; n < functions_.size(); ++n) pass(n);
    } while (changed_);
    looking_ = true;
    for (size_t n = 0; n < functions_.size(); ++n) pass(n);
    return found_;
  }

private:
  static Origin origin(const BufferPointer& p) {
    return {uint64_t(1) << std::min(p.buffer, kOthers), Form::address};
  }

  void constants(size_t n) {
    const auto& registers = functions_[n].registers;
    for (size_t id = 0; id < registers.size(); ++id) {
      const VirtualRegister& r = registers[id];
      if (!r.constant || r.source != Constant::Source::value || r.bits != 64) continue;
      if (r.value == window_base(kParamWindow)) // parameters are read by generic addresses
        for (const BufferPointer& p : pointers_) local_ = joined(local_, origin(p));
      uint64_t index = window_of(r.value) - kFirstModuleWindow;
      if (window_of(r.value) < kFirstModuleWindow || index >= layout_.globals.size()) continue;
      if (offset_of(r.value) <= layout_.globals[index].bytes)
        origins_[n][id] = {uint64_t(1) << kOthers, Form::address};
    }
  }

  void pass(size_t n) {
    f_ = &functions_[n];
    at_ = &origins_[n];
    for (const Block& b : f_->blocks) {
      here_.clear();
      for (uint32_t i = b.first; i < b.end && !b.dropped; ++i) operation(f_->ops[i]);
      for (auto& [id, value] : here_) {
        Origin& there = (*at_)[id];
        Origin now = joined(there, value);
        changed_ |= now != there;
        there = now;
      }
    }
  }

  Origin of(uint32_t id) const {
    if (id == kNoIndex) return {};
    auto written = here_.find(id);
    return written == here_.end() ? (*at_)[id] : written->second;
  }

  void set(const VirtualOp& op, uint32_t id, Origin value) {
    if (id == kNoIndex) return;
    here_[id] = op.flags & kGuarded ? joined(of(id), value) : value;
  }

  void used(const VirtualOp& op, Origin value) {
    if (!looking_ || found_ || value.none()) return;
    found_ = op.instruction ? op.instruction->position.line : 0;
  }

  void reached(const VirtualOp& op, uint32_t id) {
    if (of(id).form != Form::address) used(op, of(id));
  }

  void operation(const VirtualOp& op) {
    if (op.flags & kGuarded) used(op, of(op.guard));
    if (is_memory(op.code)) return memory(op);
    if (is_pure(op.code)) return set(op, op.d, computed(op));
    Origin all;
    for_each_operand(
        *f_, op, [&](uint32_t id) { all = joined(all, of(id)); },
        [&](uint32_t id) { set(op, id, {}); });
    bool takes_addresses =
        op.code == OpCode::isspacep || op.code == OpCode::vprintf || op.code == OpCode::assertfail;
    if (!takes_addresses) used(op, all);
  }

  // 64-bit values with two operands; the compares follow from their order alone.
  Origin computed(const VirtualOp& op) {
    const OperandRoles& r = roles(op.code);
    Origin a = r.a ? of(op.a) : Origin{}, b = r.b ? of(op.b) : Origin{},
           c = r.c ? of(op.c) : Origin{}, all = joined(joined(a, b), c);
    if (all.none()) return all;
    switch (op.code) {
    case OpCode::mov_b32:
    case OpCode::mov_b64: return a;
    case OpCode::selp_b32:
    case OpCode::selp_b64: return c.none() ? joined(a, b) : as(Form::data, all);
    case OpCode::add_b32:
    case OpCode::add_b64: return a.none() || b.none() ? all : as(Form::data, all);
    case OpCode::sub_b64:
      if (same_buffer(a, b)) return {};
      [[fallthrough]];
    case OpCode::sub_b32: return b.none() ? a : as(Form::data, all);
    case OpCode::mad_lo_b64:
    case OpCode::mad_wide_s32:
    case OpCode::mad_wide_u32: return a.none() && b.none() ? c : as(Form::data, all);
    case OpCode::low_b32:
    case OpCode::low_b16:
    case OpCode::zext_b8:
    case OpCode::zext_b16:
    case OpCode::zext_b32: return as(Form::low_part, a);
    case OpCode::and_b32:
    case OpCode::and_b64: return masked(op, a, b);
    default: break;
    }
    if (is_compare(op.code) && (same_buffer(a, b) || against_null(op, a, b))) return {};
    return as(Form::data, all);
  }

  bool same_buffer(Origin a, Origin b) const {
    return a == b && a.form == Form::address && std::has_single_bit(a.buffers) &&
           !(a.buffers >> kOthers);
  }

  bool is_value(uint32_t id, uint64_t& value) const {
    const VirtualRegister& r = f_->registers[id];
    value = r.value;
    return r.constant && r.source == Constant::Source::value;
  }

  // No buffer begins at zero, wherever it lies.
  bool against_null(const VirtualOp& op, Origin a, Origin b) const {
    if (op.code != OpCode::setp_eq_b64 && op.code != OpCode::setp_ne_b64) return false;
    uint64_t value = 1;
    Origin pointer = a.none() ? b : a;
    return a.none() != b.none() && is_value(a.none() ? op.a : op.b, value) && value == 0 &&
           pointer.form == Form::address;
  }

  // Bits below the alignment are the same wherever the buffer lies.
  Origin masked(const VirtualOp& op, Origin a, Origin b) const {
    uint64_t mask = 0;
    Origin value = a.none() ? b : a;
    if (a.none() == b.none() || !is_value(a.none() ? op.a : op.b, mask) || value.form == Form::data)
      return as(Form::data, joined(a, b));
    if (mask < aligned_) return {};
    if (op.code == OpCode::and_b64 && ~mask < aligned_) return value;
    return as(Form::data, value);
  }

  void memory(const VirtualOp& op) {
    const VirtualMem& m = f_->mems[op.c];
    reached(op, op.a);
    if (op.code == OpCode::cp_async) {
      reached(op, op.b);
      used(op, joined(of(m.src_size), of(m.ignore_src)));
      return;
    }
    if (op.code == OpCode::prefetch) return;
    if (is_mbarrier(op.code)) {
      if (roles(op.code).b) used(op, of(op.b));
      if (roles(op.code).d) set(op, op.d, {});
      return;
    }
    bool local = m.info.space == ptx::Space::local;
    if (op.code == OpCode::ld) {
      for (unsigned k = 0; k < m.info.vector; ++k) set(op, m.regs[k], loaded(op, m.info, k));
      return;
    }
    set(op, roles(op.code).d ? op.d : kNoIndex, {});
    for (uint32_t id : m.regs) {
      Origin value = of(id);
      if (op.code != OpCode::st || !local)
        used(op, value);
      else if (Origin now = joined(local_, value); now != local_)
        local_ = now, changed_ = true;
    }
  }

  Origin loaded(const VirtualOp& op, const MemInfo& info, unsigned k) const {
    bool maybe_local = info.space == ptx::Space::local || info.space == ptx::Space::none;
    if (maybe_local && info.register_bits == 64) return local_;
    if (info.space != ptx::Space::param_entry) return {};
    Origin all;
    uint64_t from = op.imm + uint64_t(k) * info.bytes;
    for (const BufferPointer& p : pointers_) {
      bool whole = info.bytes == 8 && (from == p.offset || op.a != kNoIndex);
      if (op.a == kNoIndex && (from >= p.offset + 8 || from + info.bytes <= p.offset)) continue;
      bool low = op.a == kNoIndex && from == p.offset;
      all = joined(all, as(whole ? Form::address : low ? Form::low_part : Form::data, origin(p)));
    }
    return all;
  }

  const Program& layout_;
  std::vector<VirtualFunction>& functions_;
  const std::vector<BufferPointer>& pointers_;
  uint64_t aligned_; // of all buffers
  std::vector<std::vector<Origin>> origins_;
  Origin local_; // of what local memory holds
  bool changed_ = false, looking_ = false;
  std::optional<uint32_t> found_;
  std::unordered_map<uint32_t, Origin> here_; // written in this block so far
  const VirtualFunction* f_ = nullptr;
  std::vector<Origin>* at_ = nullptr;
};

} // namespace

std::optional<uint32_t> address_used_as_data(const Program& program,
                                             const std::vector<BufferPointer>& pointers) {
  const ptx::Module& module = *program.module;
  const ptx::Function* kernel = nullptr;
  for (const ptx::Function& f : module.functions)
    if (f.has_body && f.is_entry && f.name == program.kernel) kernel = &f;
  CHECK(kernel);
  Program again; // as lower() had it, for its layout
  again.module = program.module;
  Result<ModuleLayout> layout = lay_out(module, *kernel, again);
  CHECK(layout);
  std::vector<VirtualFunction> functions;
  for (size_t i = 0; i < layout->functions.size(); ++i) {
    auto f = FunctionLowering(module, *layout, *layout->functions[i], i == 0).run();
    CHECK(f);
    analyse_flow(*f);
    simplify(*f);
    functions.push_back(std::move(*f));
  }
  return AddressUses(again, functions, pointers).run();
}

} // namespace assay::ir
