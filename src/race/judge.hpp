// The verdict on two accesses: docs/concurrency.md §2, byte by byte.
#pragma once

#include "race/causality.hpp"
#include "race/conflicts.hpp"
#include "race/record.hpp"

namespace assay::race {

// An access on its way into the shadow: one warp or copy, the part of it in one row.
struct Access {
  Record record; // one bit in `warps`
  Observer observer;
  Space space = Space::global;
  uint32_t space_cta = 0;
  uint64_t row_address = 0;

  void set_silent(bool silent) {
    record.attributes = uint16_t((record.attributes & ~kSilent) | (silent ? kSilent : 0));
  }
  Agent agent(uint32_t lane) const {
    return agent_of(record, uint32_t(std::countr_zero(record.warps)), lane);
  }
  static Agent agent_of(const Record& r, uint32_t warp, uint32_t lane) {
    return {r.cta, r.copy() ? kCopyAgent + r.warps * 32 + lane : warp};
  }
};

// What only the shadow can tell about its records.
class RowView {
public:
  // When was the byte of the row last changed? The largest change counter of a write that did.
  virtual uint32_t last_change(int byte) const = 0;
  virtual uint32_t lanes(const Record& record, uint32_t warp) const = 0;

protected:
  ~RowView() = default;
};

class Judge {
public:
  Judge(const Causality& causality, Conflicts& conflicts)
      : causality_(causality), conflicts_(conflicts) {}
  // That operation of the CTA's grid makes strong accesses of vectors with elements of that size.
  void is_vector(uint32_t cta, uint32_t pc, uint32_t element_bytes) {
    elements_[uint64_t(causality_.grid_of(cta)) << 32 | pc] = element_bytes;
  }
  // An earlier access against a new one; reports every kind and distance of conflict they have.
  void judge(const Record& earlier, const Access& access, const RowView& view);
  // Lanes of one instruction at one location; differ: they store different values.
  void same_instruction(const Access& access, uint32_t lane, uint32_t other, uint64_t address,
                        bool differ);
  // Is the copy's record ordered before the access, lane by lane?
  bool precedes(const Record& copy, const Access& access) const;
  // Is all of the record ordered before all of the access, without looking at single lanes?
  bool all_ordered(const Record& earlier, const Access& access) const;

private:
  struct Pair {
    uint32_t warp, earlier_lane, lane;
    int from, to; // overlapping bytes
  };
  int element_bytes(const Record& r) const {
    if (elements_.empty() || !(r.attributes & kStrong)) return r.bytes();
    auto it = elements_.find(uint64_t(causality_.grid_of(r.cta)) << 32 | r.pc);
    return it == elements_.end() ? r.bytes() : int(it->second);
  }
  bool morally_strong(const Record& a, uint32_t lane_a, const Record& b, uint32_t lane_b) const;
  bool judge_warp(const Record& earlier, uint32_t warp, const Access& access, bool nc,
                  bool one_kind, const RowView& view);
  bool report_unobserved(const Record& earlier, const Access& access, const Pair& pair, bool nc,
                         const RowView& view);
  void report(const Record& earlier, const Access& access, const Pair& pair, bool nc,
              const RowView& view);
  void emit(Conflict::Kind kind, const Record& earlier, const Access& access, const Pair& pair,
            Stake stake = Stake::values);

  const Causality& causality_;
  Conflicts& conflicts_;
  std::unordered_map<uint64_t, uint32_t> elements_; // bytes of one, by grid and operation
};

} // namespace assay::race
