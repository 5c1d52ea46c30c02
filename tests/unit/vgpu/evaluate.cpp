// See evaluate.hpp.
#include "evaluate.hpp"

#include "base/check.hpp"

#include <fmt/format.h>

namespace assay::vgpu {

#define LEVEL(name)                                                                                \
  namespace name {                                                                                 \
  void mma_execute(const ir::MmaInfo& info, char* regs, uint32_t compute_capability);              \
  }
LEVEL(portable)
LEVEL(avx2)
LEVEL(avx512)
#undef LEVEL

std::vector<LevelUnderTest> levels_under_test() {
  std::vector<LevelUnderTest> found;
#ifdef ASSAY_HAS_PORTABLE
  found.push_back({"portable", portable::pure_handlers(), portable::mma_execute});
#endif
#ifdef ASSAY_HAS_AVX2
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    found.push_back({"avx2", avx2::pure_handlers(), avx2::mma_execute});
#endif
#ifdef ASSAY_HAS_AVX512
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    found.push_back({"avx512", avx512::pure_handlers(), avx512::mma_execute});
#endif
  return found;
}

namespace {

uint32_t slots_of(uint32_t width) { return width <= 32 ? 1 : width / 32; }

uint64_t immediate(const ptx::Operand& operand, ptx::Type type) {
  using Kind = ptx::Operand::Kind;
  if (operand.kind == Kind::float64 && type == ptx::Type::f32) {
    float value = float(std::bit_cast<double>(operand.bits));
    return std::bit_cast<uint32_t>(value);
  }
  uint32_t width = ptx::bits(type);
  return width >= 64 ? operand.bits : operand.bits & ((uint64_t(1) << width) - 1);
}

} // namespace

ir::Slot Recorder::take(uint32_t width) {
  slot_count = (slot_count + slots_of(width) - 1) / slots_of(width) * slots_of(width);
  ir::Slot slot = ir::Slot(slot_count);
  slot_count += slots_of(width);
  widths_.resize(slot_count);
  widths_[slot] = width;
  return slot;
}

void Recorder::declare(const std::string& name, uint32_t width) {
  slots_[name] = {take(width), width};
}

Result<ir::Value> Recorder::source(const ptx::Operand& operand, ptx::Type type) {
  using Kind = ptx::Operand::Kind;
  if (operand.kind == Kind::reg) {
    const Register& r = slots_.at(operand.name);
    uint32_t width = ptx::bits(type);
    if (operand.negated) {
      ir::Value flipped = temp(1);
      emit(ir::OpCode::not_b32, flipped, {r.slot}, {}, {}, 0, 0);
      return flipped;
    }
    if (width >= r.width || (r.width == 16 && width == 16)) return ir::Value{r.slot};
    ir::Value low{r.slot};
    if (r.width == 64) {
      low = temp(32);
      emit(ir::OpCode::low_b32, low, {r.slot}, {}, {}, 0, 0);
    }
    if (width >= 32) return low;
    ir::Value narrow = temp(width);
    emit(width == 16 ? ir::OpCode::zext_b16 : ir::OpCode::zext_b8, narrow, low, {}, {}, 0, 0);
    return narrow;
  }
  return constant(immediate(operand, type), ptx::bits(type));
}

Result<ir::Value> Recorder::dest(const ptx::Operand& operand, ptx::Type type) {
  if (operand.kind == ptx::Operand::Kind::sink) return temp(ptx::bits(type));
  return ir::Value{slots_.at(operand.name).slot};
}

uint32_t Recorder::register_bits(const ptx::Operand& operand) {
  auto at = slots_.find(operand.name);
  return at == slots_.end() ? 0 : at->second.width;
}

ir::Value Recorder::constant(uint64_t bits, uint32_t width_bits) {
  ir::Slot slot = take(width_bits);
  constants.push_back({slot, width_bits == 64, bits});
  return {slot};
}

ir::Value Recorder::temp(uint32_t width_bits) { return {take(width_bits)}; }

ir::Value Recorder::carry() {
  if (!slots_.count("CC")) declare("CC", 32);
  return {slots_.at("CC").slot};
}

void Recorder::emit(ir::OpCode code, ir::Value d, ir::Value a, ir::Value b, ir::Value c,
                    uint64_t imm, uint16_t flags) {
  auto slot = [](ir::Value v) { return v.valid() ? ir::Slot(v.id) : ir::kNoSlot; };
  ir::Op op;
  op.code = code;
  op.d = slot(d), op.a = slot(a), op.b = slot(b), op.c = slot(c);
  op.imm = imm;
  op.flags = flags;
  ops.push_back(op);
}

void Recorder::emit_mma(const ir::MmaInfo& shape, const std::vector<ir::Value>& d,
                        const std::vector<ir::Value>& a, const std::vector<ir::Value>& b,
                        const std::vector<ir::Value>& c) {
  ir::MmaInfo info = shape;
  auto slots = [](const std::vector<ir::Value>& from, std::vector<ir::Slot>& to) {
    for (ir::Value v : from) to.push_back(ir::Slot(v.id));
  };
  slots(d, info.d), slots(a, info.a), slots(b, info.b), slots(c, info.c);
  emit(ir::OpCode::mma, {}, {}, {}, {}, mmas.size(), 0);
  mmas.push_back(std::move(info));
}

std::string Recorder::declarations() const {
  std::string text;
  for (const auto& [name, r] : slots_)
    text += r.width == 1 ? fmt::format(".reg .pred {};\n", name)
                         : fmt::format(".reg .b{} {};\n", r.width, name);
  return text;
}

Result<ptx::Instruction> parse_statement(const std::string& text, const Recorder& recorder) {
  std::string module = ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k() {\n" +
                       recorder.declarations() + text + "\nret;\n}\n";
  auto parsed = ptx::parse(module, "statement");
  if (!parsed) return parsed.error();
  for (const ptx::Statement& s : parsed->functions[0].body)
    if (s.kind == ptx::Statement::Kind::instruction) return s.instruction;
  return usage_error("no instruction in " + text);
}

Frame::Frame(const Recorder& recorder) : store_(recorder.slot_count + 4) {
  for (const ir::Constant& c : recorder.constants)
    for (int lane = 0; lane < kLanes; ++lane) set(c.slot, c.wide ? 64 : 32, lane, c.value);
}

void Frame::set(ir::Slot slot, uint32_t width, int lane, uint64_t value) {
  if (width == 64)
    lanes<uint64_t>(regs(), slot).v[lane] = value;
  else if (width == 1)
    lanes<int32_t>(regs(), slot).v[lane] = value ? -1 : 0;
  else
    lanes<uint32_t>(regs(), slot).v[lane] = uint32_t(value);
}

uint64_t Frame::get(ir::Slot slot, uint32_t width, int lane) const {
  char* base = const_cast<Frame*>(this)->regs();
  if (width == 64) return lanes<uint64_t>(base, slot).v[lane];
  return lanes<uint32_t>(base, slot).v[lane];
}

void Frame::run(const Recorder& recorder, const LevelUnderTest& level, bool full, uint32_t exec) {
  WarpMasks masks;
  for (int lane = 0; lane < kLanes; ++lane) masks.exec.v[lane] = exec >> lane & 1 ? -1 : 0;
  masks.exec_bits = exec;
  Handler stop = [](const Exec* e, Warp*, char*) { return e; };
  for (const ir::Op& op : recorder.ops) {
    if (op.code == ir::OpCode::mma) {
      level.mma(recorder.mmas[op.imm], regs(), 90);
      continue;
    }
    CHECK(is_pure(op.code));
    const PureHandlers& h = level.handlers[pure_index(op.code)];
    bool guarded = op.flags & ir::kGuarded;
    Exec code[2] = {make_exec(guarded ? h.guarded : full ? h.full : h.masked, op), {stop, {}}};
    code[0].run(code, reinterpret_cast<Warp*>(&masks), regs());
  }
}

} // namespace assay::vgpu
