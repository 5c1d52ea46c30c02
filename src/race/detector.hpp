// The race detector: causality clocks and shadow memory for one launch, or for several that may
// overlap. Their CTAs are then counted through all of them; `grid` says which of them is meant.
// Implements the causality table of docs/concurrency.md (PTX ISA 9.0, chapter 8) and nothing else.
//
// Time is kept per lane, compressed: a full-CTA barrier raises every lane of the CTA to one common
// clock value, so "ordered" inside a CTA is one comparison; a full-warp sync does so for the warp;
// everything finer lives in sparse clocks. Single-threaded: one detector serves one run.
#pragma once

#include "race/access.hpp"
#include "race/touched.hpp"

#include <memory>
#include <vector>

namespace assay::race {

struct LaunchShape {
  uint32_t ctas = 0;
  uint32_t warps_per_cta = 0;
  uint32_t lanes_of_last_warp = 32;
};

struct Limits {
  uint64_t shadow_bytes = uint64_t(4) << 30; // beyond: overflowed() and the verdict is unknown
  uint32_t conflicts = 4096;                 // distinct conflicts kept
  bool versions = false;                     // of strong locations, for missable()
  bool fence_order = true;                   // edge (e); without it no order of fences hides a race
};

// A strong store, or an atomic update whose result nobody uses, between its turn and its effect
// (causality.hpp).
struct LateUpdate;
using LateUpdateRef = std::shared_ptr<const LateUpdate>;

class Detector {
public:
  Detector(const LaunchShape& shape, const Limits& limits)
      : Detector(std::vector<LaunchShape>{shape}, limits) {}
  Detector(const std::vector<LaunchShape>& grids, const Limits& limits);
  ~Detector();
  Detector(const Detector&) = delete;
  Detector& operator=(const Detector&) = delete;

  // -- memory ------------------------------------------------------------------------------------
  // Global memory that is tracked, by window base; accesses to other addresses are ignored. Shared
  // memory is tracked per CTA between cta_begin and cta_end.
  void track(uint64_t base, uint64_t bytes);
  void touch(Touched* touched) { touched_ = touched; } // writes down what is accessed
  void cta_begin(uint32_t cta, uint32_t shared_bytes);
  void cta_end(uint32_t cta); // its shared shadow dies; all its lanes have exited

  // The whole warp makes a weak access at base + lane·bytes (all 32 lanes): the fast path. Its
  // attributes (weak_attributes) are known when it is compiled.
  void affine(Space space, Agent agent, uint64_t address, uint32_t pc, uint16_t attributes);
  // All lanes of `lanes` read the same location.
  void broadcast(Space space, Agent agent, uint32_t lanes, uint64_t address, uint32_t pc,
                 uint16_t attributes);
  // Neighbouring lanes read neighbouring locations: lane l of `lanes` (a run) at base + l·bytes.
  void row_part(Space space, Agent agent, uint32_t lanes, uint64_t base, uint32_t pc,
                uint16_t attributes);
  // Any pattern; address[i] counts for the lanes in `lanes`. For writes `values` points to 32
  // entries of `value_stride` bytes with what each lane stores (to tell value races); may be null
  // for reads. `info.silent` is not used here: silent_lanes has a bit per lane.
  void access(Space space, Agent agent, uint32_t lanes, const uint64_t* address,
              const AccessInfo& info, const void* values, uint32_t value_stride,
              uint32_t silent_lanes);

  // -- causality ---------------------------------------------------------------------------------
  // (b) a barrier phase completed: lanes[w] arrived from warp w; acquire[w] of them wait (sync,
  // red), the others only arrive. exited[w]: lanes that count as arrived because they exited.
  struct BarrierPhase {
    uint32_t cta = 0;
    std::vector<uint32_t> arrived, acquiring, exited; // indexed by warp
    uint32_t number = 0;
  };
  // Lanes arrive at that barrier without waiting: the phase orders what they did up to here, and
  // nothing that they do until it completes.
  void arrived(Agent agent, uint32_t lanes, uint32_t number);
  // Before that, and before an arrival that waits at a barrier at which some have only arrived.
  void arrives_again(Agent agent, uint32_t lanes, uint32_t number);
  void barrier(const BarrierPhase& phase);
  void warp_sync(Agent agent, uint32_t lanes); // (c)
  void exited(Agent agent, uint32_t lanes);

  // (h) where there are several grids. A grid begins behind all of others that have ended; a grid
  // has ended, all of its CTAs have; lanes learn that one has (griddepcontrol.wait).
  void grid_begin(uint32_t grid, const std::vector<uint32_t>& behind);
  void grid_end(uint32_t grid);
  void grid_waited(Agent agent, uint32_t lanes, uint32_t grid);

