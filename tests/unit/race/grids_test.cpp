// Row (h) of docs/concurrency.md §1: launches that may overlap, of which one detector hears.
#include "scene.hpp"

#include <set>

namespace assay::race::test {
namespace {

// Two grids: one of 2 CTAs with a warp each, one of 1 CTA with 2 warps, the last of 8 lanes.
class Grids : public ::testing::Test {
protected:
  Grids() : d({{2, 1, 32}, {1, 2, 8}, {1, 1, 32}}, {}) { d.track(kData, 1 << 16); }

  void access(Lane l, uint32_t pc, bool write) {
    AccessInfo i;
    i.pc = pc;
    i.write = write;
    i.read = !write;
    uint64_t addresses[32] = {}, values[32] = {};
    addresses[l.lane] = kData;
    d.access(Space::global, l.agent(), l.bit(), addresses, i, values, 8, 0);
  }
  void end(uint32_t cta, uint32_t warps = 1) {
    for (uint32_t w = 0; w < warps; ++w) d.exited({cta, w}, w == 1 ? 0xffu : ~0u);
    d.cta_end(cta);
  }
  void first_writes() {
    d.grid_begin(0, {});
    d.cta_begin(0, 0);
    d.cta_begin(1, 0);
    access({1, 0, 3}, 1, true);
    end(0);
    end(1);
    d.grid_end(0);
  }
  size_t found() const { return d.conflicts().size(); }

  Detector d;
};

TEST_F(Grids, NothingOrdersThemByItself) {
  first_writes();
  d.grid_begin(1, {}); // that the other has ended by chance orders nothing
  d.cta_begin(2, 0);
  access({2, 1, 5}, 1, false);
  ASSERT_EQ(found(), 1u);
  EXPECT_EQ(d.conflicts()[0].first.grid, 0u);
  EXPECT_EQ(d.conflicts()[0].second.grid, 1u);
}

TEST_F(Grids, OneBeginsBehindAnother) {
  first_writes();
  d.grid_begin(1, {0});
  d.cta_begin(2, 0);
  access({2, 1, 5}, 1, false);
  access({2, 0, 0}, 2, true);
  EXPECT_EQ(found(), 1u); // of its own two warps
  EXPECT_EQ(d.conflicts()[0].first.grid, 1u);
}

TEST_F(Grids, WaitingIsTheLanesOwn) {
  first_writes();
  d.grid_begin(1, {});
  d.cta_begin(2, 0);
  d.grid_waited({2, 0}, 1u << 4, 0);
  access({2, 0, 4}, 2, false);
  EXPECT_EQ(found(), 0u);
  d.barrier({2, {~0u, 0xff}, {~0u, 0xff}, {0, 0}, 0});
  access({2, 1, 5}, 3, false); // who waited told it at the barrier
  EXPECT_EQ(found(), 0u);
}

TEST_F(Grids, OthersOfTheWarpHaveNotWaited) {
  first_writes();
  d.grid_begin(1, {});
  d.cta_begin(2, 0);
  d.grid_waited({2, 0}, 1u << 4, 0);
  access({2, 0, 5}, 2, false);
  EXPECT_EQ(found(), 1u);
}

TEST_F(Grids, KnowledgePassesOnThroughAGridThatWaited) {
  first_writes();
  d.grid_begin(1, {});
  d.cta_begin(2, 0);
  d.grid_waited({2, 0}, 1u, 0); // one lane is enough: its grid's end comes after it
  end(2, 2);
  d.grid_end(1);
  d.grid_begin(2, {});
  d.cta_begin(3, 0);
  d.grid_waited({3, 0}, ~0u, 1);
  access({3, 0, 0}, 4, false);
  EXPECT_EQ(found(), 0u);
}

TEST_F(Grids, OneThatDidNotWaitPassesNothingOn) {
  first_writes();
  d.grid_begin(1, {});
  d.cta_begin(2, 0);
  end(2, 2);
  d.grid_end(1);
  d.grid_begin(2, {});
  d.cta_begin(3, 0);
  d.grid_waited({3, 0}, ~0u, 1);
  access({3, 0, 0}, 4, false);
  EXPECT_EQ(found(), 1u);
}

TEST_F(Grids, OnePcOfTwoGridsIsTwoOperations) {
  d.grid_begin(0, {});
  d.grid_begin(1, {});
  d.cta_begin(0, 0);
  d.cta_begin(1, 0);
  d.cta_begin(2, 0);
  access({0, 0, 0}, 1, true);
  access({1, 0, 0}, 1, true); // within the grid
  access({2, 0, 0}, 1, true); // and across
  std::set<std::pair<uint32_t, uint32_t>> grids;
  for (const Conflict& c : d.conflicts()) grids.insert({c.first.grid, c.second.grid});
  EXPECT_EQ(grids, (std::set<std::pair<uint32_t, uint32_t>>{{0, 0}, {0, 1}}));
}

} // namespace
} // namespace assay::race::test
