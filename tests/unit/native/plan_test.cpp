// Conflicts and the delays that follow from them.
#include "native/plan.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <tuple>

namespace assay::native {
namespace {

PairSlot slot(uint32_t first, uint32_t second, Scope scope, bool shared, bool atomic,
              uint64_t count) {
  PairSlot s{};
  s.key = 1ull << kPairValidBit | (unsigned long long)shared << kPairSharedBit |
          (unsigned long long)scope << kPairScopeBit |
          (unsigned long long)atomic << kPairAtomicBit |
          (unsigned long long)second << kPairSecondBit | first;
  s.count = count;
  return s;
}

Launch launch_of(uint32_t blocks, uint32_t threads) {
  Launch launch;
  launch.grid.x = blocks;
  launch.block.x = threads;
  return launch;
}

// Instruction 0 reads global memory, 1 stores to it, 2 stores to shared memory, 3 reads that.
Inventory inventory_of(const std::vector<PairSlot>& slots, bool mapped = true, uint64_t lost = 0) {
  Inventory inventory;
  inventory.sites = {{32, kSiteGlobal | kSiteReads, 0},
                     {32, kSiteGlobal | kSiteWrites, 0},
                     {32, kSiteShared | kSiteWrites, 0},
                     {32, kSiteShared | kSiteReads, 0},
                     {0, 0, 0}};
  inventory.counters[kGlobalReads] = 32;
  inventory.mapped = mapped;
  inventory.map = make_map(slots, lost, 0);
  return inventory;
}

TEST(Conflicts, AreUnpackedAndOrderedByScope) {
  const ConflictMap map = make_map({slot(1, 2, kWithinBlock, true, false, 9), PairSlot{},
                                    slot(3, 4, kAcrossBlocks, false, true, 1)},
                                   0, 0);
  ASSERT_EQ(map.pairs.size(), 2u);
  EXPECT_EQ(map.pairs[0].first, 3u);
  EXPECT_EQ(map.pairs[0].second, 4u);
  EXPECT_TRUE(map.pairs[0].atomic);
  EXPECT_FALSE(map.pairs[0].shared);
  EXPECT_EQ(map.counts[1][kWithinBlock], 9u);
  EXPECT_EQ(map.counts[0][kAcrossBlocks], 1u);
  EXPECT_TRUE(map.complete);
  EXPECT_FALSE(make_map({}, 1, 0).complete);
}

TEST(Conflicts, OnlyFloatAtomics) {
  auto is_float = [](uint32_t site) { return site == 5; };
  EXPECT_TRUE(
      only_float_atomics(make_map({slot(5, 5, kAcrossBlocks, false, true, 3)}, 0, 0), is_float));
  EXPECT_FALSE(only_float_atomics(make_map({}, 0, 0), is_float));
  EXPECT_FALSE(
      only_float_atomics(make_map({slot(5, 6, kAcrossBlocks, false, true, 3)}, 0, 0), is_float));
  // A plain access among them, or pairs that were lost: no such claim.
  EXPECT_FALSE(only_float_atomics(make_map({slot(5, 5, kAcrossBlocks, false, true, 3),
                                            slot(1, 2, kWithinBlock, true, false, 1)},
                                           0, 0),
                                  is_float));
  EXPECT_FALSE(
      only_float_atomics(make_map({slot(5, 5, kAcrossBlocks, false, true, 3)}, 0, 1), is_float));
}

TEST(Schemes, FollowTheConflicts) {
  const auto schemes =
      schemes_for(launch_of(4, 256), inventory_of({slot(2, 3, kWithinBlock, true, false, 7)}));
  ASSERT_EQ(schemes.size(), 1u);
  EXPECT_EQ(schemes[0].name(), "shared memory, by warp");
  EXPECT_EQ(schemes[0].instructions, 2u);
  EXPECT_EQ(schemes[0].actions, (std::vector<uint8_t>{0, 0, kDelayByWarp, kDelayByWarp, 0}));
}

TEST(Schemes, ConflictsBetweenBlocksAreDelayedByBlock) {
  const auto schemes =
      schemes_for(launch_of(4, 256), inventory_of({slot(1, 1, kAcrossBlocks, false, false, 7)}));
  ASSERT_EQ(schemes.size(), 1u);
  EXPECT_EQ(schemes[0].action, kDelayByBlock);
  EXPECT_EQ(schemes[0].actions[1], kDelayByBlock);
  EXPECT_EQ(schemes[0].actions[0], kNothing);
}

TEST(Schemes, NothingToPerturb) {
  EXPECT_TRUE(schemes_for(launch_of(4, 256), inventory_of({})).empty());
  // Inside a warp a delay changes nothing.
  EXPECT_TRUE(
      schemes_for(launch_of(4, 256), inventory_of({slot(2, 3, kWithinWarp, true, false, 7)}))
          .empty());
}

TEST(Schemes, WithoutAWholeMapEverythingIsDelayed) {
  EXPECT_EQ(schemes_for(launch_of(4, 256), inventory_of({}, false)).size(), 3u);
  EXPECT_EQ(schemes_for(launch_of(4, 256), inventory_of({}, true, 1)).size(), 3u);
  // One warp in one block: no other to delay against.
  EXPECT_TRUE(schemes_for(launch_of(1, 32), inventory_of({}, false)).empty());
}

TEST(Schemes, ClustersAreDelayedByBlockInSharedMemory) {
  Launch launch = launch_of(4, 256);
  launch.cluster.x = 2;
  const auto schemes = schemes_for(launch, inventory_of({}));
  ASSERT_EQ(schemes.size(), 1u);
  EXPECT_EQ(schemes[0].name(), "shared memory, by block");
  EXPECT_EQ(schemes[0].instructions, 2u);
}

TEST(Delays, VaryFromRepeatToRepeat) {
  Scheme scheme;
  scheme.actions.assign(100, kDelayByWarp);
  scheme.actions[7] = kNothing;
  Settings settings;
  settings.cycles = 1000;
  auto count = [](const Variation& v) {
    return std::count_if(v.actions.begin(), v.actions.end(),
                         [](uint8_t a) { return a != kNothing; });
  };
  EXPECT_EQ(vary(scheme, settings, 0).actions, scheme.actions);
  EXPECT_EQ(vary(scheme, settings, 0).cycles, 1000u);
  EXPECT_EQ(vary(scheme, settings, 1).actions, scheme.actions);
  EXPECT_EQ(vary(scheme, settings, 1).cycles, 10000u);
  for (uint32_t index : {2u, 4u}) {
    // A half and the other half: together everything, and nothing twice.
    const Variation a = vary(scheme, settings, index), b = vary(scheme, settings, index + 1);
    EXPECT_EQ(count(a) + count(b), 99);
    EXPECT_GT(count(a), 20);
    EXPECT_GT(count(b), 20);
    for (size_t i = 0; i < 100; ++i) EXPECT_FALSE(a.actions[i] && b.actions[i]) << i;
    EXPECT_NE(a.cycles, b.cycles);
  }
  EXPECT_NE(vary(scheme, settings, 2).actions, vary(scheme, settings, 4).actions);
  settings.varied = false;
  EXPECT_EQ(vary(scheme, settings, 3).actions, scheme.actions);
  EXPECT_EQ(vary(scheme, settings, 3).cycles, 1000u);
}

TEST(Delays, FurtherRepeatsDelayOneSideOfOneConflict) {
  const auto schemes =
      schemes_for(launch_of(4, 256), inventory_of({slot(2, 3, kWithinBlock, true, false, 7),
                                                   slot(2, 2, kWithinBlock, true, false, 1)}));
  ASSERT_EQ(schemes.size(), 1u);
  using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;
  EXPECT_EQ(schemes[0].pairs, (Pairs{{2, 2}, {2, 3}}));
  Settings settings;
  auto delayed = [&](uint32_t index) {
    const Variation v = vary(schemes[0], settings, settings.perturbed + index);
    std::vector<size_t> out;
    for (size_t i = 0; i < v.actions.size(); ++i)
      if (v.actions[i]) out.push_back(i);
    return out;
  };
  using Sites = std::vector<size_t>;
  EXPECT_EQ(delayed(0), Sites{2});
  EXPECT_EQ(delayed(2), Sites{2});
  EXPECT_EQ(delayed(3), Sites{3});
  EXPECT_EQ(delayed(7), Sites{3});
}

// Each pair is delayed by block and by warp, and for each length, however many pairs there are.
TEST(Delays, FurtherRepeatsTryEachMannerOfEachConflict) {
  for (uint32_t pairs : {1u, 2u, 3u, 4u}) {
    Scheme scheme;
    scheme.action = kDelayByBlock;
    scheme.actions.assign(2 * pairs, kDelayByBlock);
    for (uint32_t i = 0; i < pairs; ++i) scheme.pairs.emplace_back(2 * i, 2 * i + 1);
    std::set<std::tuple<size_t, int, uint32_t>> seen;
    const Settings settings;
    for (uint32_t index = 0; index < 12 * pairs; ++index) {
      const Variation v = vary(scheme, settings, settings.perturbed + index);
      for (size_t i = 0; i < v.actions.size(); ++i)
        if (v.actions[i]) seen.emplace(i, v.actions[i], v.cycles / settings.cycles);
    }
    EXPECT_EQ(seen.size(), 2 * pairs * 2 * 3) << pairs << " pairs: sides, by whom, lengths";
  }
}

TEST(Schemes, BarriersWhereAccessesAreNotSeen) {
  Inventory inventory = inventory_of({});
  inventory.sites[4] = {32, kSiteSync, 0};
  EXPECT_TRUE(schemes_for(launch_of(4, 256), inventory).empty());
  const auto schemes = schemes_for(launch_of(4, 256), inventory, true);
  ASSERT_EQ(schemes.size(), 1u);
  EXPECT_EQ(schemes[0].name(), "barriers, by warp");
  EXPECT_EQ(schemes[0].actions, (std::vector<uint8_t>{0, 0, 0, 0, kDelayByWarp}));
  inventory.counters[kMbarriers] = 1;
  EXPECT_EQ(schemes_for(launch_of(4, 256), inventory).size(), 1u);
  EXPECT_TRUE(schemes_for(launch_of(4, 32), inventory).empty()) << "one warp in a block";
}

TEST(Delays, WhereBlocksMeetSomeAreByWarp) {
  Scheme scheme;
  scheme.action = kDelayByBlock;
  scheme.actions.assign(4, kDelayByBlock);
  auto kinds = [&](uint32_t index) {
    std::vector<uint8_t> out = vary(scheme, Settings(), index).actions;
    out.erase(std::remove(out.begin(), out.end(), kNothing), out.end());
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  };
  EXPECT_EQ(kinds(0), std::vector<uint8_t>{kDelayByBlock});
  EXPECT_EQ(kinds(1), std::vector<uint8_t>{kDelayByBlock});
  EXPECT_EQ(kinds(2), std::vector<uint8_t>{kDelayByBlock});
  EXPECT_EQ(kinds(4), std::vector<uint8_t>{kDelayByWarp});
}

TEST(Sampling, AStepVisitsEachBlockOnce) {
  for (uint64_t blocks : {1u, 2u, 3u, 12u, 97u, 1024u}) {
    const uint64_t step = step_through(blocks, 1);
    std::vector<bool> seen(blocks);
    for (uint64_t b = 0; b < blocks; ++b) seen[b * step % blocks] = true;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), int64_t(blocks)) << blocks;
  }
}

