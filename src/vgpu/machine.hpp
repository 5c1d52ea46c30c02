// One launch in execution: CTAs, the runnable set, events, and the services that handlers call when
// something other than arithmetic happens. Single-threaded; different runs use different machines.
#pragma once

#include "base/result.hpp"
#include "ir/special.hpp"
#include "race/detector.hpp"
#include "vgpu/admission.hpp"
#include "vgpu/cta_table.hpp"
#include "vgpu/float_sums.hpp"
#include "vgpu/runnable.hpp"
#include "vgpu/runtime_memory.hpp"
#include "vgpu/warp.hpp"

#include <memory>
#include <string>
#include <vector>

namespace assay::vgpu {

struct ArmState { // an Arm of RunOptions during one run
  Arm arm;
  bool holding = false, second_done = false, released = false;
  bool written = false; // the first access of one that misses a write, or is late
  uint32_t misses = 0;  // of an arm that misses a write
  uint32_t warp_index = 0;
};

struct Level;
struct Stage;

struct LateWrite;
struct Lateness {      // of one instruction
  uint32_t passes = 0; // so many accesses may come before the write; 0: it takes effect now
  bool armed = false;
  size_t choice = 0; // of the policy: which answer it was
};

struct HeldFence { // before a fence.sc that the policy delays
  uint32_t cta, warp, lanes;
};

inline bool is_fence_sc(const ir::Op& op) {
  return op.code == ir::OpCode::fence && ir::Semantics(op.imm & 255) == ir::Semantics::sc;
}

struct Machine {
  Machine(Stage& stage, uint32_t launch_index);
  ~Machine();
  void run();

  // -- called by handlers (machine_*.cpp) -------------------------------------------------------
  // Splits the running group: the lanes of `taken` go to `target`, the others to `next`.
  void diverge(Warp& w, uint32_t taken, uint32_t target, uint32_t next, uint32_t reconverge);
  void exit_lanes(Warp& w, uint32_t lanes);
  bool meet_arrive(Warp& w, const Exec* e, char* regs); // false: the group waits
  bool barrier_arrive(Warp& w, const Exec* e, char* regs);
  void copy_issue(Warp& w, uint32_t pc, const ir::Op& op, char* regs, uint32_t lanes);
  bool copy_wait(Warp& w, const ir::Op& op); // false: the group waits
  void copy_arrive(Warp& w, uint32_t pc, const ir::Op& op, char* regs);
  void mbarrier(Warp& w, uint32_t pc, const ir::Op& op, char* regs);      // all but waits
  bool mbarrier_wait(Warp& w, uint32_t pc, const ir::Op& op, char* regs); // false: the group waits
  void call(Warp& w, uint32_t pc, uint32_t function);
  void call_indirect(Warp& w, uint32_t pc, char* regs, ir::Slot slot);
  bool ret(Warp& w); // false: that was the kernel: exit
  void atomic(Warp& w, uint32_t pc, const ir::Op& op, char* regs);
  void warp_synchronous(Warp& w, uint32_t pc, const ir::Op& op, char* regs);
  uint32_t shuffle(Warp& w, uint32_t pc, const ir::Op& op, char* regs, uint32_t lane,
                   const Lanes<uint64_t>& in);
  void matrix_memory(Warp& w, uint32_t pc, const ir::Op& op, char* regs); // ldmatrix, stmatrix
  void special(Warp& w, uint32_t pc, const ir::Op& op, char* regs);
  void open_register(Warp& w, uint32_t pc, const ir::Op& op, char* regs, uint32_t lanes);
  void heap_call(Warp& w, uint32_t pc, const ir::Op& op, char* regs, uint32_t lane);
  Region* runtime_region(Warp& w, uint32_t pc, uint32_t lane, uint64_t address, const char* what);
  std::string region_name(const Warp& w, const Region& region) const;
  void runtime_call(Warp& w, uint32_t pc, const ir::Op& op, char* regs); // printf, assert, malloc …
  void fence(Warp& w, const ir::Op& op);
  bool grid_dependents(Warp& w, const ir::Op& op); // false: the group waits
  // The general load and store: any space, any width, any mask; checks, observes, reports.
  bool local_row(Warp& w, uint32_t pc, const ir::Op& op, char* regs, uint32_t active, bool write);
  void load(Warp& w, uint32_t pc, const ir::Op& op, char* regs, uint32_t lanes);
  void store(Warp& w, uint32_t pc, const ir::Op& op, char* regs, uint32_t lanes);
  // Op before which an armed access may have to be held; true: the group stops here.
  bool armed(Warp& w, uint32_t pc, const ir::Op& op, char* regs);
  Handler original(const Warp& w, const Exec* e) const {
    return originals[w.code == code[1].data()][size_t(e - w.code)];
  }

