// Allocations, what arguments reach, where copies go, which chunks changed.
#include "native/allocations.hpp"
#include "native/snapshot.hpp"

#include <cstring>
#include <gtest/gtest.h>

namespace assay::native {
namespace {

std::vector<uint8_t> words(std::initializer_list<uint64_t> values, size_t lead = 0) {
  std::vector<uint8_t> out(lead + values.size() * 8);
  size_t at = lead;
  for (uint64_t value : values) {
    std::memcpy(&out[at], &value, 8);
    at += 8;
  }
  return out;
}

TEST(Allocations, FindsTheOneThatHoldsAnAddress) {
  AllocationTable table;
  table.add({0x1000, 0x100, 0, 0});
  table.add({0x1100, 0x100, kManaged, 0});
  EXPECT_EQ(table.find(0x0fff), nullptr);
  EXPECT_EQ(table.find(0x10ff)->address, 0x1000u);
  EXPECT_EQ(table.find(0x1100)->traits, kManaged);
  EXPECT_EQ(table.find(0x1200), nullptr);
  EXPECT_TRUE(table.remove(0x1000));
  EXPECT_EQ(table.find(0x1000), nullptr);
  EXPECT_FALSE(table.remove(0x1080));
}

TEST(Allocations, AFreshOneReplacesWhatItOverlaps) {
  AllocationTable table;
  table.add({0x1000, 0x1000, 0, 0});
  table.add({0x3000, 0x1000, 0, 0});
  table.add({0x1800, 0x1900, kPeer, 0}); // a free that was never told
  EXPECT_EQ(table.size(), 1u);
  EXPECT_EQ(table.find(0x1800)->traits, kPeer);
  table.add({0x9000, 0, 0, 0});
  EXPECT_EQ(table.size(), 1u);
}

TEST(Allocations, MarksByAnyAddressInside) {
  AllocationTable table;
  table.add({0x1000, 0x1000, 0, 0});
  EXPECT_TRUE(table.mark(0x1234, kExported));
  EXPECT_FALSE(table.mark(0x2000, kExported));
  EXPECT_EQ(table.find(0x1000)->traits, kExported);
}

TEST(Allocations, MappedPiecesAreOneAllocation) {
  AllocationTable table;
  table.add({0x1000, 0x100, kMapped, 0});
  table.add({0x1200, 0x100, kMapped, 0});
  table.add({0x1300, 0x100, 0, 0});
  EXPECT_EQ(table.size(), 3u);
  table.add({0x1100, 0x100, kMapped, 0}); // closes the gap
  EXPECT_EQ(table.size(), 2u);
  EXPECT_EQ(table.find(0x12ff)->address, 0x1000u);
  EXPECT_EQ(table.find(0x12ff)->size, 0x300u);
  table.add({0x1100, 0x80, 0, 0}); // told again, by another callback
  EXPECT_EQ(table.size(), 2u);
  EXPECT_FALSE(table.remove(0x1000)) << "pieces are unmapped";
  table.unmap(0x1080, 0x1280);
  EXPECT_EQ(table.find(0x107f)->size, 0x80u);
  EXPECT_EQ(table.find(0x1100), nullptr);
  EXPECT_EQ(table.find(0x1280)->size, 0x80u);
  EXPECT_NE(table.find(0x1300), nullptr) << "not mapped in pieces";
  table.unmap(0, 0x2000);
  EXPECT_EQ(table.size(), 1u);
}

TEST(Allocations, PiecesOfOtherKindsStayApart) {
  AllocationTable table;
  table.add({0x1000, 0x100, kMapped, 0});
  table.add({0x1100, 0x100, kMapped | kPeer, 0});
  EXPECT_EQ(table.size(), 2u);
}

TEST(Allocations, WhatIsNotPrivate) {
  EXPECT_EQ(not_private(0), "");
  EXPECT_EQ(not_private(kModuleMemory), "");
  for (uint32_t trait : {kManaged, kHostMapped, kPeer, kExported, kImported, kMulticast})
    EXPECT_NE(not_private(trait), "") << trait;
}

TEST(Reach, WordsAtAnyMultipleOfFour) {
  const std::vector<Allocation> sorted = {
      {0x1000, 0x100, 0, 0}, {0x2000, 0x100, 0, 0}, {0x3000, 0x100, 0, 0}};
  EXPECT_EQ(pointed_into(words({0x2010}), sorted), (std::vector<size_t>{1}));
  EXPECT_EQ(pointed_into(words({7, 0x30ff, 0x1000}, 4), sorted), (std::vector<size_t>{0, 2}));
  EXPECT_TRUE(pointed_into(words({0x1101, 0xfff}), sorted).empty());
  EXPECT_TRUE(pointed_into({1, 2, 3}, sorted).empty());
}

TEST(Reach, TheEndOfAnAllocationCounts) {
  const std::vector<Allocation> sorted = {{0x1000, 0x100, 0, 0}, {0x1100, 0x100, 0, 0}};
  EXPECT_EQ(pointed_into(words({0x1100}), sorted), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(pointed_into(words({0x1200}), sorted), (std::vector<size_t>{1}));
}

TEST(Reach, RangesAreJoined) {
  const std::vector<AddressRange> ranges =
      joined_ranges({{0x3000, 0x10, 0, 0}, {0x1000, 0x100, 0, 0}, {0x1100, 0x100, 0, 0}});
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].begin, 0x1000u);
  EXPECT_EQ(ranges[0].end, 0x1200u);
  EXPECT_EQ(ranges[1].begin, 0x3000u);
}

TEST(Snapshot, DeviceThenHostThenUnknown) {
  const uint64_t gib = uint64_t(1) << 30;
  EXPECT_EQ(choose_storage(3 * gib, {4 * gib, 0}).storage, Storage::device);
  EXPECT_EQ(choose_storage(3 * gib + 1, {4 * gib, 7 * gib}).storage, Storage::host);
  const StorageChoice none = choose_storage(4 * gib, {4 * gib, 7 * gib});
  EXPECT_EQ(none.storage, Storage::none);
  EXPECT_NE(none.reason.find("4.0 GiB"), std::string::npos) << none.reason;
  EXPECT_EQ(choose_storage(0, {0, 0}).storage, Storage::host);
}

TEST(Snapshot, ExtentsJoinNeighboursAndEndWithTheMemory) {
  const uint64_t size = 3 * uint64_t(kChunkSize) + 5;
  const std::vector<Chunks> extents = changed_extents({1, 0, 1, 1}, size);
  ASSERT_EQ(extents.size(), 2u);
  EXPECT_EQ(extents[0].end, kChunkSize);
  EXPECT_EQ(extents[1].begin, 2 * uint64_t(kChunkSize));
  EXPECT_EQ(extents[1].end, size);
  EXPECT_TRUE(changed_extents({0, 0}, size).empty());
}

TEST(Snapshot, BytesForPeople) {
  EXPECT_EQ(text_of_bytes(812), "812 B");
  EXPECT_EQ(text_of_bytes(1536), "1.5 KiB");
  EXPECT_EQ(text_of_bytes(uint64_t(3) << 40), "3.0 TiB");
}

} // namespace
} // namespace assay::native
