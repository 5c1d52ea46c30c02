// The types of register operands, of the instructions whose operands all have the instruction's
// type. Source: PTX ISA 9.0, section 9.2 (type information for instructions and operands): operands
// agree with the instruction's type in size, bit-size types with any type of that size, signed
// integers with unsigned ones, and floating-point types with themselves and bit-size types alone.
// That sizes may differ (section 9.4.1) is said of ld, st and cvt, which are not looked at here.
// ptxas 12 and 13 take f16x2 registers for 32-bit integers in all but a few places: so does this.
#include "ir/function_lowering.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace assay::ir {
namespace {

using ptx::Type;

enum class Kind : uint8_t { other, bits, integer, floating };

Kind kind_of(Type type) {
  switch (type) {
  case Type::b16:
  case Type::b32:
  case Type::b64: return Kind::bits;
  case Type::u16:
  case Type::u32:
  case Type::u64:
  case Type::s16:
  case Type::s32:
  case Type::s64: return Kind::integer;
  case Type::f16:
  case Type::f32:
  case Type::f64: return Kind::floating;
  default: return Kind::other;
  }
}

bool agree(Type instruction, Type declared) {
  if (ptx::bits(instruction) != ptx::bits(declared)) return false;
  Kind a = kind_of(instruction), b = kind_of(declared);
  return a == b || a == Kind::bits || b == Kind::bits || (a == Kind::integer && b == Kind::other);
}

struct Row {
  std::string_view opcode;
  uint8_t first, end; // operands of the instruction's type
  bool count = false; // and then a 32-bit count
};
constexpr Row kRows[] = {
    {"add", 0, 3},  {"sub", 0, 3},       {"mul", 0, 3},       {"mad", 0, 4},  {"fma", 0, 4},
    {"min", 0, 4},  {"max", 0, 4},       {"neg", 0, 2},       {"abs", 0, 2},  {"div", 0, 3},
    {"rem", 0, 3},  {"and", 0, 3},       {"or", 0, 3},        {"xor", 0, 3},  {"not", 0, 2},
    {"mov", 0, 2},  {"shl", 0, 2, true}, {"shr", 0, 2, true}, {"setp", 1, 3}, {"selp", 0, 3},
    {"atom", 0, 4}, {"red", 1, 2},
};

} // namespace

Result<void> FunctionLowering::check_type(const ptx::Operand& operand, Type type, bool written) {
  if (operand.kind != ptx::Operand::Kind::reg || !operand.selector.empty()) return {};
  const RegisterDecl* d = find_register(operand.name);
  if (!d || d->elements > 1 || d->type == Type::none || ptx::bits(d->type) == 8) return {};
  if (d->bits == 1 || agree(type, d->type)) return {}; // of predicates others speak
  if (d->bits != ptx::bits(type))
    return at(operand, fmt::format("register '{}' has {} bits where {} are {}", operand.name,
                                   d->bits, ptx::bits(type), written ? "written" : "read"));
  return at(operand,
            fmt::format("register '{}' is declared .{} where .{} is {}", operand.name,
                        ptx::spelling(d->type), ptx::spelling(type), written ? "written" : "read"));
}

Result<void> FunctionLowering::check_types(const ptx::Instruction& in) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows),
                                 [&](const Row& r) { return r.opcode == in.opcode; });
  if (row == std::end(kRows) || !in.row) return {};
  Type type = Type::none;
  size_t end = std::min<size_t>(row->end, in.operands.size());
  for (const std::string& word : in.modifiers) {
    if (word == ".wide") return {};
    if (word.ends_with("::cache_hint")) end = std::min(end, in.operands.size() - 1); // the policy
    Type named = ptx::type_from(word);
    if (named == Type::none) continue;
    if (type != Type::none) return {}; // operands of several types
    type = named;
  }
  if (kind_of(type) == Kind::other) return {};
  for (size_t i = row->first; i < end; ++i)
    if (auto done = check_type(in.operands[i], type, i == 0); !done) return done;
  if (row->count && in.operands.size() > row->end)
    return check_type(in.operands[row->end], Type::u32, false);
  return {};
}

} // namespace assay::ir
