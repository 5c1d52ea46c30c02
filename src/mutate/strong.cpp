// Faults of strong accesses: scope narrowed, acquire or release weakened, made weak. PTX ISA 9.0,
// section 8.4 (scopes), 8.3.3 (strong operations), 9.7.9.8 (ld), 9.7.9.11 (st), 9.7.13.5 (atom),
// 9.7.13.15 (mbarrier).
#include "mutate/kinds.hpp"

namespace assay::mutate {
namespace {

bool is_access(const Instruction& i) { return i.opcode == "ld" || i.opcode == "st"; }
bool is_atomic(const Instruction& i) { return i.opcode == "atom" || i.opcode == "red"; }

std::string scope_of(const Instruction& i) {
  return first_of(i, {".sys", ".gpu", ".cluster", ".cta"});
}

// A modifier put in front of the others, which is where ld, st and atom have order and scope.
Instruction with_front(Instruction i, const std::string& modifier) {
  i.modifiers.insert(i.modifiers.begin(), modifier);
  return i;
}

Instruction made_weak(const Instruction& i) {
  Instruction weak =
      exchanged(i, first_of(i, {".volatile", ".relaxed", ".acquire", ".release"}), "");
  return exchanged(weak, scope_of(weak), "");
}

// mbarrier operations have release or acquire at scope cta where they do not say otherwise.
void weaken_mbarrier(const Site& site, Faults& out) {
  const Instruction& i = site.instruction();
  bool arrive = has(i, ".arrive") || has(i, ".arrive_drop");
  bool wait = has(i, ".test_wait") || has(i, ".try_wait");
  if ((!arrive && !wait) || has(i, ".relaxed") || has(i, ".noComplete")) return;
  Instruction weaker = i;
  if (std::string order = first_of(i, {".acquire", ".release"}); !order.empty()) {
    weaker = exchanged(i, order, ".relaxed");
  } else {
    size_t words = has(i, ".expect_tx") || has(i, ".parity") ? 2 : 1;
    weaker.modifiers.insert(weaker.modifiers.begin() + long(words), {".relaxed", ".cta"});
  }
  if (legal(site.module, weaker)) add_replaced(site, "order-weakened", weaker, out);
}

} // namespace

void scope_narrowed(const Site& site, Faults& out) {
  const Instruction& i = site.instruction();
  if ((!is_access(i) && !is_atomic(i)) || !first_of(i, {".shared", ".shared::cta"}).empty()) return;
  const std::string scope = scope_of(i);
  if (scope == ".cta") return;
  if (scope.empty()) {
    if (!is_atomic(i)) return; // weak, or volatile, which has no scope to narrow
    size_t order = first_of(i, {".relaxed", ".acquire", ".release", ".acq_rel"}).empty() ? 0 : 1;
    Instruction narrow = i;
    narrow.modifiers.insert(narrow.modifiers.begin() + long(order), ".cta");
    add_replaced(site, "scope-narrowed", narrow, out);
    return;
  }
  if (scope == ".sys") add_replaced(site, "scope-narrowed", exchanged(i, scope, ".gpu"), out);
  add_replaced(site, "scope-narrowed", exchanged(i, scope, ".cta"), out);
}

void order_weakened(const Site& site, Faults& out) {
  const Instruction& i = site.instruction();
  if (i.opcode == "mbarrier") return weaken_mbarrier(site, out);
  if (!is_access(i) && !is_atomic(i)) return;
  const std::string order = first_of(i, {".acq_rel", ".acquire", ".release"});
  if (order.empty()) return;
  if (order == ".acq_rel")
    for (const char* weaker : {".acquire", ".release"})
      add_replaced(site, "order-weakened", exchanged(i, order, weaker), out);
  Instruction relaxed = exchanged(i, order, ".relaxed");
  if (scope_of(relaxed).empty() && is_access(i)) relaxed = with_front(relaxed, ".gpu");
  add_replaced(site, "order-weakened", relaxed, out);
}

void access_made_weak(const Site& site, Faults& out) {
  const Instruction& i = site.instruction();
  if (!is_access(i) || first_of(i, {".volatile", ".relaxed", ".acquire", ".release"}).empty())
    return;
  add_replaced(site, "made-weak", made_weak(i), out);
}

} // namespace assay::mutate
