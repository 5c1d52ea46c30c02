// Edits of instructions; see edit.hpp.
#include "mutate/edit.hpp"

#include "ptx/isa.hpp"

#include <algorithm>

namespace assay::mutate {

bool has(const Instruction& i, std::string_view modifier) {
  return std::find(i.modifiers.begin(), i.modifiers.end(), modifier) != i.modifiers.end();
}

std::string first_of(const Instruction& i, std::initializer_list<std::string_view> modifiers) {
  for (std::string_view m : modifiers)
    if (has(i, m)) return std::string(m);
  return "";
}

Instruction exchanged(Instruction i, std::string_view from, std::string_view to) {
  auto at = std::find(i.modifiers.begin(), i.modifiers.end(), from);
  if (at == i.modifiers.end()) return i;
  if (to.empty())
    i.modifiers.erase(at);
  else
    *at = to;
  return i;
}

bool legal(const ptx::Module& module, const Instruction& i) {
  const std::string_view target =
      module.target.empty() ? "sm_90" : std::string_view(module.target[0]);
  const uint32_t version = 10 * module.version_major + module.version_minor;
  for (const ptx::IsaRow* row : ptx::isa_rows(i.opcode))
    if (ptx::match_reordered(*row, i.modifiers) &&
        !ptx::availability(*row, i.modifiers, version, target).unmet)
      return true;
  return false;
}

ptx::Type type_of(const Instruction& i) {
  for (auto m = i.modifiers.rbegin(); m != i.modifiers.rend(); ++m)
    if (ptx::Type type = ptx::type_from(*m); type != ptx::Type::none) return type;
  return ptx::Type::none;
}

uint32_t register_bits(const Site& site, const std::string& name) {
  for (const Statement& s : site.body()) {
    if (s.kind != Statement::Kind::variable || s.variable.space != ptx::Space::reg) continue;
    const ptx::Variable& v = s.variable;
    bool one_of = v.register_range && name.size() > v.name.size() && name.starts_with(v.name) &&
                  std::all_of(name.begin() + long(v.name.size()), name.end(),
                              [](char c) { return c >= '0' && c <= '9'; });
    if (one_of || (!v.register_range && v.name == name)) return ptx::bits(v.type);
  }
  return 0;
}

bool accesses_memory(const Instruction& i) {
  static const std::set<std::string> opcodes = {"ld", "st", "atom", "red", "ldmatrix", "stmatrix"};
  if (i.opcode == "cp") return has(i, ".async") && !i.operands.empty();
  if (!opcodes.count(i.opcode)) return false;
  return first_of(i, {".param", ".local", ".const"}).empty();
}

bool is_cta_barrier(const Instruction& i) {
  if (i.opcode != "bar" && i.opcode != "barrier") return false;
  return !has(i, ".warp") && !has(i, ".cluster");
}

bool is_warp_barrier(const Instruction& i) { return i.opcode == "bar" && has(i, ".warp"); }

bool ends_line(const Statement& s) {
  using Kind = Statement::Kind;
  if (s.kind == Kind::variable || s.kind == Kind::pragma) return false;
  if (s.kind != Kind::instruction) return true;
  static const std::set<std::string> jumps = {"bra", "brx", "call", "ret", "exit", "trap"};
  return jumps.count(s.instruction.opcode) || is_cta_barrier(s.instruction) ||
         is_warp_barrier(s.instruction);
}

Operand register_operand(const std::string& name) {
  Operand o;
  o.kind = Operand::Kind::reg;
  o.name = name;
  return o;
}

Operand integer_operand(int64_t value) {
  Operand o;
  o.kind = Operand::Kind::integer;
  o.bits = uint64_t(value);
  return o;
}

Instruction make(const Instruction& like, std::string opcode, std::vector<std::string> modifiers,
                 std::vector<Operand> operands) {
  Instruction i;
  i.position = like.position;
  i.loc = like.loc;
  i.guard = like.guard;
  i.guard_negated = like.guard_negated;
  i.opcode = std::move(opcode);
  i.modifiers = std::move(modifiers);
  i.operands = std::move(operands);
  return i;
}

Statement statement(Instruction i) {
  Statement s;
  s.kind = Statement::Kind::instruction;
  s.position = i.position;
  s.instruction = std::move(i);
  return s;
}

std::vector<Statement> block(std::initializer_list<Scratch> scratch,
                             std::vector<Instruction> instructions) {
  std::vector<Statement> out(1);
  out[0].kind = Statement::Kind::block_begin;
  for (const Scratch& each : scratch) {
    Statement s;
    s.kind = Statement::Kind::variable;
    s.variable.space = ptx::Space::reg;
    s.variable.type = each.type;
    s.variable.name = each.name;
    out.push_back(std::move(s));
  }
  for (Instruction& i : instructions) out.push_back(statement(std::move(i)));
  out.emplace_back().kind = Statement::Kind::block_end;
  return out;
}

namespace {

Fault fault_at(const Site& site, const char* kind, std::string after) {
  Fault fault;
  fault.kind = kind;
  fault.function = site.function;
  fault.statement = site.statement;
  Instruction bare = site.instruction();
  bare.guard.clear();
  fault.before = ptx::print(bare);
  fault.before.pop_back(); // the semicolon
  fault.after = std::move(after);
  fault.position = site.instruction().position;
  return fault;
}

} // namespace

void add_replaced(const Site& site, const char* kind, std::vector<Statement> with,
                  std::string after, Faults& out) {
  Fault fault = fault_at(site, kind, std::move(after));
  fault.edits.push_back({site.statement, site.statement + 1, std::move(with)});
  out.push_back(std::move(fault));
}

void add_replaced(const Site& site, const char* kind, Instruction with, Faults& out) {
  Instruction bare = with;
  bare.guard.clear();
  std::string after = ptx::print(bare);
  after.pop_back();
  std::vector<Statement> statements = {statement(std::move(with))};
  add_replaced(site, kind, std::move(statements), std::move(after), out);
}

void add_deleted(const Site& site, const char* kind, Faults& out) {
  add_replaced(site, kind, std::vector<Statement>{}, "deleted", out);
}

void add_moved(const Site& site, const char* kind, uint32_t to, std::string after, Faults& out) {
  Fault fault = fault_at(site, kind, std::move(after));
  Edit gone{site.statement, site.statement + 1, {}};
  Edit here{to, to, {site.body()[site.statement]}};
  if (to <= site.statement)
    fault.edits = {std::move(here), std::move(gone)};
  else
    fault.edits = {std::move(gone), std::move(here)};
  out.push_back(std::move(fault));
}

void add_moved_behind_access(const Site& site, const char* kind, Faults& out) {
  const std::vector<Statement>& body = site.body();
  for (uint32_t j = site.statement + 1; j < body.size() && !ends_line(body[j]); ++j)
    if (body[j].kind == Statement::Kind::instruction && accesses_memory(body[j].instruction))
      return add_moved(site, kind, j + 1, "behind the next access", out);
}

} // namespace assay::mutate
