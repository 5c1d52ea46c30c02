// Runs single PTX statements through lower_pure and the handlers of one vector level, 32 lanes at a
// time, without a machine: a Builder that gives every value fresh slots, and a frame.
#pragma once

#include "ir/builder.hpp"
#include "vgpu/handlers/table.hpp"

#include <map>
#include <string>
#include <vector>

namespace assay::vgpu {

struct LevelUnderTest {
  const char* name;
  const PureHandlers* handlers;
  void (*mma)(const ir::MmaInfo&, char*, uint32_t);
};
std::vector<LevelUnderTest> levels_under_test(); // those that were built and run here

class Recorder : public ir::Builder {
public:
  // A register of the statement, by name, of 1, 16, 32, 64 or 128 bits.
  void declare(const std::string& name, uint32_t width);
  ir::Slot slot(const std::string& name) const { return slots_.at(name).slot; }
  std::string declarations() const; // as PTX

  Result<ir::Value> source(const ptx::Operand& operand, ptx::Type type) override;
  Result<ir::Value> dest(const ptx::Operand& operand, ptx::Type type) override;
  uint32_t register_bits(const ptx::Operand& operand) override;
  ir::Value constant(uint64_t bits, uint32_t width_bits) override;
  ir::Value temp(uint32_t width_bits) override;
  ir::Value carry() override;
  void emit(ir::OpCode code, ir::Value d, ir::Value a, ir::Value b, ir::Value c, uint64_t imm,
            uint16_t flags) override;
  void emit_meet_all(uint32_t) override {}
  void emit_mma(const ir::MmaInfo& shape, const std::vector<ir::Value>& d,
                const std::vector<ir::Value>& a, const std::vector<ir::Value>& b,
                const std::vector<ir::Value>& c) override;

  struct Register {
    ir::Slot slot;
    uint32_t width;
  };
  std::vector<ir::Op> ops;
  std::vector<ir::Constant> constants;
  std::vector<ir::MmaInfo> mmas;
  uint32_t slot_count = 0;

private:
  ir::Slot take(uint32_t width);
  std::map<std::string, Register> slots_;
  std::vector<uint32_t> widths_; // of values, which are slots
};

// The instruction that `text` ("add.s32 d, a, b;") spells, over the declared registers.
Result<ptx::Instruction> parse_statement(const std::string& text, const Recorder& recorder);

// A frame for the recorded operations; lanes are written and read through it.
class Frame {
public:
  explicit Frame(const Recorder& recorder);
  void set(ir::Slot slot, uint32_t width, int lane, uint64_t value);
  uint64_t get(ir::Slot slot, uint32_t width, int lane) const;
  char* regs() { return reinterpret_cast<char*>(store_.data()); }
  // Full: every lane; else only the lanes of `exec`.
  void run(const Recorder& recorder, const LevelUnderTest& level, bool full, uint32_t exec);

private:
  std::vector<Lanes<uint32_t>> store_;
};

} // namespace assay::vgpu
