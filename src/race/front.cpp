// Accesses on their way into the shadow; see front.hpp.
#include "race/front.hpp"

#include "base/check.hpp"
#include "race/shadow_quick.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace assay::race {
namespace {
// The short way is one function at each of its beginnings, and one that calls nothing: calls, and
// the registers to be saved for them, would take half of its time. Whatever needs a call (a row to
// be made, a pool to grow) goes the long way, which begins in a function of its own.
#define ASSAY_HOT inline __attribute__((always_inline))
#define ASSAY_LONG __attribute__((noinline))
constexpr uint8_t kMaxBytes = 32; // as many as a record can tell
constexpr size_t kRunBytes = 16;  // neighbouring lanes with at least so many become one record

// How many of the first groups are neighbouring lanes at neighbouring locations of one row, all of
// them changing memory or none of them. Where halves of a warp read the same locations, the groups
// are pairs of lanes: two such rows at once.
size_t run_of(std::span<const AddressGroups::Group> groups, uint32_t bytes, uint32_t silent_lanes,
              bool write) {
  const AddressGroups::Group& first = groups.front();
  uint32_t others = first.lanes & (first.lanes - 1);
  bool pairs = others != 0;
  if (others & (others - 1) || (pairs && write)) return 0; // what meets is judged before it is kept
  bool silent = first.lanes & silent_lanes;
  size_t n = 1;
  while (n < groups.size() && groups[n].lanes == groups[n - 1].lanes << 1 &&
         groups[n].address == groups[n - 1].address + bytes &&
         groups[n].address / kRowBytes == first.address / kRowBytes &&
         bool(groups[n].lanes & silent_lanes) == silent && !(groups[n - 1].lanes >> 31))
    ++n;
  return pairs && n < 4 ? 0 : n;
}
} // namespace

Front::Front(const std::vector<LaunchShape>& grids, const Limits& limits)
    : causality_(grids, limits), conflicts_(causality_.ctas() - 1, limits.conflicts),
      judge_(causality_, conflicts_), shadow_(causality_, causality_.ctas(), limits.shadow_bytes) {}

void Front::prepare_anew(Space space, Agent agent) {
  CtaState& c = causality_.cta(agent.cta);
  bool copy = agent.warp >= kCopyAgent;
  groups_.resize(1);
  Access& a = groups_.front();
  a.space = space;
  a.space_cta = space == Space::shared ? agent.cta : 0;
  a.record.cta = agent.cta;
  a.record.warps = copy ? (agent.warp - kCopyAgent) / 32 : 1u << agent.warp;
  agent_ = agent;
  space_ = space;
  shared_ = space == Space::shared ? shadow_.region(space, agent.cta, 0) : nullptr;
  variables_ = &causality_.variables(space, agent.cta);
  warps_ = a.record.warps;
  uniform_ = false;
  if (copy) return;
  CHECK(agent.warp < c.warps.size());
  const WarpState& w = c.warps[agent.warp];
  a.observer = Causality::observer(c, agent.cta, agent.warp);
  a.record.time = std::max(c.floor, w.base);
  when_ = Record::when(agent.cta, a.record.time);
  uniform_ = Causality::uniform(c, w);
}

// -- the short way -------------------------------------------------------------------------------

// Can the record of the same instruction stand for these lanes too?
ASSAY_HOT bool Front::extends(const Record& e, const Row& row, uint32_t lanes,
                              bool changing) const {
  return e.when() == when_ && !changing && e.change >= row.change &&
         (e.lanes == lanes || e.warps == warps_);
}

template <bool MayGrow>
ASSAY_HOT bool Front::hot_keep(RecordPool& pool, uint32_t& head, Row& row, uint64_t what,
                               uint32_t lanes, uint32_t change, bool changing) {
  for (uint32_t i = head; i; i = pool[i].next) {
    Record& e = pool[i];
    if (e.what() != what) continue;
    if (!extends(e, row, lanes, changing)) return false;
    if (e.lanes == lanes)
      e.warps |= warps_;
    else
      e.lanes |= lanes;
    e.change = change;
    return true;
  }
  if ((head && changing) || (!MayGrow && !pool.room())) return false;
  if (changing) row.change = change;
  head = pool.add<MayGrow>(what, when_, warps_, lanes, change, head);
  return true;
}

