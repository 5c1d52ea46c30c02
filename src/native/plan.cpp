// Schemes of delays; see plan.hpp.
#include "native/plan.hpp"

#include "base/random.hpp"

#include <algorithm>

namespace assay::native {
namespace {

// May accesses of this kind be delayed by the conflict map? Without a whole map, all of them.
bool wanted(const Inventory& inventory, uint32_t site, bool shared, Scope scope) {
  if (!inventory.mapped || !inventory.map.complete) return true;
  return std::any_of(
      inventory.map.pairs.begin(), inventory.map.pairs.end(), [&](const Conflict& c) {
        return c.shared == shared && c.scope == scope && (c.first == site || c.second == site);
      });
}

Scheme make_scheme(const Inventory& inventory, Action action, bool shared) {
  Scheme scheme;
  scheme.action = action;
  scheme.shared = shared;
  scheme.actions.assign(inventory.sites.size(), kNothing);
  const Scope scope = action == kDelayByBlock ? kAcrossBlocks : kWithinBlock;
  const uint32_t region = shared ? kSiteShared : kSiteGlobal;
  for (uint32_t i = 0; i < scheme.actions.size(); ++i) {
    if (inventory.sites[i].lanes == 0 || !(inventory.sites[i].flags & region)) continue;
    // The map does not hold accesses to other blocks' shared memory.
    const bool remote = shared && action == kDelayByBlock;
    if (!remote && !wanted(inventory, i, shared, scope)) continue;
    scheme.actions[i] = action;
    ++scheme.instructions;
  }
  return scheme;
}

} // namespace

bool apply_preset(const std::string& name, Settings& settings) {
  if (name == "default") return true;
  if (name == "paper") {
    settings.plain = 4;
    settings.cycles = 5000;
    settings.probability = 80;
    settings.delayed_blocks = 8;
    settings.perturbed = 4;
    settings.varied = false;
    return true;
  }
  if (name == "quick") {
    settings.plain = 2;
    settings.perturbed = 2;
    return true;
  }
  return false;
}

uint64_t Inventory::accesses() const {
  uint64_t sum = 0;
  for (Counter counter : {kGlobalReads, kGlobalWrites, kGlobalAtomics, kSharedReads, kSharedWrites,
                          kSharedAtomics, kRemoteShared, kAsyncCopies})
    sum += counters[counter];
  return sum;
}

bool Inventory::unobserved() const {
  for (Counter counter :
       {kBulkLoads, kBulkStores, kWarpgroupMma, kAsyncStores, kMbarriers, kRemoteShared})
    if (counters[counter]) return true;
  return false;
}

std::string Scheme::name() const {
  return std::string(shared ? "shared" : "global") + " memory, by " +
         (action == kDelayByBlock ? "block" : "warp");
}

std::vector<Scheme> schemes_for(const Launch& launch, const Inventory& inventory) {
  std::vector<Scheme> out;
  auto consider = [&](Action action, bool shared) {
    Scheme scheme = make_scheme(inventory, action, shared);
    if (scheme.instructions) out.push_back(std::move(scheme));
  };
  const bool several_blocks = launch.grid.count() > 1, several_warps = launch.block.count() > 32;
  if (several_blocks) consider(kDelayByBlock, false);
  if (several_warps) consider(kDelayByWarp, true);
  if (several_warps) consider(kDelayByWarp, false);
  if (launch.cluster.count() > 1) consider(kDelayByBlock, true);
  return out;
}

Variation vary(const Scheme& scheme, const Settings& settings, uint32_t index) {
  Variation out{scheme.actions, settings.cycles, settings.probability * 65536 / 100};
  if (!settings.varied || index == 0) return out;
  if (index % 4 == 1 || index % 4 == 2) out.cycles = settings.cycles * 10;
  if (index == 1) return out;
  out.probability = 32768;
  bool any = false;
  for (size_t i = 0; i < out.actions.size(); ++i) {
    const bool half = random_at(settings.seed, index / 2, i) & 1;
    if (half == (index % 2 == 1)) out.actions[i] = kNothing;
    any = any || out.actions[i] != kNothing;
  }
  if (!any) out.actions = scheme.actions; // one instruction, say
  return out;
}

uint32_t scaled_cycles(uint32_t cycles, const Launch& launch, uint64_t accesses) {
  constexpr uint64_t kPatience = 200'000'000; // cycles: about a tenth of a second
  const uint64_t warps = launch.grid.count() * ((launch.block.count() + 31) / 32);
  const uint64_t per_warp = accesses / 32 / std::max<uint64_t>(warps, 1) + 1;
  // Blocks that are not resident together wait one after the other; assume 2,000 at a time.
  const uint64_t rounds = launch.grid.count() / 2000 + 1;
  const uint64_t most = kPatience / per_warp / rounds;
  return uint32_t(std::clamp<uint64_t>(most, 16, std::max<uint32_t>(cycles, 16)));
}

uint32_t shared_blocks_for(const Inventory& inventory) {
  constexpr uint64_t kMost = 30'000'000;
  uint64_t shared = 0;
  for (Counter counter : {kSharedReads, kSharedWrites, kSharedAtomics, kAsyncCopies})
    shared += inventory.counters[counter];
  return shared <= kMost ? 65536 : uint32_t(std::max<uint64_t>(kMost * 65536 / shared, 1));
}

uint64_t cells_for(const Inventory& inventory, uint64_t room) {
  const uint64_t shared = inventory.counters[kSharedGranules];
  const uint64_t granules =
      inventory.counters[kGlobalGranules] + shared * shared_blocks_for(inventory) / 65536;
  if (granules + shared == 0) return 0;
  uint64_t cells = 1 << 16;
  while (cells < 3 * granules && cells < (uint64_t(1) << 30)) cells *= 2;
  while (cells && cells * sizeof(Cell) > room) cells /= 2;
  return cells < (1 << 12) ? 0 : cells;
}

} // namespace assay::native
