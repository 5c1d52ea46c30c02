// Earlier values of strong locations, for runs in which strong reads may miss writes
// (schedule/weak_memory.cpp). PTX ISA 9.0, chapter 8: a read may take its value from any write that
// causality order does not forbid. It must not miss a write that precedes it in causality order,
// and what precedes includes a write that was observed by an operation that precedes (axioms of
// Causality and Coherence). Coherence order is the order of execution here, but for a write that a
// directed run lets come before the newest one (Machine::comes_before_store). Reads of values that
// are still to be written (load buffering) are not covered.
//
// A vector's elements are locations of their own, but a read of a vector finds each store's
// elements together unless the policy tears them: it has one of the `states` that its elements have
// been in.
//
// A location keeps its last few strong writes. A weak write to it, or a strong one of other extent,
// forgets them: those that are unordered with the read are races and reported as such.
#pragma once

#include "race/observations.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace assay::race {

class Chain;

class Versions {
public:
  static constexpr uint32_t kMostBytes = 16, kMostElements = 8;
  struct Write {
    std::array<uint8_t, kMostBytes> before; // what it replaced
    std::shared_ptr<Chain> chain;           // what a reader of that may acquire; null: nothing
    Moment by;
    uint64_t number = 0;           // the same of all elements that one store wrote
    std::vector<Moment> observers; // that read it, directly or by a read-modify-write
    bool closed = false;           // too many of them: no read may miss it any more
  };

  // A strong write by `by` is about to replace these bytes.
  void replace(uint64_t address, uint32_t bytes, const void* before, std::shared_ptr<Chain> chain,
               const Moment& by, uint64_t number);
  // A strong read took the present value, or that before the last `back` writes.
  void observe(uint64_t address, uint32_t bytes, const Moment& reader, uint32_t back);
  void forget(uint64_t from, uint64_t to, bool keep_exact);
  // The location's last writes, the newest last; null: none is known.
  const std::vector<Write>* find(uint64_t address, uint32_t bytes) const;
  const Write& last(uint64_t address, uint32_t bytes, uint32_t back) const; // 1: the newest
  // How many of its last writes each element of a vector misses.
  using State = std::array<uint8_t, kMostElements>;
  // Those with no store torn in which element k misses at most most[k] writes, and some element
  // one: as they were at one time, and each element by itself. The one that misses most is last.
  std::vector<State> states(uint64_t address, uint32_t bytes, uint32_t elements,
                            const State& most) const;

private:
  struct Location {
    uint64_t address = 0;
    uint32_t bytes = 0;
    std::vector<Write> writes;
  };
  Location* location(uint64_t address, uint32_t bytes);
  std::unordered_map<uint64_t, std::vector<Location>> blocks_; // by address / kSyncBlock
};

} // namespace assay::race