  // (d) strong operations, called after the matching access(): how the lane's operation on
  // `address` publishes and takes release clocks. One lane at a time, in execution order.
  enum class Order : uint8_t { relaxed, acquire, release, acq_rel };
  // Each is of as many elements as the access, whose bytes are those of all of them.
  void strong_write(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes,
                    Order order, Scope scope);
  void strong_read(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes,
                   Order order, Scope scope);
  // reads and writes; reduction: red, which never acquires; wrote: no compare-and-swap that failed
  void read_modify_write(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes,
                         Order order, Scope scope, bool reduction, bool wrote = true);
  // For questions before an access(), or about single elements after it.
  void elements(uint32_t n);
  // Runs whose strong reads may miss writes (versions.hpp). Before strong_write() or
  // read_modify_write(): the location's bytes as they are. How many of the last writes a read of
  // the lane may miss; and the read that misses `back` of them, instead of strong_read(): its
  // value.
  void replacing(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes,
                 const void* before);
  uint32_t missable(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes) const;
  void missed(Space space, Agent agent, uint64_t address, uint8_t bytes, uint32_t back,
              uint8_t* value) const; // which is the present one; after missable()
  // Who wrote the oldest of them.
  Side missed_write(Space space, Agent agent, uint64_t address, uint8_t bytes, uint32_t back) const;
  // A write by the lane came before the newest there, which it has so seen.
  void overtaken(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes);
  void missing_read(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes,
                    Order order, Scope scope, uint32_t back);
  // Strong writes that take effect late: the turn of one, after access(); is it ordered before what
  // the lane does next, which must find its effect then; and its effect, where there was `before`.
  LateUpdateRef postpone(Agent agent, uint32_t lane, Space space, uint64_t address, uint8_t bytes,
                         Order order, Scope scope, bool store);
  bool precedes(const LateUpdate& update, Agent agent, uint32_t lane) const;
  void late_update(Space space, uint64_t address, uint8_t bytes, const LateUpdate& update,
                   const void* before);
  // Fences of the given lanes; sc ones are ordered among each other (e).
  enum class Fence : uint8_t { acquire, release, acq_rel, sc };
  void fence(Agent agent, uint32_t lanes, Fence fence, Scope scope);

  // Has some fence.sc come after another that it is ordered with?
  bool fences_met() const;

  // cp.async: the copy starts after its issuer's program order; accesses by agent {cta, copy};
  // wait joins finished copies into the waiting lane only.
  void copy_issue(Agent issuer, uint32_t lane, uint32_t copy);
  void copy_joined(Agent waiter, uint32_t lane, uint32_t copy);

  // (f) mbarrier objects, by their offset in the CTA's shared memory. Who arrives when and what
  // completes a phase is the caller's business; each call stands for one operation.
  void mbarrier_init(uint32_t cta, uint32_t offset);
  void mbarrier_arrive(Agent agent, uint32_t lanes, uint32_t offset, bool release);
  // The lane makes the present phase wait for something that does not arrive by itself: an
  // increment by cp.async.mbarrier.arrive, or expect_tx.
  void mbarrier_expect(Agent agent, uint32_t lane, uint32_t offset);
  void mbarrier_complete(uint32_t cta,
                         uint32_t offset); // its present phase, after the last arrival
  // The lanes found the phase before the present one complete. True: each of them knew.
  bool mbarrier_waited(Agent agent, uint32_t lanes, uint32_t offset, bool acquire);
  // cp.async.mbarrier.arrive is an agent like a copy (copy_issue). It stands for `copies`, by their
  // numbers (without kCopyAgent): those of
  // the lane since the one before it. Its arrival: `counted` is true of .noinc, whose arrival the
  // object was initialised for.
  void copy_arrives(Agent issuer, uint32_t lane, uint32_t copy,
                    const std::vector<uint32_t>& copies);
  void mbarrier_copy_arrived(uint32_t cta, uint32_t copy, uint32_t offset, bool counted);
  // Why another schedule might let an arrival or a wait meet another phase; null: none can.
  const char* phase_doubt() const;

  // -- results -----------------------------------------------------------------------------------
  // Each distinct (kind, pc, pc, space, scope) with up to four instances: first, last, one at a CTA
  // boundary, one picked by a hash. In order of first detection.
  // Instances of one conflict stand together.
  const std::vector<Conflict>& conflicts() const;
  // For each entry of conflicts(): how often its kind of conflict was seen.
  const std::vector<uint64_t>& conflict_counts() const;
  bool overflowed() const;
  uint64_t shadow_bytes() const; // memory in use by the shadow

  // The clock of a lane now (Side::time), for arming an instance in another run.
  uint32_t time(Agent agent, uint32_t lane) const;

private:
  struct State;
  std::unique_ptr<State> state_;
  Touched* touched_ = nullptr;
};

} // namespace assay::race