// True: there was nothing to judge, and the access is kept. `write`: of the attributes, where the
// caller knows.
ASSAY_HOT bool Front::hot(Row& row, Region& region, uint32_t pc, uint16_t attributes, int start,
                          uint32_t lanes, uint32_t change, bool write) {
  const bool changing = write && !(attributes & kSilent);
  if (row.generation != region.generation || row.floor != region.floor || row.writes) return false;
  Store& store = *region.store;
  uint64_t what = Record::what(pc, attributes, start);
  if (attributes & kAffine) {
    if (write ? row.live_cells : row.cell_writes) return false;
    if (!write) return hot_keep(store.records, row.reads, row, what, lanes, change, false);
    return !row.reads && hot_keep(store.records, row.writes, row, what, lanes, change, changing);
  }
  const uint32_t bytes = (attributes >> kBytesShift) + 1u, granule = 1u << row.granule_bits;
  if (!row.live_cells) return false;
  Cell* cell = &store.cells.at(row.cells)[uint32_t(start) >> row.granule_bits];
  if (bytes != granule || cell->writes) return false;
  if (!write) return hot_keep(store.records, cell->reads, row, what, lanes, change, false);
  if (row.reads || cell->reads) return false;
  row.cell_writes = true;
  return hot_keep(store.records, cell->writes, row, what, lanes, change, changing);
}

// A read of several cells: kept in all of them or, where one is not plain, in none.
bool Front::hot_cells(Row& row, const Region& region, uint32_t pc, uint16_t attributes, int start,
                      uint32_t lanes, uint32_t change) {
  if (row.generation != region.generation || row.floor != region.floor || row.writes ||
      !row.live_cells)
    return false;
  Store& store = *region.store;
  const uint64_t what = Record::what(pc, attributes, start);
  const uint32_t bytes = (attributes >> kBytesShift) + 1u;
  const uint32_t granule = 1u << row.granule_bits, count = bytes >> row.granule_bits;
  if (attributes & (kWrite | kAffine) || bytes <= granule ||
      (bytes | uint32_t(start)) & (granule - 1) || uint32_t(start) + bytes > kRowBytes)
    return false;
  Cell* cell = &store.cells.at(row.cells)[uint32_t(start) >> row.granule_bits];
  for (uint32_t k = 0; k < count; ++k) {
    if (cell[k].writes) return false;
    for (uint32_t i = cell[k].reads; i; i = store.records[i].next)
      if (store.records[i].what() == what && !extends(store.records[i], row, lanes, false))
        return false;
  }
  for (uint32_t k = 0; k < count; ++k)
    hot_keep<true>(store.records, cell[k].reads, row, what, lanes, change, false);
  return true;
}

// The row of an address and its region.
ASSAY_HOT Row* Front::row_of(Region*& region, uint64_t address) {
  region = shared_ ? shared_ : shadow_.region(space_, agent_.cta, address);
  return shadow_.row(region, address);
}

// One location, accessed by lanes of one time.
ASSAY_HOT void Front::point(uint64_t address, uint32_t lanes, uint32_t pc, uint16_t attributes,
                            uint32_t change, bool write) {
  Region* region = shared_;
  Row* row = shadow_.known_row(region, address);
  if (row && hot(*row, *region, pc, attributes, int(address % kRowBytes), lanes, change, write))
    return;
  point_anew(address, lanes, pc, attributes, change);
}

ASSAY_LONG void Front::point_anew(uint64_t address, uint32_t lanes, uint32_t pc,
                                  uint16_t attributes, uint32_t change) {
  Region* region;
  Row* row = row_of(region, address);
  const int start = int(address % kRowBytes);
  if (row && hot_cells(*row, *region, pc, attributes, start, lanes, change)) return;
  Access& g = groups_.front();
  g.record.pc = pc;
  g.record.attributes = attributes;
  g.record.lanes = lanes;
  g.record.change = change;
  now(g, address);
}

// -- accesses ------------------------------------------------------------------------------------

void Front::affine(Space space, Agent agent, uint64_t address, uint32_t pc, uint16_t attributes) {
  if (!prepared(space, agent)) return prepare_affine(space, agent, address, pc, attributes);
  attributes |= kAffine;
  uint32_t change = change_of(attributes);
  if (uniform_ && address % kRowBytes == 0 && attributes >> kBytesShift == kRowBytes / 32 - 1 &&
      (!(attributes & kWrite) || variables_->clear_of(address, address + kRowBytes))) {
    Region* region = shared_;
    Row* row = shadow_.known_row(region, address);
    if (row && hot(*row, *region, pc, attributes, 0, kAllLanes, change, attributes & kWrite))
      return;
  }
  affine_anew(agent, address, pc, attributes, change);
}

