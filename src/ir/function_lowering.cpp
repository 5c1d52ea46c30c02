// The walk over a function's statements: scopes, declarations, guards, dispatch by opcode.
// Source: PTX ISA 9.0, sections 4.1 (statements), 5.4 (variables), 9.3 (predicated execution).
#include "ir/function_lowering.hpp"
#include "ir/verify_widths.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace assay::ir {

using ptx::Space;
using ptx::Statement;
using ptx::Type;
using ptx::Variable;

// -- modifiers ----------------------------------------------------------------------------------

bool Modifiers::has(std::string_view word) const {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool Modifiers::has_prefix(std::string_view prefix) const {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& w) { return w.starts_with(prefix); });
}

Type Modifiers::last_type() const {
  for (auto w = words.rbegin(); w != words.rend(); ++w)
    if (Type t = ptx::type_from(*w); t != Type::none) return t;
  return Type::none;
}

Space Modifiers::space() const {
  for (const std::string& w : words)
    if (Space s = ptx::space_from(w); s != Space::none) return s;
  return Space::none;
}

Scope Modifiers::scope() const {
  for (const std::string& w : words) {
    if (w == ".cta") return Scope::cta;
    if (w == ".cluster") return Scope::cluster;
    if (w == ".gpu" || w == ".gl") return Scope::gpu;
    if (w == ".sys") return Scope::sys;
  }
  return Scope::none;
}

uint8_t Modifiers::vector() const {
  for (const std::string& w : words)
    if (w == ".v2" || w == ".v4" || w == ".v8") return uint8_t(w[2] - '0');
  return 1;
}

// -- the function -------------------------------------------------------------------------------

FunctionLowering::FunctionLowering(const ptx::Module& module, const ModuleLayout& layout,
                                   const ptx::Function& source, bool is_kernel)
    : module_(module), layout_(layout), source_(source) {
  f_.source = &source;
  f_.is_kernel = is_kernel;
}

Result<VirtualFunction> FunctionLowering::run() {
  if (auto r = plan_labels(); !r) return r.error();
  if (auto r = plan_frame(); !r) return r.error();
  scopes_.clear();
  scopes_.push_back({});
  next_scope_ = 0;
  start_block();
  enter_function();
  for (const Statement& s : source_.body)
    if (auto r = statement(s); !r) return r.error();
  current_ = nullptr;
  if (open_ || f_.blocks.empty()) {
    if (!f_.is_kernel)
      jump(epilogue_);
    else
      end_block_with({.code = OpCode::ret});
  }
  leave_function();
  finish_blocks();
  return std::move(f_);
}

// Labels and lists may be used before they stand: their scopes are numbered as run() will.
Result<void> FunctionLowering::plan_labels() {
  scope_parent_.assign(1, 0);
  std::vector<uint32_t> open = {0};
  for (const Statement& s : source_.body) {
    switch (s.kind) {
    case Statement::Kind::block_begin:
      scope_parent_.push_back(open.back());
      open.push_back(uint32_t(scope_parent_.size() - 1));
      break;
    case Statement::Kind::block_end: open.pop_back(); break;
    case Statement::Kind::label:
      if (!labels_.try_emplace({open.back(), s.name}, new_label()).second)
        return usage_error(fmt::format("label '{}' stands twice in one block", s.name),
                           {module_.file, s.position.line, s.position.column});
      break;
    case Statement::Kind::branch_targets:
    case Statement::Kind::call_targets:
    case Statement::Kind::call_prototype: lists_.try_emplace({open.back(), s.name}, &s); break;
    default: break;
    }
    CHECK(!open.empty());
  }
  if (!f_.is_kernel) epilogue_ = new_label();
  return {};
}

Result<void> FunctionLowering::statement(const Statement& s) {
  switch (s.kind) {
  case Statement::Kind::instruction: return instruction(s.instruction);
  case Statement::Kind::label: place_label(labels_.at({scopes_.back().id, s.name})); return {};
  case Statement::Kind::variable: return declare(s.variable);
  case Statement::Kind::block_begin:
    scopes_.push_back({});
    scopes_.back().id = ++next_scope_;
    return {};
  case Statement::Kind::block_end: scopes_.pop_back(); return {};
  default: return {};
  }
}

