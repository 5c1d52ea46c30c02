// Operands as virtual registers: names and scopes, literals, symbols, addresses, and the emission
// of operations under the current guard. Source: PTX ISA 9.0, chapter 6 (operands) and sections 4.5
// (constants) and 9.4 (operand size exceeding instruction-type size).
#include "ir/function_lowering.hpp"
#include "ir/special.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <fmt/format.h>

namespace assay::ir {

using ptx::Operand;
using ptx::Type;

Error FunctionLowering::at(const Operand& operand, std::string message) const {
  ptx::Position p = operand.position;
  if (!p.line && current_) p = current_->position;
  return usage_error(std::move(message), {module_.file, p.line, p.column});
}

Error FunctionLowering::error(const ptx::Instruction& in, std::string message) const {
  return usage_error(std::move(message), {module_.file, in.position.line, in.position.column});
}

Error FunctionLowering::not_executed(const ptx::Instruction& in) const {
  return unsupported(ptx::print(in), {module_.file, in.position.line, in.position.column});
}

// -- registers ----------------------------------------------------------------------------------

uint32_t FunctionLowering::new_register(uint32_t bits, bool is_temp) {
  VirtualRegister r;
  r.bits = uint8_t(bits);
  r.temp = is_temp;
  f_.registers.push_back(r);
  return uint32_t(f_.registers.size() - 1);
}

const FunctionLowering::RegisterDecl* FunctionLowering::find_register(std::string_view name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (auto it = scope->registers.find(name); it != scope->registers.end()) return &it->second;
    for (const RegisterRange& range : scope->ranges) {
      if (!name.starts_with(range.prefix) || name.size() == range.prefix.size()) continue;
      uint32_t n = 0;
      const char* end = name.data() + name.size();
      auto [stop, code] = std::from_chars(name.data() + range.prefix.size(), end, n);
      if (code != std::errc() || stop != end || n >= range.count) continue;
      RegisterDecl d{uint32_t(f_.registers.size()), range.elements, range.bits, range.type};
      for (unsigned i = 0; i < range.elements; ++i) new_register(range.bits, false);
      return &scope->registers.emplace(name, d).first->second;
    }
  }
  return nullptr;
}

const Symbol* FunctionLowering::find_symbol(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (auto it = scope->symbols.find(name); it != scope->symbols.end()) return &it->second;
  auto it = layout_.symbols.find(name);
  return it == layout_.symbols.end() ? nullptr : &it->second;
}

Result<Value> FunctionLowering::register_value(const Operand& operand) {
  const RegisterDecl* d = find_register(operand.name);
  if (!d) return at(operand, fmt::format("register '{}' is declared nowhere", operand.name));
  uint32_t element = 0;
  if (!operand.selector.empty()) {
    size_t xyzw = std::string_view("xyzwrgba").find(operand.selector.back());
    if (operand.selector.size() != 2 || xyzw == std::string_view::npos || (xyzw & 3) >= d->elements)
      return unsupported(fmt::format("part '{}' of register '{}'", operand.selector, operand.name));
    element = uint32_t(xyzw & 3);
  }
  return Value{d->first + element};
}

uint32_t FunctionLowering::register_bits(const Operand& operand) {
  if (operand.kind != Operand::Kind::reg) return 0;
  const RegisterDecl* d = find_register(operand.name);
  return d ? d->bits : 0;
}

// The low bits of a register that is wider than the type it is read as.
Result<Value> FunctionLowering::fit(Value v, Type type, const Operand& operand) {
  uint32_t have = width_of(v), want = ptx::bits(type);
  if (type == Type::none || have == want || (have == 16 && want == 32)) return v;
  if (have == 1 || want == 1 || want > have)
    return at(operand,
              fmt::format("register '{}' has {} bits where {} are read", operand.name, have, want));
  auto narrow = [&](OpCode code, uint32_t bits) {
    Value t = temp(bits);
    emit(code, t, v);
    v = t;
  };
  if (have == 128) narrow(OpCode::low_b64, 64);
  if (want < 64 && have >= 64) narrow(OpCode::low_b32, 32);
  if (want == 16) narrow(OpCode::zext_b16, 16);
  if (want == 8) narrow(OpCode::zext_b8, 16);
  return v;
}

// -- literals -----------------------------------------------------------------------------------

