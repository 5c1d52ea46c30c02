// One job, once: its launches, as they are ordered, over one memory, under one policy.
#include "vgpu/stage.hpp"

#include <ctime>

namespace assay::vgpu {

namespace {

double now(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

schedule::Trace::Armed armed_form(const Arm& arm) {
  schedule::Trace::Armed a{arm.launch,
                           uint32_t(arm.space),
                           arm.address,
                           arm.late ? 3u : uint32_t(arm.missed) + arm.holds_fence,
                           {}};
  const race::Side* sides[] = {&arm.first, &arm.second};
  for (int i = 0; i < 2; ++i)
    a.sides[i] = {sides[i]->info.pc, sides[i]->agent.cta, sides[i]->agent.warp, sides[i]->lane,
                  sides[i]->time};
  return a;
}

// What a launch's machine says against a proof.
void doubts(const Machine& m, std::vector<std::string>& why_not) {
  if (m.partners_vary) why_not.push_back("more warps use a counted barrier than its count admits");
  if (m.allocates) why_not.push_back("allocates from the heap, whose addresses nothing defines");
  if (m.asks_phases)
    why_not.push_back(
        "asks whether a phase of an mbarrier is complete, and does not just ask again if not");
  if (m.reads_pending) why_not.push_back("reads how many arrivals on an mbarrier are pending");
}

void take(Stage& stage, Outcome& out) {
  for (const auto& m : stage.machines) {
    out.thread_instructions += m->instructions;
    out.scheduling_points += m->points;
    out.path.low = Machine::mix(out.path.low ^ m->path_hash);
    out.strong |= m->saw_strong;
    doubts(*m, out.proof.why_not);
  }
  if (!stage.detector) return;
  out.conflicts.push_back({stage.first, stage.detector->conflicts()});
  out.fences_met |= stage.detector->fences_met();
  out.shadow_bytes = std::max(out.shadow_bytes, stage.detector->shadow_bytes());
  if (const char* doubt = stage.detector->phase_doubt()) out.proof.why_not.push_back(doubt);
}

// Runs all launches; returns which input buffers turned out to be written, if any did.
std::vector<bool> attempt(const JobSpec& job, schedule::Policy& policy, const RunOptions& options,
                          const std::vector<bool>& tracked, Outcome& out) {
  Memory memory(job, poison_of_memory(options), tracked);
  RuntimeMemory runtime(job.launches.size());
  const LaunchOrder order = launch_order(job);
  for (uint32_t i = 0; i < job.launches.size(); i = order.end(i)) {
    memory.load_module(*job.launches[i].program);
    double start = now(CLOCK_THREAD_CPUTIME_ID);
    Stage stage(job, order, i, options, memory, runtime, policy, out);
    stage.run();
    for (const auto& m : stage.machines)
      if (m->float_sums) m->float_sums->settle(nullptr, nullptr);
    out.launch_seconds += now(CLOCK_THREAD_CPUTIME_ID) - start;
    std::vector<bool> again;
    for (const auto& m : stage.machines)
      for (size_t k = 0; m->retrack && k < job.buffers.size(); ++k)
        again.resize(job.buffers.size()), again[k] = again[k] || m->retrack_buffers[k];
    if (!again.empty()) return again;
    take(stage, out);
    if (!out.events.empty()) {
      memory.export_to(out);
      return {};
    }
  }
  memory.export_to(out);
  out.completed = true;
  return {};
}

} // namespace

Outcome run(const JobSpec& job, schedule::Policy& policy, const RunOptions& options) {
  double start = now(CLOCK_MONOTONIC);
  std::vector<bool> tracked(job.buffers.size());
  std::vector<RunNote> stores; // to inputs, by attempts that were given up at them
  for (;;) {
    Outcome out;
    out.trace.policy = policy.name();
    out.trace.device = job.device.name;
    std::unique_ptr<schedule::Policy> recorder;
    if (options.record_trace) recorder = schedule::make_recorder(policy, out.trace);
    std::vector<bool> more = attempt(job, recorder ? *recorder : policy, options, tracked, out);
    for (const Arm& a : options.arms) out.trace.arms.push_back(armed_form(a));
    if (more.empty()) {
      out.notes.insert(out.notes.begin(), stores.begin(), stores.end());
      for (const auto* uses : {&out.unspecified, &out.time_reads})
        for (const Event& e : *uses) {
          if (e.opaque) continue;
          out.proof.why_not.push_back(
              uses == &out.unspecified
                  ? "uses what the manual leaves open: a thread " + e.message
                  : "uses what time and placement decide: a thread " + e.message);
          break;
        }
      out.proof.barriers_only = out.proof.why_not.empty();
      out.trace.outcome = out.digest;
      out.trace.vary = {uint32_t(options.poison), options.vary.open, options.vary.time,
                        options.vary.launch, options.vary.pc};
      out.trace.budget = options.step_budget;
      out.seconds = now(CLOCK_MONOTONIC) - start;
      return out;
    }
    for (size_t i = 0; i < more.size(); ++i)
      if (more[i]) tracked[i] = true;
    for (RunNote& note : out.notes)
      if (note.kind == "input-modified") stores.push_back(std::move(note));
  }
}

double monotonic_seconds() { return now(CLOCK_MONOTONIC); }

const char* kind_name(EventKind kind) {
  switch (kind) {
  case EventKind::race: return "race";
  case EventKind::deadlock: return "deadlock";
  case EventKind::barrier_divergence: return "barrier-divergence";
  case EventKind::hang: return "hang";
  case EventKind::out_of_bounds: return "out-of-bounds";
  case EventKind::misaligned: return "misaligned";
  case EventKind::uninitialised_read: return "uninitialised-read";
  case EventKind::invalid_lane_mask: return "invalid-lane-mask";
  case EventKind::trap: return "trap";
  case EventKind::assertion: return "assert";
  case EventKind::illegal_operation: return "illegal-operation";
  case EventKind::unspecified_value: return "unspecified-value";
  case EventKind::nondeterministic: return "nondeterministic";
  case EventKind::unsupported: return "unsupported";
  case EventKind::budget: return "budget";
  case EventKind::out_of_memory: return "out-of-memory";
  case EventKind::cancelled: return "cancelled";
  case EventKind::replay_mismatch: return "replay-mismatch";
  }
  return "";
}

} // namespace assay::vgpu