TEST(Delays, AHalfIsNeverEmpty) {
  Scheme scheme;
  scheme.actions = {kNothing, kDelayByBlock};
  for (uint32_t index = 0; index < 8; ++index) {
    const Variation v = vary(scheme, Settings(), index);
    EXPECT_EQ(v.actions[0], kNothing);
    EXPECT_NE(v.actions[1], kNothing);
  }
}

TEST(Delays, ShrinkWhereThereAreMany) {
  EXPECT_EQ(scaled_cycles(5000, launch_of(1, 32), 32), 5000u);
  const uint32_t many = scaled_cycles(5000, launch_of(1, 32), uint64_t(32) * 10'000'000);
  EXPECT_LT(many, 200u);
  EXPECT_GE(scaled_cycles(5000, launch_of(1, 32), uint64_t(1) << 60), 16u);
  EXPECT_EQ(scaled_cycles(1, launch_of(1, 32), 32), 16u);
  // Very long ones only while they are few: at a lock all could come one after the other.
  EXPECT_EQ(scaled_cycles(500'000, launch_of(100, 256), 32 * 800), 500'000u);
  EXPECT_EQ(scaled_cycles(500'000, launch_of(100, 256), 32 * 9'999), 200'000u);
  EXPECT_EQ(scaled_cycles(50'000, launch_of(1000, 256), uint64_t(32) * 100'000), 50'000u);
}

TEST(Cells, SomeForEachGranuleWithinTheRoom) {
  Inventory inventory;
  EXPECT_EQ(cells_for(inventory, 1 << 30), 0u);
  inventory.counters[kGlobalGranules] = 100000;
  EXPECT_EQ(cells_for(inventory, uint64_t(1) << 34), 524288u);
  EXPECT_EQ(cells_for(inventory, 65536 * sizeof(Cell)), 65536u);
  EXPECT_EQ(cells_for(inventory, 100), 0u);
}

TEST(Cells, SharedMemoryOfSomeBlocksWhenThereIsMuch) {
  Inventory inventory;
  inventory.counters[kSharedReads] = 30'000'000;
  EXPECT_EQ(shared_blocks_for(inventory), 65536u);
  inventory.counters[kSharedReads] = 60'000'000;
  EXPECT_EQ(shared_blocks_for(inventory), 32768u);
  inventory.counters[kSharedReads] = uint64_t(1) << 60;
  EXPECT_EQ(shared_blocks_for(inventory), 1u);
  inventory.counters[kSharedReads] = 60'000'000;
  inventory.counters[kSharedGranules] = 60'000'000;
  EXPECT_EQ(cells_for(inventory, uint64_t(1) << 40), uint64_t(1) << 27) << "of half of them";
}

TEST(Cells, SomeLinesWhereNotAllFit) {
  Inventory inventory;
  inventory.counters[kGlobalGranules] = 1 << 20;
  EXPECT_EQ(line_share_for(inventory, uint64_t(1) << 40, 1 << 21), 0u);
  EXPECT_EQ(line_share_for(inventory, uint64_t(1) << 40, 1 << 20), 32768u);
  // Touched again and again: not more than the memory that there is.
  EXPECT_EQ(line_share_for(inventory, 4 << 16, 1 << 20), 0u);
  inventory.counters[kSharedGranules] = 1 << 20;
  EXPECT_EQ(line_share_for(inventory, uint64_t(1) << 40, 1 << 20), 1u);
}

TEST(Presets, ThePapersAndOthers) {
  Settings settings;
  EXPECT_TRUE(apply_preset("paper", settings));
  EXPECT_EQ(settings.plain, 4u);
  EXPECT_EQ(settings.cycles, 5000u);
  EXPECT_EQ(settings.probability, 80u);
  EXPECT_EQ(settings.delayed_blocks, 8u);
  EXPECT_FALSE(apply_preset("papers", settings));
}

} // namespace
} // namespace assay::native