Result<Value> FunctionLowering::literal(const Operand& operand, Type type) {
  uint32_t width = type == Type::none ? 32 : ptx::bits(type);
  uint64_t bits = operand.bits;
  if (type == Type::pred) return constant(bits ? 0xffffffffu : 0, 1);
  if (operand.kind == Operand::Kind::float64 && width == 32)
    bits = std::bit_cast<uint32_t>(float(std::bit_cast<double>(bits)));
  else if (operand.kind == Operand::Kind::float32 && width == 64)
    bits = std::bit_cast<uint64_t>(double(std::bit_cast<float>(uint32_t(bits))));
  else if (operand.kind != Operand::Kind::integer && width < 32)
    return unsupported("floating-point literal of a 16-bit type");
  else if (operand.kind == Operand::Kind::integer && (type == Type::f32 || type == Type::f64))
    bits = type == Type::f32 ? std::bit_cast<uint32_t>(float(int64_t(bits)))
                             : std::bit_cast<uint64_t>(double(int64_t(bits)));
  if (width > 64) return unsupported("128-bit literal");
  if (width < 64) bits &= (uint64_t(1) << width) - 1;
  return constant(bits, width);
}

Value FunctionLowering::constant(uint64_t bits, uint32_t width_bits) {
  bool wide = width_bits > 32;
  if (!wide) bits &= 0xffffffffu;
  auto [it, fresh] = constants_[wide].try_emplace(bits, uint32_t(f_.registers.size()));
  if (fresh) {
    VirtualRegister r;
    r.bits = wide ? 64 : 32;
    r.constant = true;
    r.value = bits;
    f_.registers.push_back(r);
  }
  return Value{it->second};
}

// A register of its own, even where some literal has the same value.
Value FunctionLowering::named_constant(uint64_t bits, uint32_t width_bits, const Named& named) {
  bool wide = width_bits > 32;
  if (!wide) bits &= 0xffffffffu;
  auto [it, fresh] = named_.try_emplace({named, bits, wide}, uint32_t(f_.registers.size()));
  if (fresh) {
    VirtualRegister r;
    r.bits = wide ? 64 : 32;
    r.constant = true;
    r.value = bits;
    r.named = named;
    f_.registers.push_back(r);
  }
  return Value{it->second};
}

Value FunctionLowering::temp(uint32_t width_bits) { return Value{new_register(width_bits, true)}; }

Value FunctionLowering::carry() {
  if (!carry_.valid()) carry_ = Value{new_register(32, false)};
  return carry_;
}

// -- symbols, special registers -----------------------------------------------------------------

Result<Value> FunctionLowering::symbol_address(const Operand& operand, uint32_t width) {
  if (operand.name == "WARP_SZ") return constant(32, width);
  const Symbol* s = find_symbol(operand.name);
  if (!s) return unsupported(fmt::format("reference to '{}'", operand.name));
  switch (s->kind) {
  case Symbol::Kind::function:
    return named_constant(window_base(kFunctionWindow) + 16 * s->value, width,
                          {Named::What::function, nullptr});
  case Symbol::Kind::frame: {
    Value t = temp(64);
    emit(OpCode::frame_address, t, {}, {}, {}, s->value + uint64_t(operand.offset));
    if (width == 64) return t;
    Value low = temp(32);
    emit(OpCode::low_b32, low, t);
    return low;
  }
  default: {
    Named named{Named::What::variable, s->variable};
    if (s->kind == Symbol::Kind::param_entry) named = {Named::What::parameters, nullptr};
    return named_constant(s->value + uint64_t(operand.offset), width, named);
  }
  }
}

Result<Value> FunctionLowering::special_value(const Operand& operand, Type type) {
  uint32_t index = 0;
  Special special = special_from(operand.name, index);
  if (special == Special::unknown)
    return unsupported(fmt::format("special register {}", operand.name));
  bool predicate = special == Special::is_explicit_cluster;
  Value t = temp(is_wide(special) ? 64 : predicate ? 1 : 32);
  emit(OpCode::special, t, {}, {}, {}, uint64_t(special) | uint64_t(index) << 8);
  if (!is_wide(special) && ptx::bits(type) == 64) { // mov.u64 of a 32-bit one: zero-extended
    Value wide = temp(64);
    emit(OpCode::zext_b32, wide, t);
    return wide;
  }
  return fit(t, type, operand);
}

Result<Value> FunctionLowering::source(const Operand& operand, Type type) {
  switch (operand.kind) {
  case Operand::Kind::reg: {
    auto v = register_value(operand);
    if (!v) return v;
    v = fit(*v, type, operand);
    if (!v || !operand.negated) return v;
    if (width_of(*v) != 1) return unsupported("negated register operand");
    Value t = temp(1);
    emit(OpCode::not_b32, t, *v);
    return t;
  }
  case Operand::Kind::integer:
  case Operand::Kind::float32:
  case Operand::Kind::float64: return literal(operand, type);
  case Operand::Kind::special: return special_value(operand, type);
  case Operand::Kind::symbol:
  case Operand::Kind::label: // a name that the parser did not know: a function declared later
    return symbol_address(operand, ptx::bits(type) == 64 ? 64 : 32);
  default: return unsupported("form of operand");
  }
}

