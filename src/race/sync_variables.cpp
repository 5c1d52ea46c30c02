// Chains of releases by location; see sync_variables.hpp.
#include "race/sync_variables.hpp"

#include "base/random.hpp"

#include <algorithm>

namespace assay::race {
namespace {
constexpr uint32_t kElsewhere = ~0u; // some other CTA: only wide scopes reach it
constexpr size_t kManyPending = 16;
} // namespace

void Chain::add(Contribution c) {
  if (!all_.empty()) {
    const Contribution& last = all_.back();
    if (last.clock == c.clock && last.cta == c.cta && last.scope == c.scope) return;
  }
  all_.push_back(std::move(c));
}

void Chain::collect(size_t count, uint32_t cta, Scope scope, ClockBuilder& out) const {
  size_t first = 0;
  if (wide(scope)) {
    if (merged_count_ < count) {
      ClockBuilder merged;
      merged.add(merged_wide_);
      for (; merged_count_ < count; ++merged_count_)
        if (wide(all_[merged_count_].scope)) merged.add(all_[merged_count_].clock);
      merged_wide_ = merged.take();
    }
    if (merged_count_ == count) {
      out.add(merged_wide_);
      for (size_t i = first; i < count; ++i)
        if (!wide(all_[i].scope) && mutual(all_[i].scope, all_[i].cta, scope, cta))
          out.add(all_[i].clock);
      return;
    }
  }
  for (size_t i = first; i < count; ++i)
    if (mutual(all_[i].scope, all_[i].cta, scope, cta)) out.add(all_[i].clock);
}

std::shared_ptr<Chain> Chain::compacted() const {
  std::vector<Contribution> sorted = all_;
  auto key = [](const Contribution& c) { return std::pair(c.cta, c.scope); };
  std::sort(sorted.begin(), sorted.end(), [&](auto& a, auto& b) { return key(a) < key(b); });
  auto chain = std::make_shared<Chain>();
  for (size_t i = 0; i < sorted.size();) {
    ClockBuilder merged;
    size_t j = i;
    for (; j < sorted.size() && key(sorted[j]) == key(sorted[i]); ++j) merged.add(sorted[j].clock);
    chain->add({sorted[i].cta, sorted[i].scope, merged.take()});
    i = j;
  }
  chain->last_cta = last_cta;
  chain->last_scope = last_scope;
  chain->compact_at = std::max<size_t>(64, 2 * chain->size());
  return chain;
}

void PendingAcquire::add(const Location& at, const ChainRef& chain, uint32_t cta) {
  for (Taken& t : taken_)
    if (t.chain == chain && t.at == at) {
      t.count = chain->size();
      return;
    }
  if (taken_.size() >= kManyPending) collapse(cta);
  taken_.push_back({at, chain, chain->size()});
}

bool PendingAcquire::others(const Location& at, const ChainRef& chain) const {
  return std::any_of(taken_.begin(), taken_.end(),
                     [&](const Taken& t) { return t.at == at && t.chain != chain; });
}

// A lane that polls reads many chains before its fence: keep what a fence within the CTA would
// take and what one of gpu scope would, for each location; of many locations, half of them apart.
void PendingAcquire::collapse(uint32_t cta) {
  std::vector<Location> locations; // as they were read first
  for (const Taken& t : taken_)
    if (std::find(locations.begin(), locations.end(), t.at) == locations.end())
      locations.push_back(t.at);
  if (locations.size() > kManyPending / 2) {
    const size_t apart = locations.size() - kManyPending / 2;
    for (Taken& t : taken_)
      if (std::find(locations.begin(), locations.begin() + ptrdiff_t(apart), t.at) !=
          locations.begin() + ptrdiff_t(apart))
        t.at = Location{};
    locations.erase(locations.begin(), locations.begin() + ptrdiff_t(apart));
    locations.insert(locations.begin(), Location{});
  }
  std::vector<Taken> merged;
  for (const Location& at : locations) {
    ClockBuilder near, far;
    collect_at(at, cta, Scope::cta, near);
    collect_at(at, cta, Scope::gpu, far);
    auto chain = std::make_shared<Chain>();
    chain->add({cta, Scope::cta, near.take()});
    chain->add({kElsewhere, Scope::gpu, far.take()});
    merged.push_back({at, chain, chain->size()});
  }
  taken_ = std::move(merged);
}

size_t Releases::Hash::operator()(const Key& k) const {
  return mix64(k.at.address ^ mix64(uint64_t(k.warp) << 32 | k.lane << 16 | k.at.bytes << 8 |
                                    uint32_t(k.at.space)));
}

void Releases::add(uint32_t warp, uint32_t lane, const Location& at, const Contribution& c) {
  Latest& l = latest_[{warp, lane, at}];
  (wide(c.scope) ? l.wide : l.narrow) = c;
  if (wide(c.scope)) l.narrow = Contribution{};
}

void Releases::collect(uint32_t warp, uint32_t lane, const Location& at, Scope covered,
                       std::vector<Contribution>& out) const {
  if (latest_.empty() || wide(covered)) return;
  auto it = latest_.find({warp, lane, at});
  if (it == latest_.end()) return;
  if (it->second.narrow.clock && covered == Scope::none) out.push_back(it->second.narrow);
  if (it->second.wide.clock) out.push_back(it->second.wide);
}

ChainRef SyncVariables::find(uint64_t address, uint32_t bytes) const {
  auto it = blocks_.find(address / kSyncBlock);
  if (it == blocks_.end()) return nullptr;
  for (const Variable& v : it->second)
    if (v.address == address && v.bytes == bytes) return v.chain;
  return nullptr;
}

void SyncVariables::set(uint64_t address, uint32_t bytes, ChainRef chain) {
  include(address);
  std::vector<Variable>& block = blocks_[address / kSyncBlock];
  for (Variable& v : block)
    if (v.address == address && v.bytes == bytes) {
      v.chain = std::move(chain);
      return;
    }
  block.push_back({address, bytes, std::move(chain)});
}

void SyncVariables::overwritten(uint64_t from, uint64_t to, bool keep_exact) {
  if (clear_of(from, to)) return;
  log_.overwritten(from, to, keep_exact);
  versions.forget(from, to, keep_exact);
  for (uint64_t b = from / kSyncBlock; b <= (to - 1) / kSyncBlock; ++b) {
    auto it = blocks_.find(b);
    if (it == blocks_.end()) continue;
    for (Variable& v : it->second) {
      bool exact = v.address == from && v.address + v.bytes == to;
      if (v.address < to && from < v.address + v.bytes && !(exact && keep_exact)) v.chain = nullptr;
    }
  }
}

} // namespace assay::race
