// The last steps of threads that wait for ever; see stuck.hpp.
#include "explore/stuck.hpp"

#include "explore/plan.hpp"
#include "vgpu/launch_order.hpp"
#include "vgpu/watch.hpp"

#include <algorithm>
#include <map>

namespace assay::explore {

namespace {

using vgpu::WatchedStep;
using C = ir::OpCode;

constexpr size_t kMostSteps = 3; // of one thread

bool own(const StuckThread& t, const WatchedStep& s) {
  return s.agent == t.agent && s.lanes >> t.lane & 1;
}

HistoryStep line_of(const WatchedStep& s, const StuckThread& t) {
  HistoryStep line;
  line.pc = s.pc;
  line.agent = t.agent;
  line.lane = t.lane;
  line.times = s.times;
  line.barrier = s.phase != 0;
  line.answered = s.told != WatchedStep::kNothing;
  if (line.answered) line.phase = s.told;
  if (!s.addresses.empty()) line.object = s.addresses.front().second;
  return line;
}

LastSteps::Writer writer_of(const ir::Program& program, const std::vector<WatchedStep>& steps,
                            const StuckThread& t) {
  LastSteps::Writer out;
  uint64_t place = 0;
  for (const WatchedStep& s : steps)
    if (own(t, s) && s.pc == t.pc && program.ops[s.pc].code != C::mbarrier_wait)
      for (auto [lane, address] : s.addresses)
        if (lane == t.lane) place = address, out.known = true;
  for (const WatchedStep& s : steps) {
    const C code = program.ops[s.pc].code;
    const bool writes = code == C::st || code == C::atom || code == C::red;
    if (!out.known || !writes || s.pc == t.pc) continue;
    for (auto [lane, address] : s.addresses)
      if (address == place) {
        out.step = line_of(s, {s.agent, lane, s.pc});
        out.any = true;
      }
  }
  return out;
}

} // namespace

LastSteps last_steps(const vgpu::JobSpec& job, const Finding& finding,
                     std::vector<StuckThread> threads, const Options& options) {
  LastSteps out;
  if (finding.traces.empty() || threads.empty()) return out;
  // Launches that run at one time number their blocks through.
  const uint32_t first_cta = vgpu::launch_order(job).first_cta[finding.launch];
  for (StuckThread& t : threads) t.agent.cta += first_cta;
  // The watch wants two accesses; only their blocks count here.
  race::Conflict blocks;
  blocks.first.info.pc = blocks.second.info.pc = ir::kNoIndex;
  blocks.first.agent = blocks.second.agent = threads[0].agent;
  for (const StuckThread& t : threads)
    if (t.agent.cta != threads[0].agent.cta) blocks.second.agent = t.agent;
  vgpu::Watch watch(finding.launch, blocks);
  Result<vgpu::RunOptions> run = options_of(finding.traces.front(), options);
  if (!run) return out;
  run->detect = true;
  run->watch = &watch;
  run->cancel = watch.enough();
  run->record_trace = false;
  auto policy = schedule::make_replay(finding.traces.front());
  vgpu::run(job, *policy, *run);

  std::vector<WatchedStep> steps(watch.steps().begin(), watch.steps().end());
  std::sort(steps.begin(), steps.end(),
            [](const WatchedStep& a, const WatchedStep& b) { return a.when < b.when; });
  std::map<uint64_t, uint8_t> chosen; // by time, of which threads
  for (size_t k = 0; k < threads.size(); ++k) {
    std::vector<uint64_t> last;
    for (const WatchedStep& s : steps)
      if (own(threads[k], s) && !(s.pc == threads[k].pc && !s.phase)) last.push_back(s.when);
    out.left_out.push_back(uint32_t(last.size() - std::min(last.size(), kMostSteps)));
    for (size_t i = out.left_out[k]; i < last.size(); ++i) chosen[last[i]] |= uint8_t(1 << k);
    out.writers.push_back(writer_of(*job.launches[finding.launch].program, steps, threads[k]));
  }
  std::map<uint32_t, size_t> barriers; // lines of phases that several went through
  for (const WatchedStep& s : steps) {
    auto found = chosen.find(s.when);
    if (found == chosen.end()) continue;
    const size_t k = size_t(__builtin_ctz(found->second));
    HistoryStep line = line_of(s, threads[k]);
    line.sides = found->second;
    if (s.phase) {
      auto [earlier, fresh] = barriers.try_emplace(s.phase, out.steps.size());
      if (!fresh) {
        line.sides |= out.steps[earlier->second].sides;
        out.steps[earlier->second].sides = 0;
        earlier->second = out.steps.size();
      }
    }
    out.steps.push_back(line);
  }
  std::erase_if(out.steps, [](const HistoryStep& s) { return s.sides == 0; });
  return out;
}

} // namespace assay::explore
