// Shared by lower_pure*.cpp: names of operations, the forms of ops_pure.def, typed operands.
#pragma once

#include "ir/builder.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace assay::ir::pure {

// The code whose row is called `name`; nullopt when there is none.
std::optional<OpCode> find_code(std::string_view name);

// A PTX spelling ("add.sat.s32") found in the table, with the signature that belongs to it.
struct Form {
  OpCode code = OpCode::count;
  std::string_view result;   // one letter
  std::string_view operands; // letters of the sources in order
};
const Form* find_form(std::string_view spelling);

ptx::Type type_of(char letter);
uint32_t width_of(char letter);
char letter_of(ptx::Type type); // by class and width: f32 is f, u64 is q, f16 is h

bool has(const ptx::Instruction& i, std::string_view modifier);
std::string spelling_of(const ptx::Instruction& i); // opcode and modifiers
Error unsupported_form(const ptx::Instruction& i);

// Operand lists are checked by the parser against isa.def; this guards the ones that slip through.
Result<void> need(const ptx::Instruction& i, size_t operands);

// A unary chain from `value`: steps are collected, then emitted with the last one into the
// destination, so that no extra move is left.
class Chain {
public:
  Chain(Builder& builder, Value value) : builder_(&builder), value_(value) {}
  void then(OpCode code, uint32_t width_bits, Value b = {}, Value c = {});
  void finish(Value destination, uint32_t width_bits);
  Value finish(); // where the last step wrote

private:
  struct Step {
    OpCode code = OpCode::count;
    uint32_t width = 0;
    Value b, c;
  };
  void flush_pending(Value destination);
  Builder* builder_;
  Value value_;
  Step pending_;
};

// Compares and leaves a predicate in a fresh register (or in `into`).
Result<Value> compare(const ptx::Instruction& i, std::string_view comparison, bool ftz,
                      ptx::Type type, Value a, Value b, Builder& builder, Value into = {});

Result<bool> lower_mov(const ptx::Instruction& i, Builder& builder);
Result<bool> lower_setp(const ptx::Instruction& i, Builder& builder);
Result<bool> lower_set(const ptx::Instruction& i, Builder& builder);
Result<bool> lower_slct(const ptx::Instruction& i, Builder& builder);
Result<bool> lower_cvt(const ptx::Instruction& i, Builder& builder);
Result<bool> lower_carry(const ptx::Instruction& i, Builder& builder);
Result<bool> lower_bfi(const ptx::Instruction& i, Builder& builder);
Result<bool> lower_lop3(const ptx::Instruction& i, Builder& builder);
Result<bool> lower_mma(const ptx::Instruction& i, Builder& builder);
Result<bool> lower_form(const ptx::Instruction& i, Builder& builder);

} // namespace assay::ir::pure

// Source operand `index` of instruction `i` as `name`, or return its error.
#define ASSAY_SOURCE(name, operand, type)                                                          \
  auto name##_result = builder.source(operand, type);                                              \
  if (!name##_result) return name##_result.error();                                                \
  Value name = *name##_result
#define ASSAY_DEST(name, operand, type)                                                            \
  auto name##_result = builder.dest(operand, type);                                                \
  if (!name##_result) return name##_result.error();                                                \
  Value name = *name##_result