ASSAY_LONG void Front::prepare_affine(Space space, Agent agent, uint64_t address, uint32_t pc,
                                      uint16_t attributes) {
  prepare_anew(space, agent);
  affine(space, agent, address, pc, attributes);
}

ASSAY_LONG void Front::affine_anew(Agent agent, uint64_t address, uint32_t pc, uint16_t attributes,
                                   uint32_t change) {
  uint32_t bytes = (uint32_t(attributes >> kBytesShift) + 1) * 32;
  if (attributes & kWrite && !variables_->clear_of(address, address + bytes)) {
    uint32_t parts = attributes & kStrong ? 32 : 1; // each lane's location may begin a chain
    for (uint32_t l = 0; l < parts; ++l)
      variables_->overwritten(address + l * bytes / parts, address + (l + 1) * bytes / parts,
                              attributes & kStrong);
  }
  if (split(agent, kAllLanes, pc, attributes, change)) return now(groups_.front(), address);
  for (Access& g : groups_) later(g, address);
  finish();
}

void Front::broadcast(Space space, Agent agent, uint32_t lanes, uint64_t address, uint32_t pc,
                      uint16_t attributes) {
  if (!prepared(space, agent))
    return prepare_broadcast(space, agent, lanes, address, pc, attributes);
  if (!uniform_) return broadcast_anew(agent, lanes, address, pc, attributes);
  point(address, lanes, pc, attributes, shadow_.change(), false);
}

ASSAY_LONG void Front::prepare_broadcast(Space space, Agent agent, uint32_t lanes, uint64_t address,
                                         uint32_t pc, uint16_t attributes) {
  prepare_anew(space, agent);
  broadcast(space, agent, lanes, address, pc, attributes);
}

ASSAY_LONG void Front::broadcast_anew(Agent agent, uint32_t lanes, uint64_t address, uint32_t pc,
                                      uint16_t attributes) {
  split(agent, lanes, pc, attributes, shadow_.change());
  for (Access& g : groups_) now(g, address);
}

// Half a warp, say, in its row or rows.
void Front::row_part(Space space, Agent agent, uint32_t lanes, uint64_t base, uint32_t pc,
                     uint16_t attributes) {
  prepare(space, agent);
  attributes |= kAffine;
  split(agent, lanes, pc, attributes, shadow_.change());
  if (!uniform_) {
    for (Access& g : groups_) now(g, base);
    return;
  }
  const uint64_t bytes = uint64_t(attributes >> kBytesShift) + 1;
  for (uint32_t left = lanes; left;) {
    uint32_t first = uint32_t(std::countr_zero(left)), part = 0;
    uint64_t at = base + first * bytes;
    for (uint32_t l = first; l < 32 && left >> l & 1; ++l)
      if ((base + l * bytes) / kRowBytes == at / kRowBytes) part |= 1u << l;
    left &= ~part;
    Region* region;
    Row* row = row_of(region, at);
    int start = int(at % kRowBytes) - int(first * bytes);
    if (row && hot(*row, *region, pc, attributes, start, part, shadow_.change(), false)) continue;
    groups_.front().record.lanes = part;
    now(groups_.front(), base);
  }
}

