// Faults of waits: for copies, at mbarriers and counted barriers, for the grid before. A count off
// by one, the wrong phase, a wait or commit that is not there. PTX ISA 9.0, sections 9.7.9.25.3
// (cp.async), 9.7.13.1 (bar), 9.7.13.13 (griddepcontrol) and 9.7.13.15 (mbarrier).
#include "mutate/kinds.hpp"

#include <fmt/format.h>

namespace assay::mutate {
namespace {

bool is_wait_group(const Instruction& i) { return i.opcode == "cp" && has(i, ".wait_group"); }
bool waits_on_mbarrier(const Instruction& i) {
  return i.opcode == "mbarrier" && (has(i, ".test_wait") || has(i, ".try_wait"));
}

// The operand of a count of arrivals, or −1.
int count_operand(const Instruction& i) {
  if (i.opcode != "mbarrier") return -1;
  if (has(i, ".init")) return 1;
  // The bytes that expect_tx waits for are counted too.
  bool counted = has(i, ".arrive") || has(i, ".arrive_drop");
  return counted && i.operands.size() > 2 ? 2 : has(i, ".expect_tx") && !counted ? 1 : -1;
}

// The instruction with operand `at` computed anew by `opcode` with `by`.
void add_computed(const Site& site, const char* kind, int at, const char* opcode, const char* type,
                  int64_t by, Faults& out) {
  const Instruction& i = site.instruction();
  const Operand& old = i.operands[size_t(at)];
  Instruction other = i;
  other.operands[size_t(at)] = register_operand("%assay_count");
  Instruction compute =
      make(i, opcode, {type}, {register_operand("%assay_count"), old, integer_operand(by)});
  add_replaced(site, kind, block({{"%assay_count", ptx::Type::b32}}, {compute, other}),
               fmt::format("{}{} {}", opcode, type, by), out);
}

// Of a barrier that says how many threads meet there: one warp more, one warp less.
void barrier_count(const Site& site, Faults& out) {
  constexpr int64_t kWarp = 32;
  const Instruction& i = site.instruction();
  if (i.operands.size() != 2) return;
  const Operand& n = i.operands[1];
  for (int64_t by : {kWarp, -kWarp}) {
    if (n.kind == Operand::Kind::reg) add_computed(site, "wait-count", 1, "add", ".u32", by, out);
    if (n.kind != Operand::Kind::integer || int64_t(n.bits) + by <= 0) continue;
    Instruction other = i;
    other.operands[1].bits = n.bits + uint64_t(by);
    add_replaced(site, "wait-count", other, out);
  }
}

} // namespace

void wait_count(const Site& site, Faults& out) {
  const Instruction& i = site.instruction();
  if (is_cta_barrier(i) && !has(i, ".red")) return barrier_count(site, out);
  Instruction more = i;
  if (is_wait_group(i)) {
    Operand& n = more.operands[0];
    if (n.kind != Operand::Kind::integer) return;
    ++n.bits;
    add_replaced(site, "wait-count", more, out);
    return;
  }
  int at = count_operand(i);
  if (at < 0) return;
  const Operand& n = i.operands[size_t(at)];
  if (n.kind == Operand::Kind::reg) {
    add_computed(site, "wait-count", at, "add", ".u32", 1, out);
    add_computed(site, "wait-count", at, "add", ".u32", -1, out);
    return;
  }
  if (n.kind != Operand::Kind::integer) return;
  more.operands[size_t(at)].bits = n.bits + 1;
  add_replaced(site, "wait-count", more, out);
  if (n.bits < 2) return; // a count of 0 is not legal
  more.operands[size_t(at)].bits = n.bits - 1;
  add_replaced(site, "wait-count", more, out);
}

void wait_dropped(const Site& site, Faults& out) {
  const Instruction& i = site.instruction();
  if (i.opcode == "cp" && (has(i, ".wait_all") || has(i, ".wait_group")))
    add_deleted(site, "wait-dropped", out);
  // Of an mbarrier: the wait is over at once.
  if (waits_on_mbarrier(i))
    add_replaced(
        site, "wait-dropped",
        make(i, "setp", {".eq", ".u32"}, {i.operands[0], integer_operand(0), integer_operand(0)}),
        out);
}

void commit_dropped(const Site& site, Faults& out) {
  const Instruction& i = site.instruction();
  if (i.opcode == "cp" && has(i, ".commit_group")) add_deleted(site, "commit-dropped", out);
  if (i.opcode == "cp" && has(i, ".mbarrier") && has(i, ".arrive"))
    add_deleted(site, "commit-dropped", out);
}

// A programmatic launch that does not wait for the grid before it, or does so too late.
void grid_wait_dropped(const Site& site, Faults& out) {
  const Instruction& i = site.instruction();
  if (i.opcode != "griddepcontrol" || !has(i, ".wait")) return;
  add_deleted(site, "grid-wait-dropped", out);
  add_moved_behind_access(site, "grid-wait-dropped", out);
}

void grid_launch_dropped(const Site& site, Faults& out) {
  const Instruction& i = site.instruction();
  if (i.opcode == "griddepcontrol" && has(i, ".launch_dependents"))
    add_deleted(site, "grid-launch-dropped", out);
}

void parity_flipped(const Site& site, Faults& out) {
  const Instruction& i = site.instruction();
  if (!waits_on_mbarrier(i) || !has(i, ".parity") || i.operands.size() < 3) return;
  const Operand& parity = i.operands[2];
  if (parity.kind == Operand::Kind::reg)
    return add_computed(site, "parity-flipped", 2, "xor", ".b32", 1, out);
  if (parity.kind != Operand::Kind::integer) return;
  Instruction other = i;
  other.operands[2].bits ^= 1;
  add_replaced(site, "parity-flipped", other, out);
}

} // namespace assay::mutate
