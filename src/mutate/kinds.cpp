// The table of fault kinds, and planting; see fault.hpp.
#include "mutate/kinds.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <map>

namespace assay::mutate {

const std::vector<FaultKind>& fault_kinds() {
  static const std::vector<FaultKind> table = {
      {"barrier-deleted", "a barrier of the block is deleted", barrier_deleted},
      {"warp-barrier-deleted", "a barrier of the warp is deleted", warp_barrier_deleted},
      {"barrier-moved", "a barrier is moved across the neighbouring access", barrier_moved},
      {"barrier-out-of-loop", "a barrier is moved out of its loop", barrier_out_of_loop},
      {"barrier-narrowed", "a barrier of the block becomes one of the warp", barrier_narrowed},
      {"fence-dropped", "a fence is dropped", fence_dropped},
      {"fence-narrowed", "a fence's scope is narrowed", fence_narrowed},
      {"fence-weakened", "a fence orders less", fence_weakened},
      {"scope-narrowed", "the scope of an access is narrowed", scope_narrowed},
      {"order-weakened", "an acquire or release is weakened", order_weakened},
      {"made-weak", "a strong access is made weak", access_made_weak},
      {"mask-shrunk", "a member mask loses a lane", mask_shrunk},
      {"wait-count", "a wait's or an mbarrier's count is off by one", wait_count},
      {"wait-dropped", "a wait for copies or for a phase is dropped", wait_dropped},
      {"commit-dropped", "copies are not committed", commit_dropped},
      {"parity-flipped", "a wait is for the wrong phase", parity_flipped},
      {"grid-wait-dropped", "the wait for the grid before is dropped or late", grid_wait_dropped},
      {"grid-launch-dropped", "the dependent grid is not let go", grid_launch_dropped},
      {"write-aliased", "a write goes to another thread's address", write_aliased},
      {"atomic-made-plain", "an atomic becomes load, operation, store", atomic_made_plain},
      {"atomic-taken-apart", "the same with relaxed accesses", atomic_taken_apart},
  };
  return table;
}

Faults faults(const ptx::Module& module, const std::set<std::string>& functions,
              const std::set<std::string>& kinds) {
  Faults out;
  for (uint32_t f = 0; f < module.functions.size(); ++f) {
    const ptx::Function& function = module.functions[f];
    if (!functions.empty() && !functions.count(function.name)) continue;
    for (uint32_t s = 0; s < function.body.size(); ++s) {
      if (function.body[s].kind != Statement::Kind::instruction) continue;
      for (const FaultKind& kind : fault_kinds())
        if (kinds.empty() || kinds.count(kind.name)) kind.plant({module, f, s}, out);
    }
  }
  return out;
}

namespace {
size_t unknown_instructions(const ptx::Module& module) {
  size_t n = 0;
  for (const ptx::Function& function : module.functions)
    for (const Statement& s : function.body)
      n += s.kind == Statement::Kind::instruction && !s.instruction.row;
  return n;
}
} // namespace

Result<ptx::Module> plant(const ptx::Module& module, const Fault& fault) {
  ptx::Module edited = module;
  std::vector<Statement>& body = edited.functions[fault.function].body;
  for (auto edit = fault.edits.rbegin(); edit != fault.edits.rend(); ++edit) {
    body.erase(body.begin() + edit->begin, body.begin() + edit->end);
    body.insert(body.begin() + edit->begin, edit->with.begin(), edit->with.end());
  }
  const std::string text = ptx::print(edited);
  Result<ptx::Module> parsed = ptx::parse(text, module.file);
  if (!parsed) return parsed;
  // What isa.def does not know may stand in the sound kernel too, where nobody reaches it.
  if (unknown_instructions(*parsed) > unknown_instructions(module))
    return ptx::parse(text, module.file, {.keep_going = false}).error();
  for (size_t f = 0; f < parsed->functions.size() && f < edited.functions.size(); ++f) {
    std::vector<Statement>& to = parsed->functions[f].body;
    const std::vector<Statement>& from = edited.functions[f].body;
    parsed->functions[f].position = edited.functions[f].position;
    for (size_t s = 0; s < to.size() && s < from.size(); ++s) {
      const bool known = from[s].position.line != 0;
      to[s].position = known ? from[s].position : fault.position;
      to[s].instruction.position = to[s].position;
    }
  }
  return parsed;
}

Faults choose(const Faults& all, size_t limit, uint64_t seed) {
  if (!limit || all.size() <= limit) return all;
  std::map<std::string, std::vector<size_t>> by_kind;
  for (size_t i = 0; i < all.size(); ++i) by_kind[all[i].kind].push_back(i);
  Random random(seed);
  for (auto& [kind, list] : by_kind)
    for (size_t i = list.size(); i > 1; --i)
      std::swap(list[i - 1], list[random.below(uint32_t(i))]);
  std::vector<size_t> chosen;
  while (chosen.size() < limit)
    for (auto& [kind, list] : by_kind) {
      if (list.empty() || chosen.size() == limit) continue;
      chosen.push_back(list.back());
      list.pop_back();
    }
  std::sort(chosen.begin(), chosen.end());
  Faults out;
  for (size_t i : chosen) out.push_back(all[i]);
  return out;
}

} // namespace assay::mutate
