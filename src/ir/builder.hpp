// What instruction lowering uses to emit operations over virtual registers; slots are assigned
// later. ir owns the implementation; lower_pure*.cpp (arithmetic, logic, conversion, mma) and the
// other lower_*.cpp files are its clients.
#pragma once

#include "ir/program.hpp"

namespace assay::ir {

// A virtual register of the function being lowered.
struct Value {
  uint32_t id = kNoIndex;
  bool valid() const { return id != kNoIndex; }
};

class Builder {
public:
  virtual ~Builder() = default;
  // A source operand read as `type` (its bits decide the width): a register, an immediate (becomes
  // a constant: floats are converted to the type's bits, integers truncated), a symbol's address, a
  // special register (emits `special`). A predicate comes as a lane mask; a negated predicate
  // operand is materialised. A register wider than `type` is read as its low bits (masked), as PTX
  // allows.
  virtual Result<Value> source(const ptx::Operand& operand, ptx::Type type) = 0;
  // The register that a destination operand names; a fresh one for `_`.
  virtual Result<Value> dest(const ptx::Operand& operand, ptx::Type type) = 0;
  virtual uint32_t register_bits(const ptx::Operand& operand) = 0; // declared width; 0: no register
  virtual Value constant(uint64_t bits, uint32_t width_bits) = 0;  // ≤ 32, or 64
  virtual Value temp(uint32_t width_bits) = 0;                     // 1 (predicate), 16, 32, 64, 128
  virtual Value carry() = 0; // the condition code register CC.CF: 32-bit lanes, 0 or 1
  // Emits `code d, a, b, c` under the current instruction's guard. Invalid values are kNoSlot.
  virtual void emit(OpCode code, Value d, Value a = {}, Value b = {}, Value c = {},
                    uint64_t imm = 0, uint16_t flags = 0) = 0;
  // The gathering of all live lanes before mma and the like; see `meet` in ops_core.def.
  virtual void emit_meet_all(uint32_t key) = 0;
  // mma: fragments as values; they become the slots of an MmaInfo.
  virtual void emit_mma(const MmaInfo& shape, const std::vector<Value>& d,
                        const std::vector<Value>& a, const std::vector<Value>& b,
                        const std::vector<Value>& c) = 0;
};

// Lowers one instruction whose effect is a function of its register operands (arithmetic, logic,
// comparison, selection, shifts, prmt, mov with packing and unpacking of vectors, cvt, mma,
// wmma.mma). Returns false when the opcode is not of this kind; an Error of code `unsupported` when
// it is but this form is not executed yet.
Result<bool> lower_pure(const ptx::Instruction& instruction, Builder& builder);

} // namespace assay::ir
