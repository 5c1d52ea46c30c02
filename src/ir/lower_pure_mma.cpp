// mma.sync of dense matrices: PTX ISA 9.0, section 9.7.15.5.
#include "ir/lower_pure.hpp"

#include <cstdio>

namespace assay::ir::pure {
namespace {

using ptx::Type;

struct Shape { // what is executed: types of A, and registers of A, B, C for f32, s32 or f64 results
  std::string_view name;
  Type type;
  uint8_t a, b, c;
};
constexpr Shape kShapes[] = {
    {".m16n8k8", Type::f16, 2, 1, 4},  {".m16n8k16", Type::f16, 4, 2, 4},
    {".m16n8k8", Type::bf16, 2, 1, 4}, {".m16n8k16", Type::bf16, 4, 2, 4},
    {".m16n8k4", Type::tf32, 2, 1, 4}, {".m16n8k8", Type::tf32, 4, 2, 4},
    {".m8n8k4", Type::f64, 1, 1, 2},   {".m16n8k4", Type::f64, 2, 1, 4},
    {".m16n8k8", Type::f64, 4, 2, 4},  {".m16n8k16", Type::f64, 8, 4, 4},
    {".m8n8k16", Type::s8, 1, 1, 2},   {".m16n8k16", Type::s8, 2, 1, 4},
    {".m16n8k32", Type::s8, 4, 2, 4},
};

const Shape* find_shape(std::string_view name, Type a_type) {
  Type type = a_type == Type::u8 ? Type::s8 : a_type;
  for (const Shape& s : kShapes)
    if (s.name == name && s.type == type) return &s;
  return nullptr;
}

uint32_t key_of(const ptx::Instruction& i) { // FNV-1a
  uint32_t hash = 2166136261u;
  for (char c : spelling_of(i)) hash = (hash ^ uint8_t(c)) * 16777619u;
  return hash;
}

Result<std::vector<Value>> fragment(const ptx::Instruction& i, size_t index, size_t count,
                                    Type type, bool destination, Builder& builder) {
  const ptx::Operand& operand = i.operands[index];
  std::vector<ptx::Operand> elements =
      operand.kind == ptx::Operand::Kind::vector ? operand.elements : std::vector{operand};
  if (elements.size() != count) return unsupported_form(i);
  std::vector<Value> values;
  for (const ptx::Operand& e : elements) {
    auto value = destination ? builder.dest(e, type) : builder.source(e, type);
    if (!value) return value.error();
    values.push_back(*value);
  }
  return values;
}

bool results_are_executed(const MmaInfo& info) {
  switch (info.a_type) {
  case Type::f16:
    return info.c_type == info.d_type && (info.d_type == Type::f16 || info.d_type == Type::f32);
  case Type::bf16:
  case Type::tf32: return info.d_type == Type::f32;
  case Type::f64: return info.d_type == Type::f64;
  default: return info.d_type == Type::s32;
  }
}

} // namespace

// mma.sync.aligned.shape.row.col{.satfinite}.dtype.atype.btype.ctype d, a, b, c
Result<bool> lower_mma(const ptx::Instruction& i, Builder& builder) {
  std::vector<std::string> words = i.modifiers; // .satfinite stands before or after the types
  std::erase(words, ".satfinite");
  if (words.size() != 9 || i.operands.size() != 4 || words[0] != ".sync" || words[3] != ".row" ||
      words[4] != ".col")
    return unsupported_form(i);
  const std::string& name = words[2];
  MmaInfo info;
  info.satfinite = has(i, ".satfinite");
  info.d_type = ptx::type_from(words[5]);
  info.a_type = ptx::type_from(words[6]);
  info.b_type = ptx::type_from(words[7]);
  info.c_type = ptx::type_from(words[8]);
  const Shape* shape = find_shape(name, info.a_type);
  if (!shape || !find_shape(name, info.b_type) || !results_are_executed(info))
    return unsupported_form(i);
  unsigned m = 0, n = 0, k = 0;
  if (std::sscanf(name.c_str(), ".m%un%uk%u", &m, &n, &k) != 3) return unsupported_form(i);
  info.m = uint16_t(m), info.n = uint16_t(n), info.k = uint16_t(k);
  size_t results = info.d_type == Type::f16 ? shape->c / 2 : shape->c;
  Type element = info.a_type == Type::f64 ? Type::f64 : Type::b32;
  Type result = info.a_type == Type::f64 ? Type::f64 : Type::b32;
  auto a = fragment(i, 1, shape->a, element, false, builder);
  if (!a) return a.error();
  auto b = fragment(i, 2, shape->b, element, false, builder);
  if (!b) return b.error();
  auto c = fragment(i, 3, results, result, false, builder);
  if (!c) return c.error();
  auto d = fragment(i, 0, results, result, true, builder);
  if (!d) return d.error();
  builder.emit_meet_all(key_of(i));
  builder.emit_mma(info, *d, *a, *b, *c);
  return true;
}

} // namespace assay::ir::pure