void Front::access(Space space, Agent agent, uint32_t lanes, const uint64_t* address,
                   const AccessInfo& info, const void* values, uint32_t value_stride,
                   uint32_t silent_lanes) {
  if (space == Space::local || !lanes) return;
  CHECK(info.bytes >= 1 && info.bytes <= kMaxBytes);
  prepare(space, agent);
  causality_.at(info.pc, info.elements);
  if (info.strong && info.elements > 1) judge_.is_vector(agent.cta, info.pc, info.element_bytes());
  silent_lanes &= info.write ? lanes : 0;
  uint16_t attributes = pack(info) & uint16_t(~kSilent);
  if (info.write && silent_lanes == lanes) attributes |= kSilent;
  uint32_t change = change_of(attributes);
  split(agent, lanes, info.pc, attributes, change);
  addresses_.collect(lanes, address);
  // Locations of one size that are all aligned to it are equal or apart.
  bool apart = std::has_single_bit(info.bytes) && (addresses_.bits() & (info.bytes - 1u)) == 0;
  std::span<const AddressGroups::Group> groups = addresses_.groups();
  for (size_t i = 0; i < groups.size(); ++i) {
    const AddressGroups::Group& at = groups[i];
    if (info.write) {
      overwritten(at.address, info);
      if (at.lanes & (at.lanes - 1)) contested(groups_.front(), at, values, value_stride);
    }
    uint32_t silent = at.lanes & silent_lanes;
    uint16_t own = uint16_t((attributes & ~kSilent) | (silent ? kSilent : 0));
    size_t run = apart ? run_of(groups.subspan(i), info.bytes, silent_lanes, info.write) : 1;
    if (run * info.bytes >= kRunBytes) {
      for (size_t k = 1; k < run && info.write && !variables_->empty(); ++k)
        overwritten(groups[i + k].address, info);
      in_a_row(groups.subspan(i, run), own | kAffine);
      i += run - 1;
    } else if (uniform_ && apart && (silent == 0 || silent == at.lanes)) {
      point(at.address, at.lanes, info.pc, own, change, info.write);
    } else {
      parts(at, silent);
      if (apart) finish();
    }
  }
  finish();
}

// Strong writes leave what is known of exactly their locations to Causality.
void Front::overwritten(uint64_t address, const AccessInfo& info) {
  const uint32_t parts = info.strong ? info.elements : 1, bytes = info.bytes / parts;
  for (uint32_t k = 0; k < parts; ++k, address += bytes)
    variables_->overwritten(address, address + bytes, info.strong);
}

// Part of a warp, at one row: one affine record instead of a record for each location.
void Front::in_a_row(std::span<const AddressGroups::Group> run, uint16_t attributes) {
  for (uint32_t left = run.front().lanes; left; left &= left - 1)
    in_a_row(run, uint32_t(std::countr_zero(left)), attributes);
}

void Front::in_a_row(std::span<const AddressGroups::Group> run, uint32_t first,
                     uint16_t attributes) {
  uint32_t lanes = (run.size() == 32 ? kAllLanes : (1u << run.size()) - 1) << first;
  uint64_t bytes = uint64_t(attributes >> kBytesShift) + 1;
  uint64_t base = run.front().address - first * bytes; // may lie before all memory
  if (uniform_) {
    Region* region = shared_ ? shared_ : shadow_.region(space_, agent_.cta, run.front().address);
    Row* row = shadow_.row(region, run.front().address);
    int start = int(run.front().address % kRowBytes) - int(first * bytes);
    const Record& r = groups_.front().record;
    if (row && hot(*row, *region, r.pc, attributes, start, lanes, r.change, attributes & kWrite))
      return;
  }
  for (Access& g : groups_) {
    Record saved = g.record;
    g.record.lanes = uniform_ ? lanes : lanes & saved.lanes;
    g.record.attributes = uint16_t(attributes | (saved.attributes & kCopy));
    if (g.record.lanes) now(g, base);
    g.record = saved;
  }
}

// -- the long way --------------------------------------------------------------------------------

// Fills groups_: lanes that share a time, with what they know. True if it is one.
bool Front::split(Agent agent, uint32_t lanes, uint32_t pc, uint16_t attributes, uint32_t change) {
  Record& r = groups_.front().record;
  r.lanes = lanes;
  r.pc = pc;
  r.attributes = attributes;
  r.change = change;
  if (uniform_) return true;
  agent_ = kNobody; // the next access prepares groups_ anew
  const CtaState& c = *causality_.find(agent.cta);
  Access pattern = groups_.front();
  groups_.clear();
  if (agent.warp >= kCopyAgent) {
    split_copies(c, pattern, lanes, agent.warp - kCopyAgent);
    return groups_.size() == 1;
  }
  for (uint32_t m = lanes; m; m &= m - 1) {
    uint32_t l = uint32_t(std::countr_zero(m)), t = Causality::time(c, c.warps[agent.warp], l);
    auto it = std::find_if(groups_.begin(), groups_.end(),
                           [&](const Access& a) { return a.record.time == t; });
    if (it == groups_.end()) {
      it = groups_.insert(it, pattern);
      it->record.lanes = 0;
      it->record.time = t;
    }
    it->record.lanes |= 1u << l;
  }
  return groups_.size() == 1;
}