Result<void> FunctionLowering::declare(const Variable& v) {
  switch (v.space) {
  case Space::reg: return declare_registers(v);
  case Space::local: {
    scopes_.back().symbols[v.name] = {Symbol::Kind::frame, Space::local, frame_offset_.at(&v), &v};
    f_.frame.push_back({frame_offset_.at(&v), &v});
    return {};
  }
  case Space::param: {
    auto outgoing = outgoing_offset_.find(&v);
    uint64_t offset = outgoing == outgoing_offset_.end() ? frame_offset_.at(&v)
                                                         : f_.local_bytes + outgoing->second;
    scopes_.back().symbols[v.name] = {Symbol::Kind::frame, Space::local, offset, &v};
    f_.frame.push_back({uint32_t(offset), &v});
    scopes_.back().variables[v.name] = &v;
    return {};
  }
  case Space::shared:
    if (auto it = layout_.shared.find(&v); it != layout_.shared.end())
      scopes_.back().symbols[v.name] = it->second;
    return {};
  default: return {}; // references to it are reported where they stand
  }
}

Result<void> FunctionLowering::declare_registers(const Variable& v) {
  uint32_t bits = std::max<uint32_t>(ptx::bits(v.type), v.type == Type::pred ? 1 : 16);
  auto elements = uint8_t(std::max<uint32_t>(1, v.vector));
  if (v.register_range) {
    scopes_.back().ranges.push_back({v.name, v.register_range, elements, uint8_t(bits), v.type});
    return {};
  }
  RegisterDecl d{uint32_t(f_.registers.size()), elements, uint8_t(bits), v.type};
  for (unsigned i = 0; i < elements; ++i) new_register(bits, false);
  scopes_.back().registers[v.name] = d;
  return {};
}

// -- instructions -------------------------------------------------------------------------------

FunctionLowering::Checkpoint FunctionLowering::checkpoint() const {
  return {f_.ops.size(),    f_.blocks.size(), f_.mems.size(),        f_.extra.size(),
          f_.tables.size(), f_.mmas.size(),   f_.label_block.size(), f_.blocks.back()};
}

void FunctionLowering::roll_back(const Checkpoint& c) {
  f_.ops.resize(c.ops);
  f_.blocks.resize(c.blocks);
  f_.blocks.back() = c.block;
  f_.mems.resize(c.mems);
  f_.extra.resize(c.extra);
  f_.tables.resize(c.tables);
  f_.mmas.resize(c.mmas);
  f_.label_block.resize(c.labels);
  open_ = true;
}

Result<void> FunctionLowering::instruction(const ptx::Instruction& in) {
  constexpr uint32_t kLongestRun = 60000; // a terminator's length has 16 bits
  if (open_ && f_.blocks.back().instructions >= kLongestRun) place_label(new_label());
  if (!open_) start_block();
  current_ = &in;
  ++f_.blocks.back().instructions;
  if (auto r = check_types(in); !r) return r;
  if (auto r = guard(in); !r) return r;
  Checkpoint before = checkpoint();
  auto done = translate(in);
  if (done) done = fits(in, before.ops);
  if (!done) {
    if (done.error().code != ErrorCode::unsupported) return done;
    roll_back(before);
    emit_unsupported(in);
  }
  guard_ = {};
  return {};
}

// PTX can name registers of any width in most places. Where a lowering has not noticed a width that
// its operations cannot take, the instruction is not executed.
Result<void> FunctionLowering::fits(const ptx::Instruction& in, size_t first) const {
  for (size_t i = first; i < f_.ops.size(); ++i)
    if (!width_problem(f_, f_.ops[i]).empty()) return not_executed(in);
  return {};
}

// The guard of the current instruction. A predicate that the instruction also writes is copied,
// since an instruction may become several operations.
Result<void> FunctionLowering::guard(const ptx::Instruction& in) {
  guard_ = {};
  if (in.guard.empty()) return {};
  const RegisterDecl* d = find_register(in.guard);
  if (!d || d->bits != 1) return error(in, fmt::format("'{}' is no predicate register", in.guard));
  guard_negated_ = in.guard_negated;
  Value g{d->first};
  auto names = [&](const auto& self, const ptx::Operand& op) -> bool {
    if (op.kind == ptx::Operand::Kind::reg && op.name == in.guard) return true;
    return std::any_of(op.elements.begin(), op.elements.end(),
                       [&](const ptx::Operand& e) { return self(self, e); });
  };
  if (in.opcode != "bra" && !in.operands.empty() && names(names, in.operands[0])) {
    Value copy = temp(1);
    emit(OpCode::mov_b32, copy, g);
    g = copy;
  }
  guard_ = g;
  return {};
}

