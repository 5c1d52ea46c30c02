// Schemes of delays; see plan.hpp.
#include "native/plan.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <numeric>

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

Scheme make_scheme(const Inventory& inventory, Action action, uint32_t region) {
  Scheme scheme;
  scheme.action = action;
  scheme.region = region;
  scheme.actions.assign(inventory.sites.size(), kNothing);
  const bool shared = region == kSiteShared;
  const Scope scope = action == kDelayByBlock ? kAcrossBlocks : kWithinBlock;
  for (uint32_t i = 0; i < scheme.actions.size(); ++i) {
    if (inventory.sites[i].lanes == 0 || !(inventory.sites[i].flags & region)) continue;
    // The map does not hold accesses to other blocks' shared memory.
    const bool free = region == kSiteSync || (shared && action == kDelayByBlock);
    if (!free && !wanted(inventory, i, shared, scope)) continue;
    scheme.actions[i] = action;
    ++scheme.instructions;
  }
  for (const Conflict& pair : inventory.map.pairs)
    if (region != kSiteSync && pair.shared == shared && pair.scope == scope)
      scheme.pairs.emplace_back(pair.first, pair.second);
  std::reverse(scheme.pairs.begin(), scheme.pairs.end()); // they come by count, the greatest first
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
    settings.outside = 0;
    settings.extra = 0;
    return true;
  }
  if (name == "quick") {
    settings.plain = 2;
    settings.perturbed = 2;
    settings.outside = 0;
    settings.extra = 0;
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
  const char* what = region == kSiteSync     ? "barriers"
                     : region == kSiteShared ? "shared memory"
                                             : "global memory";
  return std::string(what) + ", by " + (action == kDelayByBlock ? "block" : "warp");
}

std::vector<Scheme> schemes_for(const Launch& launch, const Inventory& inventory, bool unseen) {
  std::vector<Scheme> out;
  auto consider = [&](Action action, uint32_t region) {
    Scheme scheme = make_scheme(inventory, action, region);
    if (scheme.instructions) out.push_back(std::move(scheme));
  };
  const bool several_blocks = launch.grid.count() > 1, several_warps = launch.block.count() > 32;
  if (several_blocks) consider(kDelayByBlock, kSiteGlobal);
  if (several_warps) consider(kDelayByWarp, kSiteShared);
  if (several_warps) consider(kDelayByWarp, kSiteGlobal);
  if (launch.cluster.count() > 1) consider(kDelayByBlock, kSiteShared);
  if (several_warps && (unseen || inventory.unobserved())) consider(kDelayByWarp, kSiteSync);
  return out;
}

namespace {

// Blocks meet through what each of their warps does: one that is late while another has announced
// the whole block's result shows only when the two wait differently.
void by_warp(Variation& variation) {
  for (uint8_t& action : variation.actions)
    if (action == kDelayByBlock) action = kDelayByWarp;
}

} // namespace

Variation vary(const Scheme& scheme, const Settings& settings, uint32_t index) {
  Variation out{scheme.actions, settings.cycles, settings.probability * 65536 / 100};
  if (!settings.varied || index == 0) return out;
  if (index >= settings.perturbed && !scheme.pairs.empty()) {
    const uint32_t further = index - settings.perturbed, pairs = uint32_t(scheme.pairs.size());
    const uint32_t pair = further / 2 % pairs, round = further / 2 / pairs;
    const auto& [first, second] = scheme.pairs[pair];
    const uint32_t side = further % 2 ? second : first;
    for (size_t i = 0; i < out.actions.size(); ++i)
      if (i != side) out.actions[i] = kNothing;
    // From round to round each pair meets each manner, whatever their number.
    constexpr uint32_t kLengths[] = {10, 100, 1};
    out.cycles = settings.cycles * kLengths[(round / 2 + pair / 2) % 3];
    out.probability = 32768;
    if ((round + pair) % 2) by_warp(out);
    return out;
  }
  if (index % 4 == 1 || index % 4 == 2) out.cycles = settings.cycles * 10;
  if (index == 1) return out;
  out.probability = 32768;
  if (index % 4 < 2) by_warp(out);
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
  constexpr uint64_t kInTurn = 2'000'000'000; // about a second, were all delays one after the other
  constexpr uint64_t kShort = 50'000;         // no such bound for these
  const uint64_t warps = launch.grid.count() * ((launch.block.count() + 31) / 32);
  const uint64_t per_warp = accesses / 32 / std::max<uint64_t>(warps, 1) + 1;
  // Blocks that are not resident together wait one after the other; assume 2,000 at a time.
  const uint64_t rounds = launch.grid.count() / 2000 + 1;
  const uint64_t most =
      std::min(kPatience / per_warp / rounds, std::max(kInTurn / (accesses / 32 + 1), kShort));
  return uint32_t(std::clamp<uint64_t>(most, 16, std::max<uint32_t>(cycles, 16)));
}

uint32_t shared_blocks_for(const Inventory& inventory) {
  constexpr uint64_t kMost = 30'000'000;
  uint64_t shared = 0;
  for (Counter counter : {kSharedReads, kSharedWrites, kSharedAtomics, kAsyncCopies})
    shared += inventory.counters[counter];
  return shared <= kMost ? 65536 : uint32_t(std::max<uint64_t>(kMost * 65536 / shared, 1));
}

uint32_t step_through(uint64_t blocks, uint64_t seed) {
  if (blocks < 3) return 1;
  uint64_t step = 1 + random_at(seed, blocks, 7) % (blocks - 1);
  while (std::gcd(step, blocks) != 1) step = step % (blocks - 1) + 1;
  return uint32_t(step);
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

uint32_t line_share_for(const Inventory& inventory, uint64_t reachable_bytes, uint64_t cells) {
  const uint64_t shared =
      inventory.counters[kSharedGranules] * shared_blocks_for(inventory) / 65536;
  const uint64_t global =
      std::min<uint64_t>(inventory.counters[kGlobalGranules], reachable_bytes / 4);
  const uint64_t half = cells / 2;
  if (global + shared <= half || global == 0) return 0;
  const uint64_t room = half > shared ? half - shared : 1;
  return uint32_t(std::clamp<uint64_t>(room * 65536 / global, 1, 65535));
}

} // namespace assay::native
