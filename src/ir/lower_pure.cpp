// The selector: a PTX spelling is looked up among the forms of ops_pure.def; irregular instructions
// (mov, setp, cvt, carries, …) have lowerings of their own in lower_pure_*.cpp.
#include "ir/lower_pure.hpp"

#include <fmt/format.h>
#include <unordered_map>

namespace assay::ir::pure {
namespace {

struct Row {
  std::string_view name;
  OpCode code;
  std::string_view text; // "signature form…; signature form…"
};
constexpr Row kRows[] = {
#define PURE(name, kind, text) {#name, OpCode::name, text},
#include "ir/ops_pure.def"
#undef PURE
};

struct Table {
  std::unordered_map<std::string, Form> forms;
  std::unordered_map<std::string_view, OpCode> codes;
  std::unordered_map<std::string, bool> opcodes; // first words of the forms
};

// Calls `use` with every choice of the braces in `pattern`.
template <class F> void expand(const std::string& pattern, F use) {
  size_t open = pattern.find('{');
  if (open == std::string::npos) return use(pattern);
  size_t close = pattern.find('}', open);
  for (size_t at = open + 1; at <= close;) {
    size_t end = std::min(pattern.find(',', at), close);
    expand(pattern.substr(0, open) + pattern.substr(at, end - at) + pattern.substr(close + 1), use);
    at = end + 1;
  }
}

std::string_view next_word(std::string_view& text, char separator) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  size_t end = std::min(text.find(separator), text.size());
  std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

void add_row(Table& table, const Row& row) {
  table.codes.emplace(row.name, row.code);
  for (std::string_view text = row.text; !text.empty();) {
    std::string_view part = next_word(text, ';');
    std::string_view signature = next_word(part, ' ');
    Form form{row.code, signature.substr(0, 1), signature.substr(2)};
    while (!part.empty()) {
      std::string_view word = next_word(part, ' ');
      if (word.empty()) continue;
      expand(std::string(word), [&](const std::string& spelling) {
        table.forms.emplace(spelling, form);
        table.opcodes.emplace(spelling.substr(0, spelling.find('.')), true);
      });
    }
  }
}

const Table& table() {
  static const Table built = [] {
    Table t;
    for (const Row& row : kRows) add_row(t, row);
    return t;
  }();
  return built;
}

} // namespace

std::optional<OpCode> find_code(std::string_view name) {
  auto at = table().codes.find(name);
  if (at == table().codes.end()) return std::nullopt;
  return at->second;
}

const Form* find_form(std::string_view spelling) {
  auto at = table().forms.find(std::string(spelling));
  return at == table().forms.end() ? nullptr : &at->second;
}

ptx::Type type_of(char letter) {
  switch (letter) {
  case 'p': return ptx::Type::pred;
  case 'h': return ptx::Type::b16;
  case 'r': return ptx::Type::b32;
  case 'q': return ptx::Type::b64;
  case 'f': return ptx::Type::f32;
  case 'd': return ptx::Type::f64;
  case 'o': return ptx::Type::b128;
  default: return ptx::Type::none;
  }
}

uint32_t width_of(char letter) { return ptx::bits(type_of(letter)); }

char letter_of(ptx::Type type) {
  if (type == ptx::Type::f32) return 'f';
  if (type == ptx::Type::f64) return 'd';
  switch (ptx::bits(type)) {
  case 1: return 'p';
  case 8:
  case 16: return 'h';
  case 64: return 'q';
  case 128: return 'o';
  default: return 'r';
  }
}

bool has(const ptx::Instruction& i, std::string_view modifier) {
  for (const std::string& m : i.modifiers)
    if (m == modifier) return true;
  return false;
}

std::string spelling_of(const ptx::Instruction& i) {
  std::string text = i.opcode;
  for (const std::string& m : i.modifiers) text += m;
  return text;
}

Error unsupported_form(const ptx::Instruction& i) {
  return unsupported(spelling_of(i), Span{"", i.position.line, i.position.column});
}

Result<void> need(const ptx::Instruction& i, size_t operands) {
  if (i.operands.size() >= operands) return {};
  return usage_error(spelling_of(i) + " has too few operands",
                     Span{"", i.position.line, i.position.column});
}

void Chain::flush_pending(Value destination) {
  if (pending_.code == OpCode::count) return;
  Value to = destination.valid() ? destination : builder_->temp(pending_.width);
  builder_->emit(pending_.code, to, value_, pending_.b, pending_.c);
  value_ = to;
  pending_ = {};
}

void Chain::then(OpCode code, uint32_t width_bits, Value b, Value c) {
  flush_pending({});
  pending_ = {code, width_bits, b, c};
}

void Chain::finish(Value destination, uint32_t width_bits) {
  if (pending_.code == OpCode::count)
    builder_->emit(width_bits == 128  ? OpCode::mov_b128
                   : width_bits == 64 ? OpCode::mov_b64
                                      : OpCode::mov_b32,
                   destination, value_);
  else
    flush_pending(destination);
}

Value Chain::finish() {
  flush_pending({});
  return value_;
}

namespace {

// What .sat and .relu (after it) and .ftz (before it) add to an operation that has no form with
// them.
struct Around {
  OpCode before = OpCode::count, after = OpCode::count;
  const Form* form = nullptr; // of the spelling without these modifiers
};

std::string without(const ptx::Instruction& i, std::initializer_list<std::string_view> dropped) {
  std::string text = i.opcode;
  for (const std::string& m : i.modifiers) {
    bool drop = false;
    for (std::string_view d : dropped) drop |= m == d;
    if (!drop) text += m;
  }
  return text;
}

Around find_around(const ptx::Instruction& i) {
  Around around;
  if ((around.form = find_form(spelling_of(i))) || i.modifiers.empty()) return around;
  auto part = [&](std::string_view modifier, std::string_view name, OpCode& code) {
    if (!has(i, modifier)) return;
    auto found = find_code(fmt::format("{}_{}", name, i.modifiers.back().substr(1)));
    if (found) code = *found;
  };
  part(".sat", "sat", around.after);
  part(".relu", "relu", around.after);
  if (around.after != OpCode::count && (around.form = find_form(without(i, {".sat", ".relu"}))))
    return around;
  part(".ftz", "flush", around.before);
  if (around.before != OpCode::count)
    around.form = find_form(without(i, {".ftz", ".sat", ".relu"}));
  return around;
}

// A binary operation over three operands (min and max of sm_100) is applied twice.
Result<void> emit_twice(const ptx::Instruction& i, const Form& form, Value d, Builder& builder) {
  ptx::Type type = type_of(form.operands[0]);
  ASSAY_SOURCE(a, i.operands[1], type);
  ASSAY_SOURCE(b, i.operands[2], type);
  ASSAY_SOURCE(c, i.operands[3], type);
  Value first = builder.temp(width_of(form.result[0]));
  builder.emit(form.code, first, a, b);
  builder.emit(form.code, d, first, c);
  return {};
}

Result<void> emit_form(const ptx::Instruction& i, const Form& form, OpCode before, Value d,
                       Builder& builder) {
  bool is_extremum = i.opcode == "min" || i.opcode == "max";
  if (is_extremum && form.operands.size() == 2 && i.operands.size() == 4)
    return emit_twice(i, form, d, builder);
  if (auto enough = need(i, 1 + form.operands.size()); !enough) return enough.error();
  Value values[3];
  uint64_t imm = 0;
  for (size_t k = 0; k < form.operands.size(); ++k) {
    const ptx::Operand& operand = i.operands[1 + k];
    if (form.operands[k] == 'i') {
      if (operand.kind != ptx::Operand::Kind::integer) return unsupported_form(i);
      imm = operand.bits;
      continue;
    }
    ASSAY_SOURCE(value, operand, type_of(form.operands[k]));
    values[k] = value;
    if (before == OpCode::count) continue;
    values[k] = builder.temp(width_of(form.operands[k]));
    builder.emit(before, values[k], value);
  }
  builder.emit(form.code, d, values[0], values[1], values[2], imm);
  return {};
}

} // namespace

Result<bool> lower_form(const ptx::Instruction& i, Builder& builder) {
  Around around = find_around(i);
  if (!around.form) {
    if (!table().opcodes.count(i.opcode)) return false;
    return unsupported_form(i);
  }
  const Form& form = *around.form;
  if (auto enough = need(i, 2); !enough) return enough.error();
  ASSAY_DEST(d, i.operands[0], type_of(form.result[0]));
  bool clamped = around.after != OpCode::count;
  Value result = clamped ? builder.temp(width_of(form.result[0])) : d;
  if (auto emitted = emit_form(i, form, around.before, result, builder); !emitted)
    return emitted.error();
  if (clamped) builder.emit(around.after, d, result);
  return true;
}

// .f32x2: the two halves of 64-bit registers, each by the f32 operation.
Result<bool> lower_f32_pairs(const ptx::Instruction& i, Builder& builder) {
  ptx::Instruction single = i;
  single.modifiers.back() = ".f32";
  const Form* form = find_form(spelling_of(single));
  if (!form || form->operands.find('i') != std::string_view::npos) return unsupported_form(i);
  if (auto enough = need(i, 1 + form->operands.size()); !enough) return enough.error();
  Value halves[2], sources[3];
  for (size_t k = 0; k < form->operands.size(); ++k) {
    ASSAY_SOURCE(value, i.operands[1 + k], ptx::Type::b64);
    sources[k] = value;
  }
  for (int side = 0; side < 2; ++side) {
    Value parts[3];
    for (size_t k = 0; k < form->operands.size(); ++k) {
      parts[k] = builder.temp(32);
      builder.emit(side ? OpCode::high_b32 : OpCode::low_b32, parts[k], sources[k]);
    }
    halves[side] = builder.temp(32);
    builder.emit(form->code, halves[side], parts[0], parts[1], parts[2]);
  }
  ASSAY_DEST(d, i.operands[0], ptx::Type::b64);
  builder.emit(OpCode::pack_b64, d, halves[0], halves[1]);
  return true;
}

} // namespace assay::ir::pure

namespace assay::ir {

Result<bool> lower_pure(const ptx::Instruction& i, Builder& builder) {
  using Lowering = Result<bool> (*)(const ptx::Instruction&, Builder&);
  static constexpr std::pair<std::string_view, Lowering> kIrregular[] = {
      {"mov", pure::lower_mov},    {"setp", pure::lower_setp},  {"set", pure::lower_set},
      {"slct", pure::lower_slct},  {"cvt", pure::lower_cvt},    {"addc", pure::lower_carry},
      {"subc", pure::lower_carry}, {"madc", pure::lower_carry}, {"bfi", pure::lower_bfi},
      {"lop3", pure::lower_lop3},  {"mma", pure::lower_mma},
  };
  for (auto [opcode, lowering] : kIrregular)
    if (i.opcode == opcode) return lowering(i, builder);
  if (pure::has(i, ".cc")) return pure::lower_carry(i, builder);
  if (pure::has(i, ".f32x2")) return pure::lower_f32_pairs(i, builder);
  return pure::lower_form(i, builder);
}

} // namespace assay::ir
