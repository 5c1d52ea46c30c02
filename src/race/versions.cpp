// The last values of strong locations; see versions.hpp.
#include "race/versions.hpp"

#include "base/check.hpp"
#include "race/sync_variables.hpp"

#include <algorithm>
#include <cstring>

namespace assay::race {
namespace {
constexpr size_t kMostWrites = 8;
// A write with more observers ends what can be missed: none of them may be forgotten.
constexpr size_t kMostObservers = 64;
} // namespace

Versions::Location* Versions::location(uint64_t address, uint32_t bytes) {
  auto it = blocks_.find(address / kSyncBlock);
  if (it == blocks_.end()) return nullptr;
  for (Location& l : it->second)
    if (l.address == address && l.bytes == bytes) return &l;
  return nullptr;
}

const std::vector<Versions::Write>* Versions::find(uint64_t address, uint32_t bytes) const {
  const Location* l = const_cast<Versions*>(this)->location(address, bytes);
  return l ? &l->writes : nullptr;
}

void Versions::replace(uint64_t address, uint32_t bytes, const void* before,
                       std::shared_ptr<Chain> chain, const Moment& by) {
  CHECK(bytes <= kMostBytes);
  Location* l = location(address, bytes);
  if (!l) {
    l = &blocks_[address / kSyncBlock].emplace_back();
    l->address = address;
    l->bytes = bytes;
  }
  if (l->writes.size() == kMostWrites) l->writes.erase(l->writes.begin());
  Write& w = l->writes.emplace_back();
  std::memcpy(w.before.data(), before, bytes);
  w.chain = std::move(chain);
  w.by = by;
}

void Versions::observe(uint64_t address, uint32_t bytes, const Moment& reader, uint32_t back) {
  Location* l = location(address, bytes);
  if (!l || back >= l->writes.size()) return; // the first of all values precedes everything
  size_t at = l->writes.size() - 1 - back;
  if (l->writes[at].closed) return;
  std::vector<Moment>& all = l->writes[at].observers;
  size_t recent = std::min<size_t>(all.size(), 8);
  if (std::find(all.end() - ptrdiff_t(recent), all.end(), reader) != all.end()) return;
  if (all.size() < kMostObservers) return all.push_back(reader);
  l->writes[at].closed = true;
}

void Versions::forget(uint64_t from, uint64_t to, bool keep_exact) {
  if (blocks_.empty()) return;
  for (uint64_t b = from / kSyncBlock; b <= (to - 1) / kSyncBlock; ++b) {
    auto it = blocks_.find(b);
    if (it == blocks_.end()) continue;
    for (Location& l : it->second) {
      bool exact = l.address == from && l.address + l.bytes == to;
      if (l.address < to && from < l.address + l.bytes && !(exact && keep_exact)) l.writes.clear();
    }
  }
}

} // namespace assay::race
