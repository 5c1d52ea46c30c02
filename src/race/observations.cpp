// The log of strong operations by location; see observations.hpp.
#include "race/observations.hpp"

#include "base/random.hpp"
#include "race/sync_variables.hpp"

#include <algorithm>

namespace assay::race {
namespace {
// Beyond these nothing is known to be observed: a pair is then judged by the other edges alone.
constexpr size_t kMaxOperations = size_t(1) << 24, kMaxLocations = size_t(1) << 20;
// Of a chain's operations only so many are asked, the last ones. An older one helps only where
// that many followed it of which none is known either; those that write conflict themselves.
constexpr size_t kAsked = 256;
constexpr size_t kPollers = 32; // so many lanes may poll in turn and leave one entry each
} // namespace

size_t Observations::MomentHash::operator()(const Moment& m) const {
  return mix64(mix64(uint64_t(m.cta) << 32 | m.time) ^
               (uint64_t(m.pc) << 32 | uint32_t(m.warp) << 16 | m.lane));
}

Observations::Block* Observations::block(uint64_t number) const {
  Recent& r = recent_[number % recent_.size()];
  if (r.number == number) return r.block;
  auto it = blocks_.find(number);
  if (it == blocks_.end()) return nullptr;
  r = {number, const_cast<Block*>(&it->second)};
  return r.block;
}

const Observations::Location* Observations::find(uint64_t address, uint32_t bytes) const {
  const Block* b = full_ ? nullptr : block(address / kSyncBlock);
  if (!b) return nullptr;
  for (const Location& l : b->locations)
    if (l.address == address && l.bytes == bytes) return &l;
  return nullptr;
}

Observations::Location* Observations::location(uint64_t address, uint32_t bytes) {
  if (full()) return nullptr;
  Block* b = block(address / kSyncBlock);
  if (!b) b = &blocks_[address / kSyncBlock];
  for (Location& l : b->locations)
    if (l.address == address && l.bytes == bytes) return &l;
  ++locations_;
  const bool alike = (b->locations.empty() || b->bytes == bytes) && address % bytes == 0;
  b->bytes = alike ? bytes : 0;
  Location& l = b->locations.emplace_back();
  l.address = address;
  l.bytes = bytes;
  return &l;
}

bool Observations::full() {
  if (!full_ && (operations_ >= kMaxOperations || locations_ >= kMaxLocations)) {
    full_ = true;
    blocks_.clear();
    recent_.fill({});
  }
  return full_;
}

bool Observations::linked(const Location& l, const Moment& who, Scope scope) const {
  return l.open && mutual(l.last_scope, l.last_cta, scope, who.cta);
}

void Observations::write(uint64_t address, uint32_t bytes, const Moment& who, Scope scope) {
  Location* l = location(address, bytes);
  if (!l) return;
  uint32_t own = uint32_t(l->log.size());
  l->chains.push_back(own);
  l->log.push_back({who, own, kWrites});
  ++operations_;
  l->open = true;
  l->last_cta = who.cta;
  l->last_scope = scope;
}

void Observations::read(uint64_t address, uint32_t bytes, const Moment& who, Scope scope) {
  if (!find(address, bytes)) return;
  Location* l = location(address, bytes);
  if (!l || !linked(*l, who, scope)) return;
  size_t polls = std::min(kPollers, l->log.size());
  for (size_t i = 1; i <= polls; ++i) {
    const Operation& o = l->log[l->log.size() - i];
    if (o.kind != kReads) break;
    if (o.who == who && o.begin == l->chains.back()) return;
  }
  l->log.push_back({who, l->chains.back(), kReads});
  ++operations_;
}

void Observations::read_modify_write(uint64_t address, uint32_t bytes, const Moment& who,
                                     Scope scope, bool observes, bool wrote) {
  // One that fails is kept as well: it is a read, which nobody can observe.
  Location* l = location(address, bytes);
  if (!l) return;
  uint32_t own = uint32_t(l->log.size());
  bool link = linked(*l, who, scope);
  if (wrote && !link) l->chains.push_back(own);
  l->log.push_back({who, link && observes ? l->chains.back() : own, wrote ? kWrites : kFails});
  ++operations_;
  if (!wrote) return;
  l->open = true;
  l->last_cta = who.cta;
  l->last_scope = scope;
}

void Observations::overwritten(uint64_t from, uint64_t to, bool keep_exact) {
  if (blocks_.empty()) return;
  for (uint64_t number = from / kSyncBlock; number <= (to - 1) / kSyncBlock; ++number) {
    Block* b = block(number);
    if (!b || (keep_exact && b->bytes == to - from && from % b->bytes == 0)) continue;
    for (Location& l : b->locations) {
      bool exact = l.address == from && l.address + l.bytes == to;
      if (l.address < to && from < l.address + l.bytes && !(exact && keep_exact)) l.open = false;
    }
  }
}

// The operations after the last one of `who`, up to the end of its chain.
Observations::Range Observations::observers(const Location& l, const Moment& who) const {
  if (!l.index) l.index = std::make_unique<Index>();
  Index& index = *l.index;
  for (; index.count < l.log.size(); ++index.count)
    if (l.log[index.count].kind != kReads)
      index.last[l.log[index.count].who] = uint32_t(index.count);
  auto it = index.last.find(who);
  if (it == index.last.end() || l.log[it->second].kind == kFails) return {0, 0};
  auto next = std::upper_bound(l.chains.begin(), l.chains.end(), it->second);
  size_t from = it->second + 1, to = next == l.chains.end() ? l.log.size() : *next;
  return {to - from > kAsked ? to - kAsked : from, to};
}

} // namespace assay::race
