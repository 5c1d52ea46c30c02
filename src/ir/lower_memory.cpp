// PTX ISA 9.0, section 9.7.9 (data movement: ld, ldu, st, prefetch, createpolicy, cvta, isspacep)
// and 9.7.14 (atom, red); qualifiers of the memory model from section 8.
#include "ir/function_lowering.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace assay::ir {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

// The space and the address of an access. A generic address that is written as a symbol's name
// means that symbol's own space.
Result<void> FunctionLowering::place_access(const ptx::Instruction& in, const Operand& operand,
                                            VirtualMem& m, VirtualOp& op) {
  if (operand.kind == Operand::Kind::address && operand.elements.size() != 1)
    return not_executed(in);
  auto a = address(operand);
  if (!a) return a.error();
  Space space = Modifiers(in).space();
  if (a->space != Space::none)
    space = a->space;
  else if (space == Space::param)
    space = f_.is_kernel ? Space::param_entry : Space::local;
  else if (space == Space::param_func)
    space = Space::local;
  else if (space == Space::shared_cta)
    space = Space::shared;
  else if (space == Space::shared_cluster)
    return not_executed(in);
  m.info.space = space;
  m.info.frame = a->frame;
  m.info.address64 = a->wide;
  op.a = a->base.id;
  op.imm = uint64_t(a->offset);
  return {};
}

// How strong the access is. False: a combination that is not executed.
bool FunctionLowering::set_semantics(const Modifiers& mods, VirtualMem& m) const {
  MemInfo& info = m.info;
  info.scope = mods.scope();
  for (const std::string& w : mods.words) {
    if (w == ".weak")
      info.semantics = Semantics::weak;
    else if (w == ".volatile")
      info.semantics = Semantics::volatile_;
    else if (w == ".relaxed")
      info.semantics = Semantics::relaxed;
    else if (w == ".acquire")
      info.semantics = Semantics::acquire;
    else if (w == ".release")
      info.semantics = Semantics::release;
    else if (w == ".acq_rel")
      info.semantics = Semantics::acq_rel;
    else if (w == ".mmio")
      info.semantics = Semantics::mmio;
  }
  if (mods.has(".mmio")) info.semantics = Semantics::mmio;             // stands beside .relaxed
  if (info.semantics == Semantics::volatile_) info.scope = Scope::sys; // as relaxed at system scope
  return !mods.has(".async");
}

// The registers of a load or store: one, or the elements of a vector; all of one width.
Result<void> FunctionLowering::registers_of(const ptx::Instruction& in, const Operand& operand,
                                            bool store, VirtualMem& m) {
  std::vector<Operand> whole; // a vector register by its name
  const std::vector<Operand>* list = &operand.elements;
  if (operand.kind != Operand::Kind::vector) {
    whole.push_back(operand);
    const RegisterDecl* d =
        operand.kind == Operand::Kind::reg ? find_register(operand.name) : nullptr;
    if (m.info.vector > 1 && d && d->elements == m.info.vector && operand.selector.empty()) {
      whole.assign(d->elements, operand);
      for (unsigned i = 0; i < d->elements; ++i) whole[i].selector = std::string(".") + "xyzw"[i];
    }
    list = &whole;
  }
  if (list->size() != m.info.vector || list->size() > 8)
    return error(in,
                 fmt::format("{} registers where {} are accessed", list->size(), m.info.vector));
  uint32_t narrowest = 128, widest = 0;
  for (const Operand& op : *list)
    if (uint32_t bits = register_bits(op)) {
      narrowest = std::min(narrowest, bits);
      widest = std::max(widest, bits);
    }
  if (!widest) // literals or sinks only
    narrowest = widest = std::max<uint32_t>(16, ptx::bits(m.info.type));
  bool mixed = narrowest != widest;
  if (narrowest < 16 || (mixed && !store) || widest < ptx::bits(m.info.type))
    return not_executed(in);
  m.info.register_bits = uint8_t(mixed ? std::max<uint32_t>(32, ptx::bits(m.info.type)) : widest);
  for (size_t i = 0; i < list->size(); ++i) {
    const Operand& op = (*list)[i];
    Result<Value> v = Value{};
    if (!store)
      v = op.kind == Operand::Kind::sink ? Result<Value>(temp(widest)) : dest(op, Type::none);
    else if (op.kind == Operand::Kind::reg && !mixed)
      v = register_value(op);
    else
      v = source(op, m.info.type);
    if (!v) return v.error();
    if (store && op.kind != Operand::Kind::reg && m.info.register_bits > 32 &&
        width_of(*v) != m.info.register_bits)
      return not_executed(in); // a narrow literal among wide registers
    m.regs[i] = v->id;
  }
  return {};
}

