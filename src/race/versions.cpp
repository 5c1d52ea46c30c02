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
                       std::shared_ptr<Chain> chain, const Moment& by, uint64_t number) {
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
  w.number = number;
}

const Versions::Write& Versions::last(uint64_t address, uint32_t bytes, uint32_t back) const {
  const std::vector<Write>* writes = find(address, bytes);
  CHECK(writes && back >= 1 && back <= writes->size());
  return (*writes)[writes->size() - back];
}

namespace {
using State = Versions::State;

// The numbers of the writes of each element, the newest first.
struct Elements {
  std::vector<std::vector<uint64_t>> numbers;

  // Misses less until no store's elements are apart: found in one place, missed in another.
  State whole(State s) const {
    for (bool again = true; again;) {
      again = false;
      for (size_t k = 0; k < numbers.size(); ++k)
        for (uint8_t back = 1; back <= s[k]; ++back)
          if (torn(numbers[k][back - 1], s)) s[k] = uint8_t(back - 1), again = true;
    }
    return s;
  }
  bool torn(uint64_t number, const State& s) const {
    for (size_t j = 0; j < numbers.size(); ++j)
      for (size_t back = s[j] + size_t(1); back <= numbers[j].size(); ++back)
        if (numbers[j][back - 1] == number) return true;
    return false;
  }
};
} // namespace

std::vector<State> Versions::states(uint64_t address, uint32_t bytes, uint32_t elements,
                                    const State& most) const {
  if (most == State{}) return {};
  Elements all;
  std::vector<uint64_t> times;
  for (uint32_t k = 0; k < elements; ++k) {
    std::vector<uint64_t>& own = all.numbers.emplace_back();
    const uint32_t one = bytes / elements;
    if (const std::vector<Write>* writes = find(address + k * one, one))
      for (size_t i = writes->size(); i-- > 0;) own.push_back((*writes)[i].number);
    times.insert(times.end(), own.begin(), own.begin() + most[k]);
  }
  std::sort(times.rbegin(), times.rend());
  std::vector<State> out;
  auto add = [&](const State& s) {
    const State whole = all.whole(s);
    if (whole != State{} && std::find(out.begin(), out.end(), whole) == out.end())
      out.push_back(whole);
  };
  for (uint64_t time : times) { // as all of them were before that store
    State s{};
    for (uint32_t k = 0; k < elements; ++k)
      while (s[k] < most[k] && all.numbers[k][s[k]] >= time) ++s[k];
    add(s);
  }
  const size_t at_once = out.size();
  for (uint32_t k = 0; k < elements; ++k)
    for (uint8_t back = 1; back <= most[k]; ++back) {
      State s{};
      s[k] = back;
      add(s);
    }
  if (at_once)
    std::rotate(out.begin() + ptrdiff_t(at_once) - 1, out.begin() + ptrdiff_t(at_once), out.end());
  return out;
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
