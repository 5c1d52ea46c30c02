// Release and acquire patterns by location (PTX ISA, memory consistency model: release and acquire
// patterns, observation order, synchronizes-with).
//
// A location's *chain* is what an acquire pattern that reads its present value may take: the
// releases of the write that began it and of the read-modify-writes since. Every link must be
// morally strong, so a chain remembers the operation that wrote last; any other write breaks it.
// Both patterns may have their two operations on the location apart (PTX ISA 9.0, 8.8): a release
// operation and a later strong write of the same thread, a strong read and a later acquire one.
#pragma once

#include "race/access.hpp"
#include "race/clock.hpp"
#include "race/observations.hpp"
#include "race/versions.hpp"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <vector>

namespace assay::race {

// No strong access is larger, and all are aligned.
inline constexpr uint64_t kSyncBlock = 32;

inline bool wide(Scope scope) { return scope >= Scope::gpu; }
// Does the scope of an operation in one CTA include the threads of another?
inline bool includes(Scope scope, uint32_t cta, uint32_t other) {
  return scope != Scope::none && (cta == other || wide(scope));
}
// Are two strong operations within each other's scope?
inline bool mutual(Scope a, uint32_t cta_a, Scope b, uint32_t cta_b) {
  return includes(a, cta_a, cta_b) && includes(b, cta_b, cta_a);
}

// Exactly which bytes a strong operation is on; of shared memory, within the CTA.
struct Location {
  Space space = Space::global;
  uint32_t bytes = 0;
  uint64_t address = 0;
  bool operator==(const Location&) const = default;
};

// One release pattern: the CTA and scope of its first operation, and what it publishes.
struct Contribution {
  uint32_t cta = 0;
  Scope scope = Scope::none;
  ClockRef clock;
};

// Only ever grows, so that a reader may remember how far it had grown.
class Chain {
public:
  void add(Contribution c);
  size_t size() const { return all_.size(); }
  // Everything among the first `count` that an acquire operation of `scope` in `cta` may take.
  void collect(size_t count, uint32_t cta, Scope scope, ClockBuilder& out) const;
  // A chain of fewer contributions with the same meaning.
  std::shared_ptr<Chain> compacted() const;

  uint32_t last_cta = 0; // of the operation that wrote last
  Scope last_scope = Scope::none;
  size_t compact_at = 64;

private:
  std::vector<Contribution> all_;
  // The merged clock of the wide ones among the first merged_count_.
  mutable ClockRef merged_wide_;
  mutable size_t merged_count_ = 0;
};
using ChainRef = std::shared_ptr<Chain>;

// What a lane has read with strong reads and not yet acquired: by a fence, or by an acquire
// operation on the same location.
class PendingAcquire {
public:
  void add(const Location& at, const ChainRef& chain, uint32_t cta);
  bool empty() const { return taken_.empty(); }
  void clear() { taken_.clear(); }
  void collect(uint32_t cta, Scope scope, ClockBuilder& out) const {
    for (const Taken& t : taken_) t.chain->collect(t.count, cta, scope, out);
  }
  // Does it hold anything of that location but this chain?
  bool others(const Location& at, const ChainRef& chain) const;
  void collect_at(const Location& at, uint32_t cta, Scope scope, ClockBuilder& out) const {
    for (const Taken& t : taken_)
      if (t.at == at) t.chain->collect(t.count, cta, scope, out);
  }
  void clear_at(const Location& at) {
    std::erase_if(taken_, [&](const Taken& t) { return t.at == at; });
  }

private:
  struct Taken {
    Location at; // of no bytes: several, which only a fence can acquire
    ChainRef chain;
    size_t count;
  };
  void collapse(uint32_t cta);
  std::vector<Taken> taken_;
};

// What the release operations of a CTA's lanes published, by lane and location: later strong writes
// of that lane to that location publish it as well.
class Releases {
public:
  bool empty() const { return latest_.empty(); }
  void add(uint32_t warp, uint32_t lane, const Location& at, const Contribution& c);
  // Not what `covered`, a release of the lane that comes next, publishes anyway.
  void collect(uint32_t warp, uint32_t lane, const Location& at, Scope covered,
               std::vector<Contribution>& out) const;

private:
  struct Key {
    uint32_t warp, lane;
    Location at;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& k) const;
  };
  struct Latest {
    Contribution narrow, wide; // of cta or cluster scope, of gpu or sys scope: as of fences
  };
  std::unordered_map<Key, Latest, Hash> latest_;
};

class SyncVariables {
public:
  bool empty() const { return blocks_.empty(); }
  // No strong operation has touched any byte of [from, to) or the block around it.
  bool clear_of(uint64_t from, uint64_t to) const { return to <= low_ || high_ <= from; }
  Observations& log(uint64_t address) { return include(address), log_; } // for an operation there
  const Observations& log() const { return log_; }
  Versions versions; // filled only in runs whose reads may miss writes
  // The chain of the value at exactly this location; null: nothing to acquire.
  ChainRef find(uint64_t address, uint32_t bytes) const;
  // The chain of a location that overlaps others in no byte from now on.
  void set(uint64_t address, uint32_t bytes, ChainRef chain);
  // A write that is no part of any chain. `keep_exact`: it is a strong write to exactly this
  // location, which set() will follow.
  void overwritten(uint64_t from, uint64_t to, bool keep_exact);

private:
  struct Variable {
    uint64_t address;
    uint32_t bytes;
    ChainRef chain;
  };
  void include(uint64_t address) {
    low_ = std::min(low_, address / kSyncBlock * kSyncBlock);
    high_ = std::max(high_, (address / kSyncBlock + 1) * kSyncBlock);
  }
  std::unordered_map<uint64_t, std::vector<Variable>> blocks_; // by address / kSyncBlock
  Observations log_;
  uint64_t low_ = UINT64_MAX, high_ = 0; // between them is all that was ever kept
};

} // namespace assay::race