Result<Value> FunctionLowering::dest(const Operand& operand, Type type) {
  if (operand.kind == Operand::Kind::sink)
    return temp(std::max<uint32_t>(ptx::bits(type), ptx::bits(type) == 1 ? 1 : 16));
  if (operand.kind != Operand::Kind::reg) return at(operand, "a destination must be a register");
  auto v = register_value(operand);
  if (!v || type == Type::none) return v;
  uint32_t have = width_of(*v), bits = ptx::bits(type),
           want = bits == 1 ? 1 : std::max<uint32_t>(16, bits);
  if (have == want) return v;
  std::string what =
      have == 1 || bits == 1
          ? fmt::format("register '{}' is {}a predicate", operand.name, bits == 1 ? "not " : "")
          : fmt::format("register '{}' has {} bits where {} are written", operand.name, have, bits);
  if (have > want && current_->opcode == "cvt") return unsupported(what); // section 9.4.1 has it
  return at(operand, what);
}

// -- addresses ----------------------------------------------------------------------------------

Result<Address> FunctionLowering::address(const Operand& operand) {
  Address a;
  const Operand* base = &operand;
  if (operand.kind == Operand::Kind::address) {
    base = &operand.elements[0];
    a.offset = operand.offset;
  }
  switch (base->kind) {
  case Operand::Kind::integer: a.offset += int64_t(base->bits); return a;
  case Operand::Kind::reg: {
    auto v = register_value(*base);
    if (!v) return v.error();
    a.base = *v;
    a.wide = width_of(*v) == 64;
    return a;
  }
  case Operand::Kind::symbol: break;
  default: return unsupported("form of address");
  }
  const Symbol* s = find_symbol(base->name);
  if (!s || s->kind == Symbol::Kind::function)
    return unsupported(fmt::format("address of '{}'", base->name));
  a.offset += base->offset + int64_t(s->value);
  a.space = s->space;
  a.frame = s->kind == Symbol::Kind::frame;
  return a;
}

Result<Value> FunctionLowering::address_value(const Operand& operand) {
  auto a = address(operand);
  if (!a) return a.error();
  if (!a->base.valid() && !a->frame) return constant(uint64_t(a->offset), 64);
  Value v = a->base;
  if (a->frame) {
    v = temp(64);
    emit(OpCode::frame_address, v, {}, {}, {}, uint64_t(a->offset));
    return v;
  }
  if (!a->wide) {
    Value wide = temp(64);
    emit(OpCode::zext_b32, wide, v);
    v = wide;
  }
  if (a->offset) {
    Value sum = temp(64);
    emit(OpCode::add_b64, sum, v, constant(uint64_t(a->offset), 64));
    v = sum;
  }
  return v;
}

// -- emission -----------------------------------------------------------------------------------

VirtualOp& FunctionLowering::append(OpCode code) {
  CHECK(!is_terminator(code));
  if (!open_) start_block();
  VirtualOp& op = f_.ops.emplace_back();
  op.code = code;
  op.instruction = current_;
  f_.blocks.back().end = uint32_t(f_.ops.size());
  return op;
}

// Operations on temporaries need no guard: nobody else reads what they write.
void FunctionLowering::emit(OpCode code, Value d, Value a, Value b, Value c, uint64_t imm,
                            uint16_t flags) {
  VirtualOp& op = append(code);
  op.flags = flags;
  op.d = d.id;
  op.a = a.id;
  op.b = b.id;
  op.c = c.id;
  op.imm = imm;
  bool private_result = d.valid() && f_.registers[d.id].temp && is_pure(code);
  if (guard_.valid() && may_be_guarded(code) && !private_result) {
    op.flags |= kGuarded | (guard_negated_ ? kGuardNegated : 0);
    op.guard = guard_.id;
  }
}

void FunctionLowering::emit_meet_all(uint32_t key) { emit(OpCode::meet, {}, {}, {}, {}, key); }

void FunctionLowering::emit_mma(const MmaInfo& shape, const std::vector<Value>& d,
                                const std::vector<Value>& a, const std::vector<Value>& b,
                                const std::vector<Value>& c) {
  VirtualMma m;
  m.shape = shape;
  auto ids = [](const std::vector<Value>& from, std::vector<uint32_t>& to) {
    for (Value v : from) to.push_back(v.id);
  };
  ids(a, m.a);
  ids(b, m.b);
  ids(c, m.c);
  ids(d, m.d);
  f_.mmas.push_back(std::move(m));
  emit(OpCode::mma, {}, {}, {}, {}, f_.mmas.size() - 1);
}

uint32_t meet_key(const ptx::Instruction& in) {
  uint32_t h = 2166136261u; // FNV-1a
  auto add = [&](std::string_view text) {
    for (char c : text) h = (h ^ uint8_t(c)) * 16777619u;
  };
  add(in.opcode);
  for (const std::string& word : in.modifiers) add(word);
  return h;
}

} // namespace assay::ir
