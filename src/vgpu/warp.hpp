// Execution state: CTAs, warps, and the groups of lanes that a warp has split into.
#pragma once

#include "schedule/policy.hpp"
#include "vgpu/exec.hpp"
#include "vgpu/memory.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace assay::vgpu {

struct Machine;
struct Cta;

struct Frame { // where a call returns to
  uint32_t return_pc = 0;
  uint32_t regs_base = 0;  // slots
  uint32_t local_base = 0; // bytes
  uint16_t function = 0;
};

// A branch on which lanes parted, and where the policy would like them to meet again.
struct JoinRecord {
  uint32_t pc = 0;
  uint32_t lanes = 0; // that parted
  uint32_t id = 0;
};

// What a group last polled: strong reads of one operation that changed nothing (machine_spin.cpp).
struct Poll {
  struct Cell {
    const uint8_t* at;
    uint8_t value[16];
  };
  std::vector<Cell> cells; // of the lanes that polled, in order
  uint32_t pc = 0, lanes = 0, bytes = 0;
  uint32_t turns = 0;    // polls in a row that found the same
  uint64_t state = 0;    // hash of registers and local memory at one of them
  bool spinning = false; // in vain, until one of the cells changes
  uint32_t skipped = 0, patience = 0;
};

enum class GroupState : uint8_t {
  ready,
  at_join,
  at_meet,
  at_barrier,
  at_async,
  at_mbarrier,
  held,
  dead
};

// Lanes of one warp that share a program counter. Every live lane is in exactly one group.
struct Group {
  uint32_t lanes = 0;
  uint32_t pc = 0;
  GroupState state = GroupState::dead;
  bool at_point = false;    // stands before a scheduling point
  bool bypassed = false;    // was let go past a join while a sibling waits at a barrier inside
  bool has_deposit = false; // `deposit` holds what it met with
  uint16_t function = 0;
  uint32_t regs_base = 0;   // slots
  uint32_t local_base = 0;  // bytes
  uint32_t bypassed_pc = 0; // that barrier
  uint32_t meet_mask = 0;   // at_meet
  uint64_t meet_key = 0;
  uint32_t barrier = 0;       // at_barrier
  uint32_t mbarrier = 0;      // at_mbarrier: offset of an object whose phase is not complete
  bool fence_waited = false;  // that it stands before, and need not wait again
  bool refused = false;       // its wait shall end with the answer "no", since nobody else can run
  uint64_t refused_state = 0; // of its registers when that was so last
  uint32_t stalled = 0;       // consecutive quanta in which it stored nothing
  std::vector<Frame> frames;
  std::vector<JoinRecord> joins;
  std::unique_ptr<Lanes<uint64_t>> deposit;
  uint32_t deposit_lanes = 0; // that it comes from
  std::unique_ptr<Poll> poll; // null: it has polled nothing
};

enum class Stop : uint8_t {
  none,
  point,   // before a scheduling point, without points left
  quantum, // after a back edge
  join,
  meet,
  barrier,
  async,    // the group now waits
  diverged, // the group split; the part with the lowest lane goes on
  moved,    // the machine set the program counter itself (call, return)
  exited,
  aborted,
};

struct Warp : WarpMasks {
  Machine* machine = nullptr;
  Cta* cta = nullptr;
  uint32_t index = 0;         // in the CTA
  uint32_t live = 0;          // lanes that have not exited
  Group* group = nullptr;     // that runs
  const Exec* code = nullptr; // of the current mode
  uint32_t seen = 0; // fixed addresses that are equal or evenly spaced, all 32 lanes of them
  uint64_t told = 0; // address of the access that the detector is about to hear of
  uint32_t points_left = 0;
  int32_t quantum_left = 0;
  uint32_t active_count = 0;
  Stop reason = Stop::none;
  bool stored = false;       // changed a byte since the slice began or something was polled
  bool progressed = false;   // `stored`, before the last poll of the slice
  bool stored_local = false; // changed a byte of local memory in this slice
  uint64_t instructions = 0; // thread-instructions, flushed to the machine after each slice
  uint64_t points = 0;       // scheduling points executed in this slice
  std::vector<Group> groups; // reserved to 32: pointers stay valid; dead ones are reused
  uint32_t group_count = 0;  // live groups
  std::vector<Lanes<uint32_t>> registers; // slots
  std::vector<Lanes<uint32_t>> local;     // word-interleaved: word k of every lane is local[k]
  struct WordInit {
    uint32_t byte[4];
  }; // a bit per lane
  std::vector<WordInit> local_init; // parallel to local
  Lanes<uint64_t> deposit;          // of the last meet
  uint32_t deposit_lanes = 0;       // that it comes from
  Lanes<uint32_t> tid[3];
  uint32_t copy_group[32] = {}; // cp.async: number of the open commit group of each lane
  struct Untracked {            // copies since the last cp.async.mbarrier.arrive of their lanes
    uint32_t seq, lanes;
  };
  std::vector<Untracked> untracked;
  char* regs() { return reinterpret_cast<char*>(registers.data()) + group->regs_base * 128u; }
};

