// The virtual GPU's interface: memory, a launch, its outcome. Everything that runs a kernel
// (explore, exec, later gates and algebra) goes through run().
#pragma once

#include "base/hash.hpp"
#include "ir/program.hpp"
#include "race/access.hpp"
#include "race/touched.hpp"
#include "schedule/policy.hpp"
#include "schedule/trace.hpp"

#include <memory>
#include <string>
#include <vector>

namespace assay::vgpu {

class Watch; // watch.hpp
class Reach; // reach.hpp

// One global-memory allocation. Bytes that nobody initialised hold a poison pattern.
struct BufferSpec {
  std::string name;
  uint64_t bytes = 0;
  std::vector<uint8_t> data;     // initial bytes; empty: uninitialised (poison)
  uint32_t align = 256;          // of the base address: 1 … 256
  bool expect_unwritten = false; // an input: reads are not shadowed until somebody writes to it
  bool scratch = false;          // nobody reads it after the job
};

// A kernel argument: bytes of its parameter, with buffer addresses patched in.
struct Argument {
  struct Pointer {
    uint32_t offset;
    uint32_t buffer;
    uint64_t addend;
  };
  std::vector<uint8_t> bytes; // the parameter's bytes
  std::vector<Pointer> pointers;
};

struct LaunchSpec {
  std::shared_ptr<const ir::Program> program;
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, cluster[3] = {1, 1, 1};
  uint32_t dynamic_shared = 0;
  bool cooperative = false;
  std::vector<Argument> arguments; // one per parameter
  // What it is ordered behind (launch_order.hpp).
  uint32_t stream = 0;
  std::vector<uint32_t> after; // waits for events that were recorded behind these earlier launches
  bool programmatic =
      false; // may start once the one before it in its stream lets its dependents go
};

// What one machine looks like: residency and limits follow it.
struct DeviceModel {
  std::string name = "h200";
  uint32_t sms = 132, registers_per_sm = 65536, shared_per_sm = 233472, shared_per_cta = 232448,
           threads_per_sm = 2048, ctas_per_sm = 32;
  uint32_t compute_capability = 90;
};
Result<DeviceModel> device_model(const std::string& name); // "h200", "h100", "a100", "rtx4090", …

struct JobSpec { // buffers, and launches as they are issued; what schedules are explored of
  std::vector<BufferSpec> buffers;
  std::vector<LaunchSpec> launches;
  DeviceModel device;
};

enum class Poison : uint8_t { nan_like, small_finite, index_like, zero };
constexpr uint32_t kPoisons = 4;

// An access or operation that directed exploration holds back: when agent's lane reaches `pc` with
// this address and clock, it becomes a scheduling point and stays held until `second` has executed
// or every other agent waits, or they have gone on for an eighth of the step budget. Who aims at an
// operation of which no run has shown an instance says kAnyTime and kAnyAddress: the first time
// that the lane gets there.
inline constexpr uint32_t kAnyTime = 0xffffffff;
inline constexpr uint64_t kAnyAddress = ~uint64_t(0);
struct Arm {
  race::Side first;  // held
  race::Side second; // let through
  race::Space space = race::Space::global;
  uint64_t address = 0;
  uint32_t launch = 0; // the first of those that may overlap
  // Nothing is held: `second`, strong as well, misses `first`, a strong write. It reads what was
  // there before; what it writes itself, `first`, which then stores without looking, overwrites.
  bool missed = false;
  // And yet: the writer's next fence.sc, which might make the write known to the reader.
  bool holds_fence = false;
  // Nothing is held: `first`, an atomic update whose result nobody uses, takes effect as late as
  // may be, whoever comes before it then (late.hpp).
  bool late = false;
};

// Which values this run gives to what the manual leaves open, and to what time and placement
// decide; 0: the usual ones, 1 to 3: others. In a launch's operation alone, or
// everywhere. `open` from kElectedLane on is for elect.sync alone. With an operation,
// RunOptions::poison is what it alone reads where nobody has written, and memory holds the usual
// pattern.
inline constexpr uint8_t kElectedLane = 32; // and above: elect.sync elects that lane, less 32
struct Variation {
  uint8_t open = 0, time = 0;
  uint32_t launch = 0, pc = ir::kNoIndex;
};

struct RunOptions {
  bool detect = true; // race detection
  bool check_init = true;
  Poison poison = Poison::nan_like;
  Variation vary;
  uint64_t step_budget =
      0; // thread-instructions; what takes longer counts more (Machine::spent); 0: none
  double deadline = 0; // monotonic_seconds() at which the run ends like a spent budget; 0: none
  std::vector<Arm> arms;
  uint32_t quantum = 4096; // loop iterations before a running agent yields
  bool record_trace = true;
  bool one_float_order = false; // see float_sums.hpp
  bool hash_path = false;       // Outcome::path (needs detect)
  std::string level;            // "", "portable", "avx2", "avx512"
  // Only this CTA of each launch runs, and Outcome::touched says which global memory it touched.
  uint32_t only_cta = ir::kNoIndex;
  const volatile bool* cancel = nullptr; // set by another thread: stop soon, outcome `cancelled`
  Watch* watch = nullptr;                // writes down what orders two accesses (needs detect)
  Reach* reach = nullptr;                // marks which operations are executed
  bool fence_order = true; // false: conflicts are told that only an order of fence.sc hides
};

struct ThreadId {
  uint32_t block[3], thread[3];
};

// One place of a finding: an access or a waiting agent.
struct Place {
  uint32_t launch = 0;
  uint32_t pc = 0;   // op index of the launch's program
  race::Agent agent; // its CTA counted within the launch
  uint32_t lane = 0;
  std::string operation; // "store 4 bytes", "waits at barrier 0 (32 of 64 threads)"
  bool has_address = false;
  std::string region; // buffer name, "shared", "local"
  uint64_t offset = 0;
};

enum class EventKind : uint8_t { // closed list of cases.md; names by kind_name()
  race,
  deadlock,
  barrier_divergence,
  hang,
  out_of_bounds,
  misaligned,
  uninitialised_read,
  invalid_lane_mask,
  trap,
  assertion,
  illegal_operation,
  unspecified_value,
  nondeterministic,
  unsupported,
  budget,
  out_of_memory,
  cancelled,
  replay_mismatch
};

struct Event { // a memory, barrier or control finding of this run
  EventKind kind;
  std::string message; // one sentence
  std::vector<Place> places;
  bool starved = false; // a hang or deadlock while CTAs waited for room to start
  // An open value that is meant to be handed on unseen (the state of an mbarrier): worth a word,
  // and in the way of a proof, only if something follows it. What its bits reach, ir/address_uses
  // knows.
  bool opaque = false;
};

struct RunNote { // released-by-exit, foreign-local-address, …
  std::string kind, message;
  std::vector<Place> places;
};

struct Outcome {
  bool completed = false; // all launches ended normally
  std::vector<Event> events;
  std::vector<Event>
      uninitialised_reads; // candidates: findings only if the outcome follows the poison
  // The first use at each operation of a value that the manual leaves open (unspecified_value) and
  // of one that time and placement decide (nondeterministic): findings if the outcome follows them.
  std::vector<Event> unspecified, time_reads;
  std::vector<Place> torn; // the first strong vector load: whose elements might be of two stores
  // Strong reads that by the policy's choice missed a write, and accesses that came before a late
  // one, the first of them: `choice` is the
  // place of that answer in the trace.
  struct MissedRead {
    uint32_t launch = 0;
    size_t choice = 0;
    race::Conflict pair; // the write and the read
  };
  std::vector<MissedRead> missed_reads;
  bool strong = false;        // atomics that do not commute, flags, other strong accesses
  bool fences_met = false;    // of two fence.sc one came first: the schedule's choice
  bool arms_reversed = false; // the armed pair ran in the other order
  std::vector<RunNote> notes;
  // Of launches that may overlap together, under the first of them: Side::grid counts from there,
  // and the agents' CTAs are counted through all of them.
  struct LaunchConflicts {
    uint32_t launch;
    std::vector<race::Conflict> conflicts;
  };
  std::vector<LaunchConflicts> conflicts;
  std::vector<std::vector<uint8_t>> memory;      // every buffer's final bytes, then module globals
  std::vector<std::vector<uint8_t>> initialised; // a bit per byte, parallel to memory
  std::vector<std::string> memory_names;
  std::vector<std::vector<uint8_t>> written; // a bit per byte: stored to by some launch
  Digest digest;                             // of initialised bytes of all of memory
  Digest path;                               // of branches and addresses (with hash_path)
  schedule::Trace trace;
  std::shared_ptr<race::Touched> touched; // of runs of one CTA
  uint64_t thread_instructions = 0;
  uint64_t scheduling_points = 0;
  uint64_t shadow_bytes = 0; // of the detector, at most, over the launches
  std::string printed;       // device printf output
  // conditions of `proved for this input`, each true when it holds
  struct Proof {
    bool barriers_only = true; // no unspecified values, no barriers that the schedule may pair
    std::vector<std::string> why_not;
  } proof;
  double seconds = 0;        // of the run
  double launch_seconds = 0; // CPU time, without making memory and taking the results from it
};

double monotonic_seconds(); // of the system's monotonic clock

// Runs the whole job once under `policy`. Never throws; findings are events.
Outcome run(const JobSpec& job, schedule::Policy& policy, const RunOptions& options);

// Names used in reports: "out-of-bounds".
const char* kind_name(EventKind kind);
// Checks grid, block, shared memory and arguments against the program and device: usage errors.
Result<void> validate(const JobSpec& job);
// How many CTAs of this launch are resident on the device at once.
uint64_t residency(const LaunchSpec& launch, const DeviceModel& device);
std::string best_level(); // what this processor can run

} // namespace assay::vgpu
