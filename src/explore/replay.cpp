// Traces of runs: the hashes that tie them to a job, and replay.
#include "explore/explore.hpp"
#include "explore/plan.hpp"
#include "vgpu/launch_order.hpp"

#include <fmt/format.h>

namespace assay::explore {

void stamp(schedule::Trace& trace, const vgpu::JobSpec& job, uint64_t seed) {
  Hasher program, launch, inputs;
  for (const vgpu::LaunchSpec& l : job.launches) {
    program.add(&l.program->text, sizeof l.program->text);
    program.add(l.program->kernel);
    launch.add(l.grid, sizeof l.grid);
    launch.add(l.block, sizeof l.block);
    launch.add(l.cluster, sizeof l.cluster);
    launch.add_u64(l.dynamic_shared);
    if (l.cooperative) launch.add("cooperative");
    if (l.programmatic) launch.add("programmatic");
    if (l.stream) launch.add_u64(l.stream);
    for (uint32_t event : l.after) launch.add_u64(event);
    for (const vgpu::Argument& a : l.arguments) {
      launch.add(a.bytes.data(), a.bytes.size());
      for (const auto& p : a.pointers) {
        launch.add_u64(p.offset);
        launch.add_u64(p.buffer);
        launch.add_u64(p.addend);
      }
    }
  }
  for (const vgpu::BufferSpec& b : job.buffers) {
    inputs.add_u64(b.bytes);
    inputs.add_u64(b.align);
    inputs.add(b.data.data(), b.data.size());
  }
  trace.program = program.digest();
  trace.launch = launch.digest();
  trace.inputs = inputs.digest();
  trace.device = job.device.name;
  trace.seed = seed;
}

Result<vgpu::RunOptions> options_of(const schedule::Trace& trace, const Options& options) {
  vgpu::RunOptions run;
  run.step_budget = trace.budget;
  run.level = options.level;

  run.poison = vgpu::Poison(trace.vary.poison);
  run.vary = {uint8_t(trace.vary.open), uint8_t(trace.vary.time), trace.vary.launch, trace.vary.pc};
  for (const auto& a : trace.arms) {
    if (a.space > uint32_t(race::Space::local))
      return usage_error("refused to replay: the trace arms an access of no known space");
    if (a.sides[0].lane > 31 || a.sides[1].lane > 31)
      return usage_error("refused to replay: the trace arms an access of no lane");
    vgpu::Arm arm;
    arm.launch = a.launch;
    arm.space = race::Space(a.space);
    arm.address = a.address;
    arm.late = a.missed == 3;
    arm.missed = a.missed != 0 && !arm.late;
    arm.holds_fence = a.missed == 2;
    race::Side* sides[] = {&arm.first, &arm.second};
    for (int i = 0; i < 2; ++i) {
      sides[i]->info.pc = a.sides[i].pc;
      sides[i]->agent = {a.sides[i].cta, a.sides[i].warp};
      sides[i]->lane = a.sides[i].lane;
      sides[i]->time = a.sides[i].time;
    }
    run.arms.push_back(arm);
  }
  return run;
}

Result<vgpu::Outcome> replay(const vgpu::JobSpec& job, const schedule::Trace& trace,
                             const Options& options) {
  schedule::Trace now;
  stamp(now, job, trace.seed);
  const char* what = now.program != trace.program       ? "the kernel (its PTX)"
                     : now.launch != trace.launch       ? "the launch options or arguments"
                     : now.inputs != trace.inputs       ? "the inputs"
                     : now.device != trace.device       ? "the device model"
                     : now.semantics != trace.semantics ? "the virtual GPU's semantics version"
                                                        : nullptr;
  if (what)
    return usage_error(fmt::format("refused to replay: {} changed since the trace was made", what));
  Result<vgpu::RunOptions> run = options_of(trace, options);
  if (!run) return run.error();
  auto policy = schedule::make_replay(trace);
  run->detect = options.detect || !trace.arms.empty() || policy->misses_writes();
  vgpu::Outcome out = vgpu::run(job, *policy, *run);
  for (const vgpu::Event& e : out.events)
    if (e.kind == vgpu::EventKind::replay_mismatch) return usage_error(e.message);
  if (out.digest != trace.outcome)
    return usage_error(fmt::format("the replay left other bytes (outcome {}) than the recorded run "
                                   "({}): the trace was edited, or this is an error of Assay",
                                   out.digest.hex(), trace.outcome.hex()));
  return out;
}

std::vector<Difference> differences(const vgpu::Outcome& a, const vgpu::Outcome& b) {
  std::vector<Difference> found;
  for (size_t i = 0; i < a.memory.size() && i < b.memory.size(); ++i) {
    Difference d;
    const auto &x = a.memory[i], &y = b.memory[i];
    auto known = [](const vgpu::Outcome& o, size_t buffer, size_t byte) {
      const auto& init = o.initialised[buffer];
      return init.empty() || init[byte >> 3] >> (byte & 7) & 1;
    };
    for (size_t k = 0; k < x.size() && k < y.size(); ++k) {
      bool kx = known(a, i, k), ky = known(b, i, k);
      if (!(kx != ky || (kx && x[k] != y[k]))) continue;
      if (d.count++) continue;
      d.buffer = a.memory_names[i];
      d.offset = k & ~size_t(3); // show whole words
      size_t n = std::min<size_t>(16, x.size() - d.offset);
      d.a.assign(x.begin() + d.offset, x.begin() + d.offset + n);
      d.b.assign(y.begin() + d.offset, y.begin() + d.offset + n);
    }
    if (d.count) found.push_back(std::move(d));
  }
  return found;
}

std::string missing_edge(const race::Conflict& c, bool missed) {
  if (missed && c.second.info.write)
    return "a fence (__threadfence()) after the first write and before what announces it, and one "
           "after the read of the announcement and before the second; or release and acquire there";
  if (missed)
    return "a fence (__threadfence()) after the write and before what announces it, and one after "
           "the read of the announcement and before this read; or release and acquire there";
  const bool order = c.kind == race::Conflict::Kind::order;
  if (order && c.first.info.atomic && c.second.info.atomic) return ""; // they may come in any order
  bool same_cta = c.first.agent.cta == c.second.agent.cta;
  bool copy = c.first.agent.warp >= race::kCopyAgent || c.second.agent.warp >= race::kCopyAgent;
  if (c.kind == race::Conflict::Kind::same_instruction)
    return "none exists: lanes of one instruction store to one byte";
  if (c.first.info.nc || c.second.info.nc)
    return "none exists: a non-coherent load (ld.global.nc, __ldg, const __restrict__) may not "
           "read "
           "what the same launch writes";
  if (copy && same_cta)
    return "cp.async.wait_group (or wait_all) by the copying thread, then __syncthreads()";
  if (!order && c.first.info.strong && c.second.info.strong)
    return c.first.info.element_bytes() != c.second.info.element_bytes()
               ? "one size of both accesses: strong accesses of different sizes (of vectors: of "
                 "their elements) are not atomic to each other"
           : same_cta
               ? "a common location and scope: the two strong accesses are not morally strong "
                 "together"
               : "a scope that includes both blocks on both accesses: cuda::thread_scope_device "
                 "(.gpu) rather than cuda::thread_scope_block (.cta), atomicAdd() rather than "
                 "atomicAdd_block()";
  if (!same_cta && c.first.info.strong != c.second.info.strong)
    return "an atomic or volatile access on both sides: one of the two is plain "
           "(cuda::atomic_ref<T, cuda::thread_scope_device>, or volatile with __threadfence())";
  if (!same_cta)
    return "a grid-wide barrier, a second launch, or a flag with release and acquire at device "
           "scope between the two blocks";
  if (c.first.agent.warp == c.second.agent.warp)
    return "__syncwarp() between the two accesses (lanes of one warp do not run in lockstep)";
  return "__syncthreads() (bar.sync) between the two accesses";
}

std::string missing_between(const vgpu::JobSpec& job, uint32_t first, const race::Conflict& c) {
  const uint32_t earlier = first + std::min(c.first.grid, c.second.grid),
                 later = first + std::max(c.first.grid, c.second.grid);
  const vgpu::LaunchSpec& dependent = job.launches[later];
  if (dependent.programmatic && dependent.stream == job.launches[earlier].stream)
    return "cudaGridDependencySynchronize() (griddepcontrol.wait) in the dependent kernel, before "
           "the access: a programmatic launch may start before the one that it depends on has "
           "ended";
  return "an order of the two launches: one stream, or an event that the later one waits for "
         "(cudaEventRecord, cudaStreamWaitEvent)";
}

bool loses_updates(const race::Conflict& c) {
  return c.kind == race::Conflict::Kind::race && c.first.info.atomic && c.second.info.atomic;
}

bool defies_orders(const race::Conflict& c) {
  return c.kind == race::Conflict::Kind::race && c.first.info.strong != c.second.info.strong;
}

} // namespace assay::explore