inline WarpMasks& masks(Warp* w) { return *w; }

// One barrier of a CTA (16 of them).
struct Barrier {
  uint32_t expected = 0; // threads, 0: all of the CTA (uncounted)
  bool open = false;     // somebody has arrived in this phase
  bool counted = false;
  uint8_t kind = 0xff; // 0: sync, 2 to 4: red.popc, .and, .or; arrive mixes with any
  std::vector<uint32_t> arrived, acquiring; // lanes by warp
  uint32_t arrivals = 0, warps = 0;         // lanes and warps that have arrived
  uint32_t red_count = 0;
  bool red_and = true, red_or = false;
  struct Site {
    uint32_t pc, warp, lanes;
  };
  std::vector<Site> sites; // who has arrived, of those at the first one's instruction not all

  void reduce(bool v) {
    red_count += v;
    red_and &= v;
    red_or |= v;
  }
  // A new phase; the vectors keep their storage.
  void begin(uint32_t warps_per_cta, bool with_count, uint32_t threads) {
    arrived.assign(warps_per_cta, 0);
    acquiring.assign(warps_per_cta, 0);
    sites.clear();
    open = true;
    counted = with_count;
    expected = threads;
    kind = 0xff;
    arrivals = warps = red_count = 0;
    red_and = true;
    red_or = false;
  }
};

// One executed cp.async or cp.async.mbarrier.arrive instruction: an agent until it has run.
struct Copy {
  uint32_t seq = 0;
  uint32_t warp = 0, pc = 0;
  uint32_t lanes = 0;
  bool held = false;
  bool demanded = true;   // it may run before its CTA ends
  bool arrives = false;   // cp.async.mbarrier.arrive: on the objects at `destination`
  bool counted = false;   // its arrival is one of those that the object was initialised for
  uint32_t waits_for = 0; // copies that must be complete first
  std::vector<uint32_t> followers; // that wait for this one, by seq
  uint8_t bytes = 0;
  uint32_t group[32];       // commit group of each lane
  uint64_t destination[32]; // shared offsets
  uint64_t source[32];      // global addresses
  uint8_t source_bytes[32]; // the rest is zero-filled
};

// An mbarrier object (machine_mbarrier.cpp).
struct MbarrierObject {
  uint32_t expected = 0, pending = 0;
  int64_t tx = 0;
  uint32_t phase = 0;
  uint32_t pc = 0, warp = 0, lane = 0; // that initialised it
};

// Copies that are complete: their waits still are to come.
struct DoneCopy {
  uint32_t seq = 0, warp = 0, lanes = 0;
  uint32_t group[32];
};

struct Cta {
  uint32_t index = 0; // linear
  uint32_t id[3] = {0, 0, 0};
  uint32_t live_warps = 0, live_lanes = 0;
  uint32_t open_barriers = 0; // bits
  struct CountedUse {         // of a barrier with a thread count: by which warps, with which count
    uint32_t warps = 0, threads = 0;
  };
  CountedUse counted[16];
  uint32_t used_plainly = 0; // barriers at which all threads have met, bits
  uint32_t arrived_only = 0; // barriers at which some have arrived without waiting, bits
  bool finished = false;
  bool let_go = false;     // griddepcontrol.launch_dependents
  Region shared, reserved; // the kernel's own; all, where the system's is reached (resolve)
  std::vector<CacheLine> shared_lines;
  std::vector<uint64_t> shared_init;
  std::vector<std::unique_ptr<Warp>> warps;
  std::vector<Barrier> barriers;
  std::vector<std::unique_ptr<Copy>> copies; // pending ones, in the order of their issue
  std::vector<DoneCopy> done_copies;         // that may still be waited for
  uint32_t next_copy = 0;
  std::map<uint32_t, MbarrierObject> mbarriers; // live ones, by offset
};

} // namespace assay::vgpu
