// Faults of barriers: deleted, moved, narrowed to a warp. PTX ISA 9.0, sections 9.7.13.1 (bar,
// barrier) and 9.7.13.2 (bar.warp.sync).
#include "mutate/kinds.hpp"

#include <optional>

namespace assay::mutate {
namespace {

using Kind = Statement::Kind;

// A reduction that no other thread takes part in: everyone gets what it gave.
Instruction own_value(const Instruction& red) {
  const Operand &d = red.operands.front(), &c = red.operands.back();
  if (has(red, ".popc")) {
    Operand plain = c;
    plain.negated = false;
    Operand one = integer_operand(1), zero = integer_operand(0);
    return make(red, "selp", {".u32"}, {d, c.negated ? zero : one, c.negated ? one : zero, plain});
  }
  Operand plain = c;
  plain.negated = false;
  return make(red, c.negated ? "not" : "mov", {".pred"}, {d, plain});
}

// The innermost loop around a statement, as nvcc writes them: from a label to the last branch back
// to it.
struct Loop {
  uint32_t label, branch;
};
std::optional<Loop> loop_around(const Site& site) {
  std::optional<Loop> best;
  const std::vector<Statement>& body = site.body();
  for (uint32_t at = 0; at < site.statement; ++at) {
    if (body[at].kind != Kind::label) continue;
    for (uint32_t j = uint32_t(body.size()); j-- > site.statement + 1;) {
      const Statement& s = body[j];
      if (s.kind != Kind::instruction || s.instruction.opcode != "bra") continue;
      if (s.instruction.operands.empty() || s.instruction.operands[0].name != body[at].name)
        continue;
      if (!best || j - at < best->branch - best->label) best = Loop{at, j};
      break;
    }
  }
  return best;
}

} // namespace

void barrier_deleted(const Site& site, Faults& out) {
  const Instruction& i = site.instruction();
  if (!is_cta_barrier(i)) return;
  if (has(i, ".red"))
    add_replaced(site, "barrier-deleted", own_value(i), out);
  else
    add_deleted(site, "barrier-deleted", out);
}

void warp_barrier_deleted(const Site& site, Faults& out) {
  if (is_warp_barrier(site.instruction())) add_deleted(site, "warp-barrier-deleted", out);
}

// Across the next access and across the last one, within straight code.
void barrier_moved(const Site& site, Faults& out) {
  const Instruction& i = site.instruction();
  if (!is_cta_barrier(i) && !is_warp_barrier(i)) return;
  if (has(i, ".red")) return; // its result may be needed in between
  add_moved_behind_access(site, "barrier-moved", out);
  const std::vector<Statement>& body = site.body();
  for (uint32_t j = site.statement; j-- > 0 && !ends_line(body[j]);)
    if (body[j].kind == Kind::instruction && accesses_memory(body[j].instruction)) {
      add_moved(site, "barrier-moved", j, "before the last access", out);
      break;
    }
}

void barrier_out_of_loop(const Site& site, Faults& out) {
  const Instruction& i = site.instruction();
  if ((!is_cta_barrier(i) && !is_warp_barrier(i)) || has(i, ".red")) return;
  std::optional<Loop> loop = loop_around(site);
  if (!loop) return;
  add_moved(site, "barrier-out-of-loop", loop->label, "before the loop", out);
  // Behind a branch that is always taken nothing is executed.
  if (!site.body()[loop->branch].instruction.guard.empty())
    add_moved(site, "barrier-out-of-loop", loop->branch + 1, "behind the loop", out);
}

void barrier_narrowed(const Site& site, Faults& out) {
  const Instruction& i = site.instruction();
  if (!is_cta_barrier(i) || !(has(i, ".sync") || i.modifiers.empty() || has(i, ".cta"))) return;
  if (has(i, ".red") || has(i, ".arrive")) return;
  add_replaced(site, "barrier-narrowed", make(i, "bar", {".warp", ".sync"}, {integer_operand(-1)}),
               out);
}

} // namespace assay::mutate