  // -- memory helpers ---------------------------------------------------------------------------
  struct Resolved {
    Region* region = nullptr;
    uint64_t offset = 0;
    bool local = false;
  };
  // Resolves one lane's access; on a fault records the event, aborts and returns a null region.
  Resolved resolve(Warp& w, uint32_t pc, uint32_t lane, ptx::Space space, uint64_t address,
                   uint64_t bytes, uint64_t align, bool write, const char* what);
  uint64_t lane_address(const ir::Op& op, const ir::MemInfo& info, char* regs, uint32_t lane,
                        const Group& group);
  void fault(Warp& w, uint32_t pc, uint32_t lane, EventKind kind, std::string message,
             bool has_address = false, std::string region = {}, uint64_t offset = 0);
  // How many of the last writes to a location this strong read misses.
  uint32_t writes_missed(const Warp& w, uint32_t pc, uint32_t lane, race::Space space,
                         uint64_t address, uint32_t bytes);
  uint32_t load_torn(const Warp& w, uint32_t lane, const ir::MemInfo& info, race::Space space,
                     uint64_t address, uint8_t* value);
  // Some of the bytes that were read to `value` nobody has written; no region: local memory.
  void uninitialised(Warp& w, uint32_t pc, uint32_t lane, const Region* region, uint64_t offset,
                     uint8_t* value, uint32_t bytes);
  void store_to_input(Region& region, const Place& first); // asks for a run with tracking
  bool read_bytes(uint64_t generic, void* to, uint64_t bytes, Warp& w, uint32_t lane);
  void note(const char* kind, std::string message, Place place);

  // Bytes of lane-local memory at `offset` (word-interleaved); grows on demand; false: overflow.
  bool local_reserve(Warp& w, uint64_t bytes);

  // -- state ------------------------------------------------------------------------------------
  Stage& stage; // with other launches that may overlap; what they share is a reference here
  const JobSpec& job;
  const LaunchSpec& launch;
  const ir::Program& program;
  const uint32_t launch_index;
  const RunOptions& options;
  Memory& memory;
  RuntimeMemory& runtime;
  schedule::Policy& policy;
  Outcome& outcome;
  race::Detector* const detector; // null without detection
  std::vector<uint8_t> parameters;
  Region parameter_region;
  std::vector<Exec> code[2];         // masked, full
  std::vector<Handler> originals[2]; // of armed operations
  const Level* vector_level = nullptr;
  alignas(64) uint8_t row[512]; // what one store of a warp writes, while it is put together
  bool& abort;
  bool retrack = false, hash_path = false, saw_strong = false;
  bool partners_vary = false;            // at counted barriers
  std::unique_ptr<FloatSums> float_sums; // where they are to come in one order
  const bool misses_writes;              // strong reads may
  bool writes_late = false;              // strong writes may take effect late
  bool asks_phases = false;   // other threads decide what an mbarrier tells, and that is used
  bool reads_pending = false; // so is the number of arrivals
  bool allocates = false;     // from the heap: addresses that nothing defines
  std::vector<bool> retrack_buffers;
  uint64_t path_hash = 0;
  // Of shared memory: the kernel's own, then in programs that ask where it lies the system's
  // (reserved_begin is 0 in others), and both with what is between them.
  uint32_t shared_bytes = 0, reserved_begin = 0, all_shared_bytes = 0;
  static constexpr uint32_t kReservedBytes = 1024, kReservedForLibraries = 512; // where these start
  uint32_t warps_per_cta = 0, threads = 0;
  const uint32_t total_ctas, first_cta; // the latter of the stage's
  uint64_t resident_limit = 1;
  uint64_t atomic_lanes = 0; // lanes of atomic operations that have run
  uint64_t vain_polls = 0;   // that found what they had found before
  uint64_t instructions = 0, points = 0, virtual_time = 0;
  bool store_descending = false;
  std::string printed;
  uint64_t heap_next = 0;

