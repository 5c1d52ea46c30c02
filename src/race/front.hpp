// The way of an access into the shadow: which lanes share a time, which locations and rows it has,
// what is judged before what is kept. The commonest accesses go a short way (hot()): a whole-time
// warp, a row where nothing can conflict, a record that is new or the same as before.
#pragma once

#include "race/address_groups.hpp"
#include "race/conflicts.hpp"
#include "race/shadow.hpp"

#include <span>
#include <vector>

namespace assay::race {

class Front {
public:
  Front(const std::vector<LaunchShape>& grids, const Limits& limits);

  void affine(Space space, Agent agent, uint64_t address, uint32_t pc, uint16_t attributes);
  void broadcast(Space space, Agent agent, uint32_t lanes, uint64_t address, uint32_t pc,
                 uint16_t attributes);
  void row_part(Space space, Agent agent, uint32_t lanes, uint64_t base, uint32_t pc,
                uint16_t attributes);
  void access(Space space, Agent agent, uint32_t lanes, const uint64_t* address,
              const AccessInfo& info, const void* values, uint32_t value_stride,
              uint32_t silent_lanes);

  const Causality& causality() const { return causality_; }
  // For everything that may raise a clock or end a CTA: nothing remains prepared.
  Causality& changing() {
    agent_ = kNobody;
    return causality_;
  }
  Shadow& shadow() { return shadow_; }
  const Conflicts& conflicts() const { return conflicts_; }

private:
  static constexpr Agent kNobody{UINT32_MAX, UINT32_MAX};
  struct Target {
    Place place;
    Access access;
  };

  // What the accesses of one agent have in common, until something other than an access happens.
  void prepare(Space space, Agent agent) {
    if (!prepared(space, agent)) prepare_anew(space, agent);
  }
  void prepare_anew(Space space, Agent agent);
  uint32_t change_of(uint16_t attributes) {
    return (attributes & (kWrite | kSilent)) == kWrite ? shadow_.next_change() : shadow_.change();
  }
  bool hot(Row& row, Region& region, uint32_t pc, uint16_t attributes, int start, uint32_t lanes,
           uint32_t change, bool write);
  template <bool MayGrow = false>
  bool hot_keep(RecordPool& pool, uint32_t& head, Row& row, uint64_t what, uint32_t lanes,
                uint32_t change, bool changing);
  bool extends(const Record& e, const Row& row, uint32_t lanes, bool changing) const;
  bool hot_cells(Row& row, const Region& region, uint32_t pc, uint16_t attributes, int start,
                 uint32_t lanes, uint32_t change);
  Row* row_of(Region*& region, uint64_t address);
  bool prepared(Space space, Agent agent) const {
    return agent.cta == agent_.cta && agent.warp == agent_.warp && space == space_;
  }
  void affine_anew(Agent agent, uint64_t address, uint32_t pc, uint16_t attributes,
                   uint32_t change);
  void point(uint64_t address, uint32_t lanes, uint32_t pc, uint16_t attributes, uint32_t change,
             bool write);
  void point_anew(uint64_t address, uint32_t lanes, uint32_t pc, uint16_t attributes,
                  uint32_t change);
  void prepare_affine(Space space, Agent agent, uint64_t address, uint32_t pc, uint16_t attributes);
  void prepare_broadcast(Space space, Agent agent, uint32_t lanes, uint64_t address, uint32_t pc,
                         uint16_t attributes);
  void broadcast_anew(Agent agent, uint32_t lanes, uint64_t address, uint32_t pc,
                      uint16_t attributes);

  bool split(Agent agent, uint32_t lanes, uint32_t pc, uint16_t attributes, uint32_t change);
  void split_copies(const CtaState& c, const Access& pattern, uint32_t lanes, uint32_t number);
  template <class Visit> void rows(Access& access, uint64_t address, Visit visit);
  void now(Access& access, uint64_t address);
  void later(Access& access, uint64_t address);
  void finish();
  void overwritten(uint64_t address, const AccessInfo& info);
  void in_a_row(std::span<const AddressGroups::Group> run, uint16_t attributes);
  void in_a_row(std::span<const AddressGroups::Group> run, uint32_t first, uint16_t attributes);
  void parts(const AddressGroups::Group& at, uint32_t silent);
  void contested(const Access& access, const AddressGroups::Group& at, const void* values,
                 uint32_t stride);

  Causality causality_;
  Conflicts conflicts_;
  Judge judge_;
  Shadow shadow_;

  Agent agent_ = kNobody; // prepared
  Space space_ = Space::local;
  bool uniform_ = false; // all its lanes have one time
  Region* shared_ = nullptr;
  SyncVariables* variables_ = nullptr;
  uint64_t when_ = 0;
  uint32_t warps_ = 0;

  std::vector<Access> groups_{1}; // the lanes of one instruction by their time
  std::vector<Target> targets_;
  AddressGroups addresses_;
};

} // namespace assay::race