void FunctionLowering::access(OpCode code, const VirtualOp& address, const VirtualMem& m, Value d) {
  f_.mems.push_back(m);
  emit(code, d, Value{address.a}, Value{address.b}, Value{uint32_t(f_.mems.size() - 1)},
       address.imm);
}

// One scalar of the frame, for parameters.
void FunctionLowering::frame_access(OpCode code, uint32_t offset, Type type, uint32_t bits,
                                    Value v) {
  VirtualMem m;
  m.info.space = Space::local;
  m.info.frame = true;
  m.info.type = type;
  m.info.bytes = uint8_t(ptx::bits(type) / 8);
  m.info.register_bits = uint8_t(bits);
  m.regs[0] = v.id;
  VirtualOp op;
  op.imm = offset;
  access(code, op, m);
}

Result<void> FunctionLowering::lower_ld(const ptx::Instruction& in) {
  Modifiers mods(in);
  VirtualMem m;
  VirtualOp op;
  m.info.type = mods.last_type();
  m.info.bytes = uint8_t(ptx::bits(m.info.type) / 8);
  m.info.vector = mods.vector();
  m.info.nc = mods.has(".nc") || in.opcode == "ldu";
  if (in.operands.size() < 2 || !m.info.bytes || !set_semantics(mods, m)) return not_executed(in);
  if (auto r = place_access(in, in.operands[1], m, op); !r) return r;
  if (auto r = registers_of(in, in.operands[0], false, m); !r) return r;
  access(OpCode::ld, op, m);
  return {};
}

Result<void> FunctionLowering::lower_st(const ptx::Instruction& in) {
  Modifiers mods(in);
  VirtualMem m;
  VirtualOp op;
  m.info.type = mods.last_type();
  m.info.bytes = uint8_t(ptx::bits(m.info.type) / 8);
  m.info.vector = mods.vector();
  if (in.operands.size() < 2 || !m.info.bytes || !set_semantics(mods, m)) return not_executed(in);
  if (auto r = place_access(in, in.operands[0], m, op); !r) return r;
  if (auto r = registers_of(in, in.operands[1], true, m); !r) return r;
  access(OpCode::st, op, m);
  return {};
}

namespace {
AtomicOp atomic_op(const Modifiers& mods) {
  static constexpr std::pair<std::string_view, AtomicOp> kWords[] = {
      {".add", AtomicOp::add}, {".min", AtomicOp::min},  {".max", AtomicOp::max},
      {".inc", AtomicOp::inc}, {".dec", AtomicOp::dec},  {".and", AtomicOp::and_},
      {".or", AtomicOp::or_},  {".xor", AtomicOp::xor_}, {".exch", AtomicOp::exch},
      {".cas", AtomicOp::cas}};
  for (auto [word, op] : kWords)
    if (mods.has(word)) return op;
  return AtomicOp::none;
}
} // namespace