// Starts the lanes that execute a guarded instruction; the others go to the label that it returns.
uint32_t FunctionLowering::branch_around() {
  uint32_t over = new_label();
  VirtualOp op;
  op.code = OpCode::branch;
  op.a = guard_.id;
  op.flags = guard_negated_ ? 0 : kNegate;
  op.imm = over;
  op.instruction = current_;
  end_block_with(op);
  guard_ = {};
  start_block();
  return over;
}

void FunctionLowering::emit_unsupported(const ptx::Instruction& in) {
  uint32_t over = guard_.valid() ? branch_around() : kNoIndex;
  append(OpCode::unsupported);
  if (over != kNoIndex) place_label(over);
}

Result<void> FunctionLowering::translate(const ptx::Instruction& in) {
  if (!in.row) return not_executed(in);
  const HandlerRow* row = handler(in.opcode);
  if (!row) return lower_pure_operation(in);
  if (!guard_.valid() || !row->branch_around) return (this->*row->handler)(in);
  uint32_t over = branch_around();
  Value no_guard = guard_;
  auto done = (this->*row->handler)(in);
  guard_ = no_guard;
  if (done) place_label(over);
  return done;
}

const FunctionLowering::HandlerRow* FunctionLowering::handler(std::string_view opcode) {
  using F = FunctionLowering;
  static const std::unordered_map<std::string_view, HandlerRow> kHandlers = {
      {"ld", {&F::lower_ld, false}},
      {"ldu", {&F::lower_ld, false}},
      {"st", {&F::lower_st, false}},
      {"atom", {&F::lower_atom, false}},
      {"red", {&F::lower_atom, false}},
      {"cvta", {&F::lower_cvta, false}},
      {"mov", {&F::lower_mov, false}},
      {"createpolicy", {&F::lower_createpolicy, false}},
      {"prefetch", {&F::lower_prefetch, true}},
      {"prefetchu", {&F::lower_prefetch, true}},
      {"isspacep", {&F::lower_isspacep, true}},
      {"bra", {&F::lower_bra, false}},
      {"brx", {&F::lower_brx, true}},
      {"call", {&F::lower_call, true}},
      {"ret", {&F::lower_ret, true}},
      {"exit", {&F::lower_exit, true}},
      {"trap", {&F::lower_trap, true}},
      {"brkpt", {&F::lower_trap, true}},
      {"shfl", {&F::lower_shfl, true}},
      {"vote", {&F::lower_vote, true}},
      {"match", {&F::lower_match, true}},
      {"redux", {&F::lower_redux, true}},
      {"elect", {&F::lower_elect, true}},
      {"activemask", {&F::lower_activemask, true}},
      {"bar", {&F::lower_bar, true}},
      {"barrier", {&F::lower_bar, true}},
      {"fence", {&F::lower_fence, true}},
      {"membar", {&F::lower_membar, true}},
      {"cp", {&F::lower_cp, false}},
      {"ldmatrix", {&F::lower_ldmatrix, true}},
      {"stmatrix", {&F::lower_ldmatrix, true}},
      {"movmatrix", {&F::lower_movmatrix, true}},
      {"wmma", {&F::lower_wmma, true}},
      {"mma", {&F::lower_pure_operation, true}},
      {"alloca", {&F::lower_alloca, true}},
      {"stacksave", {&F::lower_stack, true}},
      {"stackrestore", {&F::lower_stack, true}},
      {"nanosleep", {&F::lower_nanosleep, true}},
      {"pmevent", {&F::lower_nothing, false}},
      {"griddepcontrol", {&F::lower_griddepcontrol, true}},
      {"mbarrier", {&F::lower_mbarrier, true}},
      {"applypriority", {&F::lower_nothing, false}},
  };
  auto it = kHandlers.find(opcode);
  return it == kHandlers.end() ? nullptr : &it->second;
}

} // namespace assay::ir
