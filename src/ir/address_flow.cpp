// Flow of addresses through registers; see address_uses.hpp. PTX ISA 9.0, section 5.1, leaves to
// the system where variables lie; 9.7.13.15 makes the state of an mbarrier opaque, 9.7.9.21 a cache
// policy, 9.7.15 which register of a wmma fragment holds what.
//
// For each register: which objects' addresses its value may come from, and how. An address plus a
// distance that follows from no address is an address still; so are one of several (selp), and the
// difference of two addresses in one object follows from none. Its lowest bits are known as far as
// the object's alignment goes. All else is data, which must reach no memory, no branch and no
// address. Between blocks registers are taken without regard to the order of operations, and so is
// what local memory holds (arguments of calls too), byte by byte where offsets are known.
#include "ir/address_flow.hpp"
#include "ir/special.hpp"

#include <fmt/format.h>

namespace assay::ir {

bool is_wmma(const VirtualOp& op) { return op.instruction && op.instruction->opcode == "wmma"; }

AddressFlow::AddressFlow(const ptx::Module& module, const ModuleLayout& layout,
                         const Program& program, std::vector<VirtualFunction>& functions,
                         const std::vector<BufferPointer>& pointers)
    : layout_(layout), program_(program), functions_(functions), taken_(layout.address_taken) {
  for (const ptx::Variable& v : module.variables)
    if (v.space == ptx::Space::global || v.space == ptx::Space::constant) globals_.push_back(&v);
  prepare_variables();
  for (const BufferPointer& p : pointers) {
    bool function = p.buffer == kFunctionPointer;
    Object made;
    made.align = function ? 1 : std::max(p.align, 1u);
    made.one_place = !function;
    uint64_t bit = function ? objects_.bit(Kind::function, 0, made)
                            : objects_.bit(Kind::buffer, p.buffer, made);
    memory_.store(kParameterArea, p.offset, 8, {bit});
  }
  for (size_t n = 0; n < functions_.size(); ++n) {
    origins_.emplace_back(functions_[n].registers.size());
    prepare_calls(n);
    constants(n);
  }
}

std::optional<std::string> AddressFlow::run() {
  do {
    changed_ = false;
    for (size_t n = 0; n < functions_.size(); ++n) pass(n);
  } while (changed_);
  looking_ = true;
  for (size_t n = 0; n < functions_.size(); ++n) pass(n);
  return found_;
}

// Variables whose initialisers hold addresses.
void AddressFlow::prepare_variables() {
  for (const ptx::Variable* v : globals_) {
    Object made;
    made.align = alignment(*v);
    made.one_place = true;
    for (const ptx::Variable::Init& init : v->init) {
      if (!init.is_symbol) continue;
      auto it = layout_.symbols.find(init.symbol);
      if (it != layout_.symbols.end() && it->second.variable)
        made.holds |= variable(it->second.variable, 0).objects;
      else
        made.holds |= objects_.bit(Kind::function, 0, {});
    }
    if (made.holds) objects_.bit(Kind::variable, uint64_t(uintptr_t(v)), made);
  }
}

// An argument is stored before its call in the order of the text, and a result is loaded behind it.
void AddressFlow::prepare_calls(size_t n) {
  const auto& ops = functions_[n].ops;
  auto is_call = [](OpCode c) {
    return c == OpCode::call || c == OpCode::call_indirect || c == OpCode::vprintf ||
           c == OpCode::assertfail || c == OpCode::malloc_ || c == OpCode::free_;
  };
  Calls calls;
  calls.before.assign(ops.size(), kNoIndex);
  calls.next.assign(ops.size(), kNoIndex);
  for (uint32_t i = 1; i < ops.size(); ++i)
    calls.before[i] = is_call(ops[i - 1].code) ? i - 1 : calls.before[i - 1];
  for (uint32_t i = uint32_t(ops.size()); i-- > 0;)
    calls.next[i] = is_call(ops[i].code) ? i : i + 1 < ops.size() ? calls.next[i + 1] : kNoIndex;
  calls_.push_back(std::move(calls));
}

uint32_t AddressFlow::area_of(size_t n, uint32_t op) {
  auto fresh = uint32_t(2 + 2 * functions_.size() + areas_.size());
  return areas_.try_emplace({n, op}, fresh).first->second;
}

// The address of a module's or shared variable, the latter at offset `value`.
Origin AddressFlow::variable(const ptx::Variable* v, uint64_t) {
  Object made;
  made.align = alignment(*v);
  made.one_place = true;
  bool shared = v->space == ptx::Space::shared;
  bool dynamic = shared && v->linkage == ".extern" && !v->size_bytes(); // all at one place
  uint64_t bit = objects_.bit(shared ? Kind::shared : Kind::variable,
                              dynamic ? kDynamicMemory : uint64_t(uintptr_t(v)), made);
  return {bit, Form::address, shared, false, 0};
}

void AddressFlow::constants(size_t n) {
  const auto& registers = functions_[n].registers;
  for (size_t id = 0; id < registers.size(); ++id) {
    const VirtualRegister& r = registers[id];
    Origin& here = origins_[n][id];
    switch (r.named.what) {
    case Named::What::nothing: break;
    case Named::What::variable: here = variable(r.named.variable, r.value); break;
    case Named::What::parameters: {
      Object made;
      made.one_place = true;
      made.area = kParameterArea;
      made.end = std::max(program_.parameter_bytes, 1u);
      here = {objects_.bit(Kind::parameters, 0, made), Form::address, true, true, int64_t(r.value)};
      break;
    }
    case Named::What::function: here = {objects_.bit(Kind::function, 0, {})}; break;
    case Named::What::cache_policy: here = {objects_.bit(Kind::cache_policy, 0, {})}; break;
    }
    if (r.bits == 32 && !here.narrow) here = as(Form::low_part, here);
  }
}

void AddressFlow::pass(size_t n) {
  n_ = n;
  f_ = &functions_[n];
  at_ = &origins_[n];
  for (const Block& b : f_->blocks) {
    here_.clear();
    for (uint32_t i = b.first; i < b.end && !b.dropped; ++i) operation(i, f_->ops[i]);
    for (auto& [id, value] : here_) {
      Origin& there = (*at_)[id];
      Origin now = joined(there, value);
      changed_ |= now != there;
      there = now;
    }
  }
}

Origin AddressFlow::of(uint32_t id) const {
  if (id == kNoIndex) return {};
  auto written = here_.find(id);
  return written == here_.end() ? (*at_)[id] : written->second;
}

void AddressFlow::set(const VirtualOp& op, uint32_t id, const Origin& value) {
  if (id == kNoIndex) return;
  here_[id] = op.flags & kGuarded ? joined(of(id), value) : value;
}

void AddressFlow::used(const VirtualOp& op, const Origin& value) {
  if (!looking_ || found_ || value.none()) return;
  uint32_t line = op.instruction ? op.instruction->position.line : 0;
  std::string where = line ? fmt::format(" (PTX line {})", line) : "";
  found_ = "uses " + fmt::format(fmt::runtime(objects_.describe(value.objects)), where);
}

void AddressFlow::reached(const VirtualOp& op, uint32_t id) {
  Origin value = of(id);
  if (value.form != Form::address || !objects_.are_places(value.objects & ~Objects::kOthers))
    used(op, value);
}

void AddressFlow::operation(uint32_t i, const VirtualOp& op) {
  if (op.flags & kGuarded) used(op, of(op.guard));
  if (is_memory(op.code)) return memory(i, op);
  if (is_pure(op.code)) return set(op, op.d, computed(op));
  const bool wmma = op.code == OpCode::mma && is_wmma(op);
  Origin all, result = made(i, op);
  for_each_operand(
      *f_, op, [&](uint32_t id) { all = joined(all, of(id)); },
      [&](uint32_t id) { set(op, id, result); });
  switch (op.code) {
  case OpCode::call_indirect:
  case OpCode::stackrestore: return reached(op, op.a);
  case OpCode::vprintf: // what is printed is no result
  case OpCode::assertfail: return;
  case OpCode::isspacep:
    if (all.form != Form::address || all.narrow) used(op, all);
    return;
  default: break;
  }
  if (wmma && objects_.only(all.objects, Kind::fragment)) return;
  used(op, all);
}

// What an operation brings into the world.
Origin AddressFlow::made(uint32_t i, const VirtualOp& op) {
  switch (op.code) {
  case OpCode::frame_address: return frame_address(uint32_t(op.imm));
  case OpCode::alloca_: {
    Object o;
    o.align = op.imm ? uint32_t(op.imm) : 16;
    o.area = area_of(n_, i);
    o.end = 1u << 30;
    return {objects_.bit(Kind::local, uint64_t(n_) << 32 | i, o), Form::address, true, true, 0};
  }
  case OpCode::stacksave: return unknown_place();
  case OpCode::special: {
    uint64_t index = op.imm >> 8;
    if (Special(op.imm & 255) == Special::reserved_smem) {
      Object o;
      o.one_place = true;
      return {objects_.bit(Kind::shared, kReservedMemory + index, o), Form::address, true, false,
              0};
    }
    if (Special(op.imm & 255) != Special::envreg || (index != 1 && index != 2)) return {};
    return {objects_.bit(Kind::workspace, 0, {}), Form::data};
  }
  case OpCode::mma:
    if (is_wmma(op)) return {objects_.bit(Kind::fragment, 0, {}), Form::data};
    return {};
  default: return {};
  }
}

Origin AddressFlow::frame_address(uint32_t offset) {
  const FrameVariable* within = nullptr;
  for (const FrameVariable& v : f_->frame)
    if (v.offset <= offset && (!within || v.offset > within->offset)) within = &v;
  if (!within || offset >= f_->local_bytes) return unknown_place();
  Object o;
  o.align = alignment(*within->variable);
  o.one_place = f_->is_kernel; // a function may have several frames at once
  uint32_t arguments =
      f_->is_kernel ? 0 : signature_layout(f_->source->params, f_->source->returns).bytes;
  o.area = offset < arguments ? incoming(n_) : own(n_);
  o.begin = within->offset;
  o.end = within->offset + uint32_t(std::max<uint64_t>(within->variable->size_bytes(), 1));
  uint64_t bit = objects_.bit(Kind::local, uint64_t(uintptr_t(within->variable)), o);
  return {bit, Form::address, true, true, offset};
}

} // namespace assay::ir
