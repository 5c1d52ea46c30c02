// Faults of fences: dropped, narrowed in scope, weakened. PTX ISA 9.0, section 9.7.13.4;
// membar.cta, .gl and .sys are fence.sc.cta, .gpu and .sys.
#include "mutate/kinds.hpp"

namespace assay::mutate {
namespace {
bool is_fence(const Instruction& i) { return i.opcode == "fence" || i.opcode == "membar"; }
} // namespace

void fence_dropped(const Site& site, Faults& out) {
  if (is_fence(site.instruction())) add_deleted(site, "fence-dropped", out);
}

void fence_narrowed(const Site& site, Faults& out) {
  const Instruction& i = site.instruction();
  if (!is_fence(i) || has(i, ".proxy")) return;
  const std::string gpu = i.opcode == "membar" ? ".gl" : ".gpu";
  const std::string scope = first_of(i, {".sys", ".gl", ".gpu", ".cluster"});
  if (scope == ".sys") add_replaced(site, "fence-narrowed", exchanged(i, scope, gpu), out);
  if (!scope.empty()) add_replaced(site, "fence-narrowed", exchanged(i, scope, ".cta"), out);
}

void fence_weakened(const Site& site, Faults& out) {
  const Instruction& i = site.instruction();
  if (!is_fence(i) || has(i, ".proxy")) return;
  std::string scope = first_of(i, {".sys", ".gl", ".gpu", ".cluster", ".cta"});
  if (scope.empty()) return;
  const bool sc = i.opcode == "membar" || has(i, ".sc");
  if (scope == ".gl") scope = ".gpu";
  std::vector<std::string> orders;
  if (sc) orders = {".acq_rel"};
  if (sc || has(i, ".acq_rel") || i.modifiers.size() == 1) // without a word it is acq_rel
    orders.insert(orders.end(), {".acquire", ".release"});
  for (const std::string& order : orders) {
    Instruction weaker = make(i, "fence", {order, scope}, {});
    if (legal(site.module, weaker)) add_replaced(site, "fence-weakened", weaker, out);
  }
}

} // namespace assay::mutate
