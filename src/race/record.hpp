// What the shadow keeps of accesses: 32 bytes for one instruction's accesses to one row of 128
// bytes, by one warp or by several warps of a CTA that did the same at the same time.
// A record stands for the set warps × lanes exactly, never for more: merging only ever joins
// records that differ in one of the two, or else a table of lanes by warp takes the product's place
// (`many`; see RecordPool).
#pragma once

#include "race/access.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace assay::race {

inline constexpr uint32_t kRowBytes = 128;
inline constexpr uint32_t kNoRecord = 0;
inline constexpr uint32_t kAllLanes = 0xffffffff;

// The six flags are bytes of 0 or 1 that follow each other: one multiplication gathers them.
// Atomic operations are strong, and only writes are silent.
inline uint16_t pack(const AccessInfo& info) {
  static_assert(offsetof(AccessInfo, silent) == offsetof(AccessInfo, write) + 5 &&
                offsetof(AccessInfo, bytes) == offsetof(AccessInfo, write) + 7);
  uint64_t b;
  std::memcpy(&b, &info.write, 8);
  unsigned flags = unsigned((b & 0x010101010101) * 0x0102040810204080 >> 56);
  flags |= (flags & kAtomic) << 1;
  flags &= flags & kWrite ? 0x3f : 0x3f & ~kSilent;
  return uint16_t(flags | (b >> 48 & 7) << kScopeShift | ((b >> 56) - 1) << kBytesShift);
}

inline AccessInfo unpack(uint32_t pc, uint16_t attributes) {
  AccessInfo info;
  info.pc = pc;
  info.write = attributes & kWrite;
  info.read = attributes & kRead;
  info.atomic = attributes & kAtomic;
  info.strong = attributes & kStrong;
  info.nc = attributes & kNonCoherent;
  info.silent = attributes & kSilent;
  info.scope = Scope(attributes >> kScopeShift & 7);
  info.bytes = uint8_t((attributes >> kBytesShift) + 1);
  return info;
}

struct Record {
  uint32_t pc = 0;
  uint16_t attributes = 0;
  int16_t start : 12 = 0; // relative to the row; below 0 where an affine access began before it
  uint16_t many : 1 = 0;
  uint32_t cta = 0;
  uint32_t time = 0;   // of every lane in the set
  uint32_t warps = 0;  // bit set, or the copies' number / 32
  uint32_t lanes = 0;  // where `many`: the number of a table
  uint32_t change = 0; // the shadow's change counter after this access
  uint32_t next = kNoRecord;

  // The first two fields at once, and the next two: what was done and where, by whom and when.
  static uint64_t what(uint32_t pc, uint16_t attributes, int start) {
    return pc | uint64_t(attributes) << 32 | uint64_t(start & 0xfff) << 48;
  }
  static uint64_t when(uint32_t cta, uint32_t time) { return cta | uint64_t(time) << 32; }
  uint64_t what() const { return read(&pc); }
  uint64_t when() const { return read(&cta); }
  static uint64_t read(const uint32_t* first) {
    uint64_t value;
    std::memcpy(&value, first, sizeof value);
    return value;
  }
  bool write() const { return attributes & kWrite; }
  bool affine() const { return attributes & kAffine; }
  bool copy() const { return attributes & kCopy; }
  bool changing() const { return (attributes & (kWrite | kSilent)) == kWrite; }
  int bytes() const { return (attributes >> kBytesShift) + 1; }
  int first_byte() const { return std::max<int>(start, 0); } // of the row
  int end_byte() const {
    return std::min<int>(start + (affine() ? 32 * bytes() : bytes()), kRowBytes);
  }
  int lane_start(uint32_t lane) const { return start + (affine() ? int(lane) * bytes() : 0); }
  // The lanes whose locations overlap bytes [from, to).
  uint32_t lanes_at(int from, int to) const {
    if (!affine()) return start < to && from < start + bytes() ? lanes : 0;
    int low = from - start, high = to - 1 - start, n = bytes();
    if (high < 0 || low >= 32 * n) return 0;
    int first = low < 0 ? 0 : low / n, last = std::min(high / n, 31);
    return lanes & (kAllLanes << first) & (kAllLanes >> (31 - last));
  }
};
static_assert(sizeof(Record) == 32 && std::endian::native == std::endian::little);

inline bool subset(uint32_t a, uint32_t b) { return !(a & ~b); }

// Does the write w reach every byte of r's lanes?
inline bool covers(const Record& w, const Record& r) {
  if (w.start == r.start && w.bytes() == r.bytes() && w.affine() == r.affine())
    return !r.affine() || subset(r.lanes, w.lanes);
  return (w.lanes == kAllLanes || !w.affine()) && w.first_byte() <= r.first_byte() &&
         r.end_byte() <= w.end_byte();
}

} // namespace assay::race
