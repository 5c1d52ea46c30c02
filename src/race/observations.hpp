// Who has read whose strong writes (PTX ISA, memory consistency model: observation order and
// causality order). A strong write that a morally strong read takes its value from, directly or
// through a chain of read-modify-writes, is ordered before all that the read precedes in base
// causality order: the write itself, and nothing that came before it in its own thread.
//
// Each location has a log of its strong operations. The judge asks it about a pair that nothing
// else orders; until then an operation costs one entry. What one
// lane does here by one instruction at one time cannot be told apart, so the last of it speaks for
// all: where an earlier one is lost by that, the last one overwrote it before the observer read.
#pragma once

#include "race/access.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

namespace assay::race {

// A lane at one of its times, and what it executes.
struct Moment {
  uint32_t cta = 0;
  uint16_t warp = 0, lane = 0;
  uint32_t time = 0, pc = 0;
  bool operator==(const Moment&) const = default;
};

class Observations {
public:
  bool empty() const { return blocks_.empty(); }
  void write(uint64_t address, uint32_t bytes, const Moment& who, Scope scope);
  void read(uint64_t address, uint32_t bytes, const Moment& who, Scope scope);
  // observes: it returns what it read (`red` does not); wrote: no compare-and-swap that failed.
  void read_modify_write(uint64_t address, uint32_t bytes, const Moment& who, Scope scope,
                         bool observes, bool wrote);
  // A write that is no part of any chain; see SyncVariables::overwritten.
  void overwritten(uint64_t from, uint64_t to, bool keep_exact);

  // Was the strong write by `who` at exactly this location observed by an operation for which
  // `precedes` holds?
  template <class Precedes>
  bool observed(uint64_t address, uint32_t bytes, const Moment& who, Precedes precedes) const {
    const Location* l = find(address, bytes);
    if (!l) return false;
    auto [from, to] = observers(*l, who);
    for (size_t i = to; i-- > from;)
      if (l->log[i].observes(i) && precedes(l->log[i].who)) return true;
    return false;
  }

private:
  enum Kind : uint32_t { kReads, kWrites, kFails }; // fails: a compare-and-swap
  struct Operation {
    Moment who;
    uint32_t begin : 30; // it observed the writes from here up to itself
    uint32_t kind : 2;
    bool observes(size_t own) const { return begin < own; }
  };
  struct MomentHash {
    size_t operator()(const Moment& m) const;
  };
  struct Index {
    std::unordered_map<Moment, uint32_t, MomentHash> last; // but for plain reads
    size_t count = 0;                                      // operations looked at
  };
  struct Location {
    uint64_t address = 0;
    uint32_t bytes = 0;
    bool open = false; // the last chain still is the location's value
    uint32_t last_cta = 0;
    Scope last_scope = Scope::none;
    std::vector<Operation> log;
    std::vector<uint32_t> chains; // where each of them begins
    mutable std::unique_ptr<Index> index;
  };
  struct Range {
    size_t from, to;
  };
  // The locations of kSyncBlock bytes.
  struct Block {
    std::vector<Location> locations;
    uint32_t bytes = 0; // of each of them, aligned to it: they are equal or apart; 0: not all alike
  };

  const Location* find(uint64_t address, uint32_t bytes) const;
  Location* location(uint64_t address, uint32_t bytes);
  Block* block(uint64_t number) const;
  Range observers(const Location& l, const Moment& who) const;
  bool full();
  bool linked(const Location& l, const Moment& who, Scope scope) const;

  std::unordered_map<uint64_t, Block> blocks_; // by address / kSyncBlock
  struct Recent {
    uint64_t number = UINT64_MAX;
    Block* block = nullptr;
  };
  mutable std::array<Recent, 64> recent_; // blocks by their low bits: the map is slow for atomics
  size_t operations_ = 0, locations_ = 0;
  bool full_ = false;
};

} // namespace assay::race
