// Addresses that go through memory; see address_flow.cpp. Parameters and local memory are followed;
// what is stored to global or shared memory is used.
#include "ir/address_flow.hpp"

namespace assay::ir {

void AddressFlow::memory(uint32_t i, const VirtualOp& op) {
  const VirtualMem& m = f_->mems[op.c];
  reached(op, op.a);
  if (op.code == OpCode::prefetch) return;
  if (op.code == OpCode::cp_async) {
    reached(op, op.b);
    used(op, joined(of(m.src_size), of(m.ignore_src)));
    Origin held{held_at(op), Form::data}; // goes to shared memory
    return used(op, held);
  }
  if (is_mbarrier(op.code)) return mbarrier(op);
  const bool matrix = op.code == OpCode::ldmatrix;
  if (op.code == OpCode::ld || matrix) {
    for (unsigned k = 0; k < 8; ++k)
      if (m.regs[k] != kNoIndex) set(op, m.regs[k], matrix ? Origin{} : loaded(i, op, m.info, k));
    return;
  }
  set(op, roles(op.code).d ? op.d : kNoIndex, {});
  for (unsigned k = 0; k < 8; ++k) {
    if (m.regs[k] == kNoIndex) continue;
    if (op.code == OpCode::st)
      store(i, op, m.info, k, m.regs[k]);
    else if (op.code == OpCode::atom && m.info.vector > 1 && k >= m.info.vector)
      set(op, m.regs[k], {});
    else
      used(op, of(m.regs[k]));
  }
}

// The state that an arrival returns may go to a wait, and nowhere else.
void AddressFlow::mbarrier(const VirtualOp& op) {
  if (roles(op.code).b) {
    Origin state = of(op.b);
    bool waits = op.code == OpCode::mbarrier_wait && !(op.flags & kParity);
    if (!waits || state.form != Form::address || !objects_.only(state.objects, Kind::barrier_state))
      used(op, state);
  }
  if (!roles(op.code).d) return;
  bool arrives = op.code == OpCode::mbarrier_arrive;
  set(op, op.d, arrives ? Origin{objects_.bit(Kind::barrier_state, 0, {})} : Origin{});
}

void AddressFlow::store(uint32_t i, const VirtualOp& op, const MemInfo& info, unsigned k,
                        uint32_t id) {
  Origin value = of(id);
  if (is_wmma(op) && !value.none() && objects_.only(value.objects, Kind::fragment)) return;
  Places to = places(i, op, info, int64_t(k) * info.bytes);
  if (to.elsewhere || to.anywhere) used(op, value);
  if (to.anywhere) memory_.store_anywhere();
  for (const Range& r : to.followed)
    changed_ |= r.exact ? memory_.store(r.area, r.at, info.bytes, value)
                        : memory_.store_within(r.area, r.begin, r.end, info.bytes, value);
}

Origin AddressFlow::loaded(uint32_t i, const VirtualOp& op, const MemInfo& info, unsigned k) {
  Places from = places(i, op, info, int64_t(k) * info.bytes);
  Origin all;
  if (is_wmma(op)) all = {objects_.bit(Kind::fragment, 0, {}), Form::data};
  if (from.anywhere) all = joined(all, as(Form::data, memory_.everything()));
  for (const Range& r : from.followed)
    all = joined(all, r.exact ? memory_.load(r.area, r.at, info.bytes)
                              : memory_.load_within(r.area, r.begin, r.end, info.bytes));
  if (from.elsewhere)
    all = joined(all, {held_at(op), info.bytes == 8 ? Form::address : Form::data});
  return all;
}

// Objects whose addresses the initialisers hold of the variables that an access may reach.
uint64_t AddressFlow::held_at(const VirtualOp& op) const {
  const bool copy = op.code == OpCode::cp_async;
  const uint32_t base = copy ? op.b : op.a;
  uint64_t held = 0, objects = of(base).objects, absolute = copy ? kNoIndex : op.imm;
  auto add = [&](const Object& o) { held |= o.holds; };
  objects_.each(objects & ~Objects::kOthers, add);
  if (copy && f_->registers[base].constant) absolute = f_->registers[base].value;
  const bool all = objects & Objects::kOthers;
  if (base != kNoIndex && !copy && !all) return held;
  for (size_t g = 0; g < globals_.size(); ++g) {
    if (!all && window_of(absolute) != kFirstModuleWindow + g) continue;
    if (const Object* o = objects_.known(Kind::variable, uint64_t(uintptr_t(globals_[g])))) add(*o);
  }
  return held;
}

AddressFlow::Places AddressFlow::places(uint32_t i, const VirtualOp& op, const MemInfo& info,
                                        int64_t more) {
  Places p;
  const int64_t offset = int64_t(op.imm) + more;
  const ptx::Space space = info.space;
  if (info.frame) {
    p.followed.push_back(in_frame(i, op, uint32_t(offset)));
    return p;
  }
  const bool parameters = space == ptx::Space::param_entry, local = space == ptx::Space::local;
  if (parameters && op.a == kNoIndex) {
    p.followed.push_back({kParameterArea, true, offset});
    return p;
  }
  if (!parameters && !local && space != ptx::Space::none) {
    p.elsewhere = true;
    return p;
  }
  Origin a = of(op.a);
  p.anywhere = a.objects & Objects::kOthers;
  p.elsewhere = p.anywhere || (a.none() && space == ptx::Space::none);
  objects_.each(a.objects & ~Objects::kOthers, [&](const Object& o) {
    if (o.area == kNoArea)
      p.elsewhere = true;
    else
      p.followed.push_back({o.area, a.exact, a.at + offset, o.begin, o.end});
  });
  if (a.none() && (local || parameters)) p.anywhere = true;
  return p;
}

// A variable of the own frame, or an argument or result of a call.
AddressFlow::Range AddressFlow::in_frame(uint32_t i, const VirtualOp& op, uint32_t offset) {
  if (offset >= f_->local_bytes) return {call_area(i, op), true, int64_t(offset) - f_->local_bytes};
  uint32_t arguments =
      f_->is_kernel ? 0 : signature_layout(f_->source->params, f_->source->returns).bytes;
  return {offset < arguments ? incoming(n_) : own(n_), true, offset};
}

uint32_t AddressFlow::call_area(uint32_t i, const VirtualOp& op) {
  const Calls& calls = calls_[n_];
  uint32_t call = calls.next[i];
  // Calls of the runtime load their arguments themselves.
  bool argument = op.code == OpCode::st || (call != kNoIndex && op.instruction &&
                                            f_->ops[call].instruction == op.instruction);
  if (!argument) call = calls.before[i];
  if (call == kNoIndex) return own(n_);
  switch (f_->ops[call].code) {
  case OpCode::call: return incoming(f_->ops[call].imm);
  case OpCode::call_indirect: return kIndirectArea;
  default: return area_of(n_, call);
  }
}

} // namespace assay::ir