  race::Agent agent(const Warp& w) const { return {w.cta->index, w.index}; }
  void path(uint64_t value) { path_hash = mix(path_hash ^ value); }
  static uint64_t mix(uint64_t x) {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    return x ^ x >> 32;
  }

  // What neither the launch nor a thread decides (machine_special.cpp).
  std::vector<bool> open_seen; // by operation: its open value is in the outcome
  uint64_t scheduled_value(const Warp& w, ir::Special s, uint8_t variation);
  uint64_t machine_value(ir::Special s, uint8_t variation) const;
  bool first_open_use(uint32_t pc);
  uint64_t state_mask() const; // of the states of mbarriers
  void open_value(const Warp& w, uint32_t pc, uint32_t lane, const std::string& what, bool by_time);
  uint8_t variation_at(uint32_t pc, bool by_time) const; // of what that operation uses
  static uint64_t open_pattern(uint8_t variation, uint32_t bits);
  void active_mask(Warp& w, uint32_t pc, const ir::Op& op, char* regs);
  void special_register(Warp& w, uint32_t pc, const ir::Op& op, char* regs);
  void stack(Warp& w, uint32_t pc, const ir::Op& op, char* regs);

  // -- scheduling (machine_schedule.cpp) --------------------------------------------------------
  std::vector<std::unique_ptr<Cta>> resident;
  Runnable& runnable;
  std::vector<std::unique_ptr<Cta>> spare; // finished CTAs whose storage is used again
  Admission not_started;
  CtaTable& table;                         // of the resident ones
  std::vector<ir::Constant> cta_constants; // of the kernel: those that differ between CTAs
  std::vector<uint8_t> shared_poison;      // what shared memory holds when a CTA starts
  uint32_t& live_ctas;
  Barrier completed; // the phase that complete_barrier works on
  race::Detector::BarrierPhase phase;
  uint32_t next_join = 1;
  uint64_t& stalled_agents; // visits in a row without progress
  std::vector<ArmState>& arms;