// Copies that started from the same knowledge stay together.
void Front::split_copies(const CtaState& c, const Access& pattern, uint32_t lanes,
                         uint32_t number) {
  CopyGroup* copies = causality_.copies(pattern.record.cta, number / 32);
  CHECK(copies && !(lanes & ~copies->issued));
  CHECK(number % 32 == 0 || lanes == 1u << number % 32);
  copies->tracked |= pattern.space == Space::global;
  for (uint32_t m = lanes; m; m &= m - 1) {
    const CopyLane& copy = copies->lanes[uint32_t(std::countr_zero(m))];
    const Snapshot& s = copy.start;
    auto it = std::find_if(groups_.begin(), groups_.end(), [&](const Access& a) {
      const Snapshot& o = a.observer.copy->start;
      return o.time == s.time && o.cta_floor == s.cta_floor && o.warp_floor == s.warp_floor &&
             o.cta_clock == s.cta_clock && o.warp_clock == s.warp_clock &&
             o.lane_clock == s.lane_clock;
    });
    if (it == groups_.end()) {
      it = groups_.insert(it, pattern);
      it->record.lanes = 0;
      it->record.time = s.time;
      it->record.attributes |= kCopy;
      it->observer = Causality::observer(c, pattern.record.cta, number / 32, copy);
    }
    it->record.lanes |= m & (0u - m);
  }
}

// The rows that an access touches, one part of it in each.
template <class Visit> void Front::rows(Access& access, uint64_t address, Visit visit) {
  Record& r = access.record;
  uint64_t bytes = uint64_t(r.bytes()), from = address, end = address + bytes;
  if (r.affine()) {
    from = address + uint64_t(std::countr_zero(r.lanes)) * bytes;
    end = address + uint64_t(32 - std::countl_zero(r.lanes)) * bytes;
  }
  bool shared = access.space == Space::shared;
  Region* region = shared ? shared_ : shadow_.region(access.space, r.cta, from);
  for (uint64_t first = from & ~uint64_t(kRowBytes - 1); first < end; first += kRowBytes) {
    Row* row = shadow_.row(region, std::max(first, from));
    if (!row) continue;
    r.start = int16_t(int64_t(address - first));
    if (r.lanes != kAllLanes && !r.lanes_at(0, kRowBytes)) continue;
    access.row_address = first;
    if (shared) shadow_.touch({region, row}, r.cta);
    visit(Place{region, row});
  }
}

void Front::now(Access& access, uint64_t address) {
  rows(access, address,
       [&](const Place& place) { shadow_.take(place, judge_, access, *access.observer.state); });
}

// Where parts of one instruction may meet, all are judged before any is kept: lanes of one
// instruction do not race by being recorded one after the other.
void Front::later(Access& access, uint64_t address) {
  rows(access, address, [&](const Place& place) { targets_.push_back({place, access}); });
}
void Front::finish() {
  for (const Target& t : targets_) shadow_.judge(t.place, judge_, t.access);
  for (const Target& t : targets_)
    shadow_.insert(t.place, t.access.record, *t.access.observer.state);
  if (shadow_.crowded() && targets_.size() == 1)
    shadow_.prune(targets_[0].place, judge_, targets_[0].access);
  targets_.clear();
}

// The lanes at one location, apart by time and by whether they change it.
void Front::parts(const AddressGroups::Group& at, uint32_t silent) {
  for (Access& g : groups_) {
    uint32_t all = g.record.lanes;
    for (uint32_t part : {at.lanes & ~silent, silent}) {
      g.record.lanes = uniform_ ? part : part & all;
      g.set_silent(part & silent);
      if (g.record.lanes) later(g, at.address);
    }
    g.record.lanes = all;
  }
}

// Lanes of one instruction that write one location.
void Front::contested(const Access& access, const AddressGroups::Group& at, const void* values,
                      uint32_t stride) {
  if (!shadow_.row(shadow_.region(access.space, access.record.cta, at.address), at.address)) return;
  auto value = [&](uint32_t l) { return static_cast<const char*>(values) + l * stride; };
  for (uint32_t m = at.lanes & (at.lanes - 1); m; m &= m - 1) {
    uint32_t l = uint32_t(std::countr_zero(m));
    for (uint32_t k = at.lanes & ((1u << l) - 1); k; k &= k - 1) {
      uint32_t o = uint32_t(std::countr_zero(k));
      bool differ = values && std::memcmp(value(o), value(l), size_t(access.record.bytes())) != 0;
      judge_.same_instruction(access, o, l, at.address, differ);
    }
  }
}

} // namespace assay::race