// atom d, [a], b {, c} and red [a], b. Without .sem an atomic is relaxed, without .scope it is
// .gpu.
Result<void> FunctionLowering::lower_atom(const ptx::Instruction& in) {
  Modifiers mods(in);
  bool is_red = in.opcode == "red";
  VirtualMem m;
  VirtualOp op;
  m.info.semantics = Semantics::relaxed;
  m.info.type = mods.last_type();
  m.info.bytes = uint8_t(ptx::bits(m.info.type) / 8);
  m.info.vector = mods.vector();
  m.info.atomic = atomic_op(mods);
  m.info.noftz = mods.has(".noftz");
  m.info.register_bits = uint8_t(std::max<uint32_t>(16, ptx::bits(m.info.type)));
  size_t at = is_red ? 0 : 1, values = m.info.atomic == AtomicOp::cas ? 2 : 1;
  if (in.operands.size() < at + 1 + values || !m.info.bytes || !set_semantics(mods, m) ||
      m.info.atomic == AtomicOp::none || m.info.vector > 4)
    return not_executed(in);
  if (m.info.scope == Scope::none) m.info.scope = Scope::gpu;
  if (auto r = place_access(in, in.operands[at], m, op); !r) return r;
  auto elements = [](const Operand& operand) {
    return operand.kind == Operand::Kind::vector ? operand.elements : std::vector<Operand>{operand};
  };
  std::vector<Operand> sources;
  for (size_t i = 0; i < values; ++i)
    for (const Operand& e : elements(in.operands[at + 1 + i])) sources.push_back(e);
  if (sources.size() != values * m.info.vector) return not_executed(in);
  for (size_t i = 0; i < sources.size(); ++i) {
    auto v = source(sources[i], m.info.type);
    if (!v) return v.error();
    m.regs[i] = v->id;
  }
  Value old;
  if (!is_red && in.operands[0].kind != Operand::Kind::sink) {
    std::vector<Operand> olds = elements(in.operands[0]);
    if (olds.size() != m.info.vector) return not_executed(in);
    for (size_t i = 0; i < olds.size(); ++i) {
      auto v = dest(olds[i], m.info.type);
      if (!v) return v.error();
      if (m.info.vector == 1)
        old = *v;
      else
        m.regs[m.info.vector + i] = v->id;
    }
  }
  access(is_red ? OpCode::red : OpCode::atom, op, m, old);
  return {};
}

Result<void> FunctionLowering::lower_prefetch(const ptx::Instruction& in) {
  VirtualMem m;
  VirtualOp op;
  m.info.bytes = 1;
  m.info.type = Type::b8;
  if (in.operands.empty() || Modifiers(in).has(".tensormap")) return not_executed(in);
  if (auto r = place_access(in, in.operands[0], m, op); !r) return r;
  access(OpCode::prefetch, op, m);
  return {};
}

// Cache policies have no effect here: the register gets some value.
Result<void> FunctionLowering::lower_createpolicy(const ptx::Instruction& in) {
  auto d = dest(in.operands.at(0), Type::b64);
  if (!d) return d.error();
  emit(OpCode::mov_b64, *d, named_constant(0, 64, {Named::What::cache_policy, nullptr}));
  return {};
}

// Generic addresses of shared, local and parameter memory are offsets within their windows; those
// of global and constant memory are what they are.
Result<void> FunctionLowering::lower_cvta(const ptx::Instruction& in) {
  Modifiers mods(in);
  if (!mods.has(".u64") || in.operands.size() != 2) return not_executed(in);
  auto d = dest(in.operands[0], Type::u64);
  if (!d) return d.error();
  auto a = source(in.operands[1], Type::u64);
  if (!a) return a.error();
  uint64_t window = 0;
  switch (mods.space()) {
  case Space::shared:
  case Space::shared_cta: window = kSharedWindow; break;
  case Space::local: window = kLocalWindow; break;
  case Space::param_entry: window = kParamWindow; break;
  case Space::param: window = f_.is_kernel ? kParamWindow : kLocalWindow; break;
  case Space::global:
  case Space::constant: emit(OpCode::mov_b64, *d, *a); return {};
  default: return not_executed(in);
  }
  emit(mods.has(".to") ? OpCode::sub_b64 : OpCode::add_b64, *d, *a,
       constant(window_base(window), 64));
  return {};
}

Result<void> FunctionLowering::lower_isspacep(const ptx::Instruction& in) {
  if (in.operands.size() != 2) return not_executed(in);
  auto d = dest(in.operands[0], Type::pred);
  if (!d) return d.error();
  auto a = source(in.operands[1], register_bits(in.operands[1]) == 32 ? Type::u32 : Type::u64);
  if (!a) return a.error();
  if (width_of(*a) != 64) return not_executed(in);
  emit(OpCode::isspacep, *d, *a, {}, {}, uint64_t(Modifiers(in).space()));
  return {};
}

} // namespace assay::ir
