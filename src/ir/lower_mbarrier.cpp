// PTX ISA 9.0, section 9.7.13.15 (mbarrier in all forms on objects of the own CTA, among them
// cp.async.mbarrier.arrive) and 9.7.13.13 (griddepcontrol).
#include "ir/function_lowering.hpp"

namespace assay::ir {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

// One operation on the object at an address. Where no state space is given the address is generic;
// one of shared::cluster is of the own CTA, since clusters have one CTA here.
Result<void> FunctionLowering::mbarrier(const ptx::Instruction& in, OpCode code,
                                        const Operand& object, Value d, Value b, uint16_t flags) {
  Modifiers mods(in);
  auto a = address(object);
  if (!a) return a.error();
  VirtualMem m;
  Space space = a->space != Space::none ? a->space : mods.space();
  if (space == Space::shared_cta || space == Space::shared_cluster) space = Space::shared;
  if (space != Space::shared && space != Space::none) return not_executed(in);
  m.info.space = space;
  m.info.type = Type::b64;
  m.info.bytes = 8;
  m.info.register_bits = 64;
  m.info.address64 = a->wide;
  bool plain = code == OpCode::mbarrier_init || code == OpCode::mbarrier_inval;
  bool waits = code == OpCode::mbarrier_wait;
  // Section 9.7.13.15: arrivals release and waits acquire unless they are .relaxed; the scope is
  // .cta unless it is given. Transaction counts are relaxed.
  bool relaxed = mods.has(".relaxed") || code == OpCode::mbarrier_tx;
  m.info.semantics = plain     ? Semantics::weak
                     : relaxed ? Semantics::relaxed
                     : waits   ? Semantics::acquire
                               : Semantics::release;
  m.info.scope = plain ? Scope::none : mods.scope() == Scope::none ? Scope::cta : mods.scope();
  f_.mems.push_back(m);
  emit(code, d, a->base, b, Value{uint32_t(f_.mems.size() - 1)}, uint64_t(a->offset), flags);
  return {};
}

Result<void> FunctionLowering::lower_mbarrier(const ptx::Instruction& in) {
  Modifiers mods(in);
  const std::vector<Operand>& o = in.operands;
  auto value = [&](size_t i, Type type) -> Result<Value> {
    return i < o.size() ? source(o[i], type) : Result<Value>(Value{});
  };
  if (mods.has(".pending_count")) {
    auto d = dest(o.at(0), Type::u32);
    if (!d) return d.error();
    auto state = source(o.at(1), Type::b64);
    if (!state) return state.error();
    emit(OpCode::mbarrier_pending, *d, *state);
    return {};
  }
  if (mods.has(".init") || mods.has(".inval")) {
    auto count = value(1, Type::u32);
    if (!count) return count.error();
    return mbarrier(in, mods.has(".init") ? OpCode::mbarrier_init : OpCode::mbarrier_inval, o.at(0),
                    {}, *count);
  }
  bool arrives = mods.has(".arrive") || mods.has(".arrive_drop");
  if (!arrives && (mods.has(".expect_tx") || mods.has(".complete_tx"))) {
    auto bytes = value(1, Type::u32);
    if (!bytes) return bytes.error();
    return mbarrier(in, OpCode::mbarrier_tx, o.at(0), {}, *bytes,
                    mods.has(".complete_tx") ? kCompleteTx : 0);
  }
  bool waits = mods.has(".test_wait") || mods.has(".try_wait");
  if ((!arrives && !waits) || o.size() < 2) return not_executed(in);
  Value d;
  if (o[0].kind != Operand::Kind::sink) {
    auto r = dest(o[0], arrives ? Type::b64 : Type::pred);
    if (!r) return r.error();
    d = *r;
  }
  bool parity = mods.has(".parity");
  auto b = value(2, arrives || parity ? Type::u32 : Type::b64);
  if (!b) return b.error();
  uint16_t flags = 0;
  if (mods.has(".arrive_drop")) flags |= kDrop;
  if (mods.has(".noComplete")) flags |= kNoComplete;
  if (mods.has(".expect_tx")) flags |= kExpectTx;
  if (parity) flags |= kParity;
  if (waits && !d.valid()) d = temp(1);
  // The hint of try_wait is a time: waiting is the scheduler's business.
  return mbarrier(in, arrives ? OpCode::mbarrier_arrive : OpCode::mbarrier_wait, o[1], d, *b,
                  flags);
}

// cp.async.mbarrier.arrive{.noinc}.b64 [addr]
Result<void> FunctionLowering::lower_cp_arrive(const ptx::Instruction& in) {
  uint32_t over = guard_.valid() ? branch_around() : kNoIndex;
  auto done = mbarrier(in, OpCode::cp_async_arrive, in.operands.at(0), {}, {},
                       Modifiers(in).has(".noinc") ? kNoIncrement : 0);
  if (over != kNoIndex) place_label(over);
  return done;
}

Result<void> FunctionLowering::lower_griddepcontrol(const ptx::Instruction& in) {
  emit(OpCode::grid_dependents, {}, {}, {}, {}, Modifiers(in).has(".wait"));
  return {};
}

} // namespace assay::ir