  void set_state(Warp& w, Group& g, GroupState state) {
    if (g.state == state) return;
    if (g.state == GroupState::ready) runnable.erase(id_of(w, g));
    g.state = state;
    if (state == GroupState::ready) runnable.insert(id_of(w, g));
  }
  schedule::AgentId id_of(const Warp& w, const Group& g) const {
    return {w.cta->index, w.index * 32 + uint32_t(__builtin_ctz(g.lanes))};
  }
  bool admit();
  bool admit_stalled();
  // -- launches that overlap (machine_stage.cpp) ------------------------------------------------
  uint32_t released_ctas = 0, finished_ctas = 0; // CTAs that let dependents go or ended, that ended
  bool begun = false;                            // the detector knows what it is behind
  bool may_start() const;                        // as far as other launches are concerned
  bool has_room() const;
  uint32_t admissible() const { return may_start() && has_room() ? not_started.left() : 0; }
  uint32_t without_room() const; // CTAs of the stage that wait for nothing but room
  size_t residents() const;      // of the stage
  void begin_grid();
  void end_grid();
  // -- CTAs (machine_cta.cpp) -------------------------------------------------------------------
  void place_reserved_memory();
  void prepare_ctas();
  void start_cta(uint32_t index);
  void start_warp(Cta& cta, uint32_t index);
  uint32_t special_value(const Warp& w, ir::Special s, uint32_t lane) const;
  void fill_constant(Warp& w, char* regs, const ir::Constant& c, uint32_t lanes);
  void finish_cta(Cta& cta); // its last lane has exited
  void retire(Cta& cta);     // frees its place
  uint64_t spent() const;    // of the step budget
  bool outside_limits(uint64_t turn);
  bool lost_accesses();
  void run_agent(schedule::AgentId id, uint32_t allowed);
  Group* new_group(Warp& w);
  void merge(Warp& w, Group& into, Group& from);
  void kill_group(Warp& w, Group& g);
  void run_slice(Warp& w, Group& g, uint32_t points_allowed);
  void after_slice(Warp& w, Group& g);
  void check_joins(Warp& w);
  void release_joins(Warp& w);
  void check_meets(Warp& w);
  void complete_meet(Warp& w, uint32_t mask, uint64_t key);
  void know_barrier_numbers();
  void number_fixed_addresses();
  uint32_t barrier_number(Warp& w, uint32_t pc, const Exec* e, char* regs, uint32_t& count);
  bool arrives_once(const Barrier& b, const Warp& w, uint32_t pc, uint32_t id);
  void note_partners(Cta& cta, uint32_t id, uint32_t warp, uint32_t count);
  bool arrives_with_others(Warp& w, const Exec* e);
  bool agrees(const Barrier& b, const Warp& w, uint32_t pc, uint32_t id, uint32_t count);
  void check_barrier(Cta& cta, uint32_t number);
  void complete_barrier(Cta& cta, uint32_t number);
  void check_barrier_divergence(Warp& w);
  // -- asynchronous copies (machine_async.cpp) ----------------------------------------------------
  bool arrivals_follow_copies = false; // the program has a cp.async.mbarrier.arrive
  schedule::Copies copies_when = schedule::Copies::scheduled;
  void wake_async(Warp& w);
  void begin_copy(Warp& w, std::unique_ptr<Copy> copy); // an agent from now on
  void offer(Cta& cta, const Copy& copy);               // runnable if nothing stands against it
  void run_copy(Cta& cta, uint32_t seq);                // performs it and wakes who waits
  void perform_copy(Cta& cta, Copy& copy);
  void perform_access(Cta& cta, Copy& copy, uint32_t lane);
  void demand(Cta& cta, Copy& copy);
  bool demand_all();
  bool release_held();
  bool release_arms(); // those of them that are accesses
  void end_long_waits(uint64_t turn);
  // -- mbarrier objects (machine_mbarrier.cpp) ----------------------------------------------------
  bool counts_pending = false; // states must hold the number of pending arrivals
  bool& changed;               // some byte or object, since waits were refused
  bool mbarrier_places(Warp& w, uint32_t pc, const ir::Op& op, char* regs, const char* what,
                       uint64_t* offset);
  void observe_mbarrier(race::Agent who, uint32_t pc, uint32_t lanes, const uint64_t* offset);
  bool reads_mbarrier(Warp& w, uint32_t pc, uint32_t lane, uint64_t offset); // as data: a fault
  MbarrierObject* live_mbarrier(Warp& w, uint32_t pc, uint32_t lane, uint32_t offset,
                                const char* what);
  void mbarrier_init(Warp& w, uint32_t pc, const ir::Op& op, char* regs, const uint64_t* offset);
  void mbarrier_inval(Warp& w, uint32_t pc, const uint64_t* offset);
  void mbarrier_arrive(Warp& w, uint32_t pc, const ir::Op& op, char* regs, const uint64_t* offset);
  void mbarrier_tx(Warp& w, uint32_t pc, const ir::Op& op, char* regs, const uint64_t* offset);
  bool arrive_at(Warp& w, uint32_t pc, uint32_t lane, uint32_t offset, uint32_t count,
                 uint16_t flags);                 // true: it completed the phase
  bool complete_phase(Cta& cta, uint32_t offset); // true: nothing is pending, and it did
  void wake_mbarrier(Cta& cta, uint32_t offset);
  uint32_t phases_complete(Warp& w, uint32_t pc, const ir::Op& op, char* regs,
                           const uint64_t* offset);
  bool refuse_waits(); // false: nobody waits; a deadlock is an event
  void look_at_waits(bool& any, bool& hopeless);
  void refuse();
  void second_has_run(); // of an armed pair whose first access is held
  bool holds_fence(Warp& w, uint32_t pc);
  bool release_fence();
  bool comes_before_store(const Warp& w, uint32_t pc, uint32_t lane, race::Space space,
                          uint64_t address, uint32_t bytes);
  void missed(ArmState& a); // its write has been
  // -- strong writes that take effect late (machine_late.cpp) ------------------------------------
  static bool finds_late(ir::OpCode code);
  static bool can_be_late(const ir::Op& op, const ir::MemInfo& info);
  Lateness lateness(const Warp& w, uint32_t pc, const ir::Op& op, uint32_t lanes);
  const LateWrite* ahead(const Warp& w, uint32_t lane, const ir::MemInfo& info, race::Space space,
                         uint64_t address) const;
  void passes_by(const Warp& w, uint32_t pc, uint32_t lane, const ir::Op& op, LateWrite& late);
  struct Reached; // what an instruction's lanes access
  Reached reached(const Warp& w, const ir::Op& op, char* regs);
  bool finds(const Warp& w, uint32_t pc, const ir::Op& op, const Reached& at, LateWrite& late);
  bool postpone(const Warp& w, uint32_t pc, uint32_t lane, const Lateness& asked, Region& region,
                uint64_t offset, const uint64_t (&operand)[2]);
  void look_for_late(const Warp& w, uint32_t pc, const ir::Op& op, char* regs);
  void take_effect(const LateWrite& late);
  bool finish_late();
  void split(Warp& w, Group& g);
  void deadlock();
  // Hangs (machine_hang.cpp).
  bool hangs(); // a full round of all agents leaves everything as it was
  bool full_round();
  bool holds_back() const;
  void report_hang();
  void note_residency();
  uint64_t state_hash() const;
  uint64_t unrepeatable_events() const; // of the stage, which speak against a hang
  Place loop_place(const Warp& w, const Group& g);
  uint64_t stalls = 0, next_hang_check = 0; // how often all agents had stalled
  uint64_t unrepeatable = 0;                // reads of clocks, of values that were overwritten
  bool residency_noted = false;
  bool reaches_forward(uint32_t from, uint32_t to) const;
  // Polling (machine_spin.cpp). `cells`: the locations that the lanes have just read in vain.
  void polled(Warp& w, uint32_t pc, uint32_t lanes, const uint8_t* const* cells, uint32_t bytes);
  bool in_vain(schedule::AgentId id); // would it only find again what it has found?
  uint32_t pass_over(uint32_t pick);  // the next agent from there on that is not in_vain
  bool& spinning;                     // some group has spun
  void settle(Warp& w);               // merges what may merge, lets blocked joins go
  void enter_function(Warp& w, Group& g, uint32_t function, uint32_t regs_base,
                      uint32_t local_base);
  std::string waits_for(const Warp& w, const Group& g) const;
  Place place(const Warp& w, uint32_t pc, uint32_t lane, std::string operation) const;
  ThreadId thread_id(const race::Agent& agent, uint32_t lane) const;
};

// The handler tables of one vector level (handlers/core.cpp), indexed by OpCode; memory operations
// are chosen by their MemInfo.
struct Level {
  const char* name;
  Handler (*handler)(const ir::Program& program, const ir::Op& op, bool full, bool detect);
  Handler armed; // wraps an armed operation: asks the machine, then runs the original handler
  // Runs the group until it stops; returns the operation at which it stands.
  const Exec* (*dispatch)(const Exec* e, Warp* w, char* regs);
};
const Level& level(const std::string& name);

} // namespace assay::vgpu
