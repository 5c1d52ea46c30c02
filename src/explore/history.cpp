// From a watched replay to the lines of a timeline; see history.hpp.
#include "explore/history.hpp"

#include "explore/communication.hpp"
#include "explore/plan.hpp"
#include "vgpu/launch_order.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace assay::explore {

namespace {

using vgpu::WatchedStep;

constexpr size_t kMostBefore = 3,
                 kMostAfter = 3; // steps of one column, before and after its access

class Builder {
public:
  Builder(const vgpu::JobSpec& job, const Finding& finding, const vgpu::Watch& watch)
      : steps_(watch.steps().begin(), watch.steps().end()),
        seen_{*job.launches[finding.launch].program,
              steps_,
              finding.conflict,
              {},
              {},
              nullptr,
              finding.missed} {}

  History build() {
    std::sort(steps_.begin(), steps_.end(),
              [](const WatchedStep& a, const WatchedStep& b) { return a.when < b.when; });
    if (!find_accesses()) return {};
    for (int side = 0; side < 2; ++side) {
      out_.agents[side] = seen_.threads[side].agent;
      out_.lanes[side] = seen_.threads[side].lane;
    }
    Concluded concluded = conclude_missing(seen_);
    out_.diagnosis = concluded.diagnosis;
    for (const WatchedStep* s : concluded.steps) chosen_[s->when] |= 0;
    communication_ = std::move(concluded.steps);
    choose();
    write_down();
    out_.known = true;
    return std::move(out_);
  }

private:
  bool find_accesses() {
    const race::Side* sides[] = {&seen_.conflict.first, &seen_.conflict.second};
    for (int side = 0; side < 2; ++side) {
      for (const WatchedStep& s : steps_)
        if (s.access >> side & 1) seen_.accesses[side] = &s;
      if (!seen_.accesses[side]) return false;
      seen_.threads[side] = {sides[side]->agent, sides[side]->lane};
      if (!seen_.copies(side)) continue;
      const uint32_t number = sides[side]->agent.warp - race::kCopyAgent;
      seen_.threads[side].lane = number % 32;
      for (const WatchedStep& s : steps_)
        if (seen_.code(s) == ir::OpCode::cp_async && s.agent.warp < race::kCopyAgent &&
            s.copy == number / 32 && s.agent.cta == sides[side]->agent.cta)
          seen_.issue = &s;
      if (!seen_.issue) return false;
      seen_.threads[side].agent = seen_.issue->agent;
    }
    return true;
  }

  // Where the side's own program order stands at its access: a copy's is where it was asked for.
  uint64_t at(int side) const {
    return seen_.copies(side) ? seen_.issue->when : seen_.accesses[side]->when;
  }

  // The barriers that both sides passed: the last before the accesses, the first after them.
  void common() {
    std::map<uint32_t, const WatchedStep*> phases[2];
    for (const WatchedStep& s : steps_)
      for (int side = 0; side < 2; ++side)
        if (s.phase && seen_.own(side, s)) phases[side].emplace(s.phase, &s);
    for (auto [phase, mine] : phases[0]) {
      auto other = phases[1].find(phase);
      if (other == phases[1].end()) continue;
      both_.insert(phase);
      if (mine->when < at(0) && other->second->when < at(1)) before_ = phase;
      if (mine->when > at(0) && other->second->when > at(1) && !after_) after_ = phase;
    }
    for (const WatchedStep& s : steps_) {
      if (!s.phase || (s.phase != before_ && s.phase != after_)) continue;
      if (!seen_.own(0, s) && !seen_.own(1, s)) continue;
      uint64_t& from = s.phase == before_ ? begin_ : end_;
      from = s.phase == before_ ? std::max(from, s.when) : std::min(from, s.when);
    }
  }

  void choose() {
    common();
    for (int side = 0; side < 2; ++side) {
      std::vector<const WatchedStep*> before, after;
      for (const WatchedStep& s : steps_) {
        if (s.agent.warp >= race::kCopyAgent || !seen_.own(side, s) || s.access >> side & 1)
          continue;
        if ((before_ && s.phase == before_) || (after_ && s.phase == after_)) {
          chosen_[s.when] |= uint8_t(1 << side);
          continue;
        }
        if (s.when <= begin_ || s.when >= end_) continue;
        (s.when < seen_.accesses[side]->when ? before : after).push_back(&s);
      }
      chosen_[seen_.accesses[side]->when] |= uint8_t(1 << side);
      if (seen_.copies(side)) keep({seen_.issue}, side);
      if (before.size() > kMostBefore) {
        left_out_[side] = uint32_t(before.size() - kMostBefore);
        before.erase(before.begin(), before.end() - kMostBefore);
      }
      if (after.size() > kMostAfter) after.resize(kMostAfter);
      keep(before, side);
      keep(after, side);
    }
    // What others of a block did to communicate stands in its block's column.
    for (const WatchedStep* s : communication_)
      if (!chosen_[s->when]) chosen_[s->when] = s->agent.cta == seen_.threads[0].agent.cta ? 1 : 2;
  }

  void keep(const std::vector<const WatchedStep*>& steps, int side) {
    for (const WatchedStep* s : steps) chosen_[s->when] |= uint8_t(1 << side);
  }

  void write_down() {
    bool told[2] = {false, false};
    std::map<uint32_t, size_t> barriers; // a phase's line
    for (const WatchedStep& s : steps_) {
      auto found = chosen_.find(s.when);
      if (found == chosen_.end() || !found->second) continue;
      HistoryStep line = line_of(s, found->second);
      const int side = line.sides == 2 ? 1 : 0;
      if (line.barrier && s.phase) { // the two arrivals are one line, where the later one was
        line.sides = 3;
        auto [earlier, fresh] = barriers.try_emplace(s.phase, out_.steps.size());
        if (!fresh) out_.steps[earlier->second].sides = 0;
        earlier->second = out_.steps.size();
      } else if (!told[side] && left_out_[side]) {
        line.left_out = left_out_[side];
        told[side] = true;
      }
      out_.steps.push_back(line);
    }
    std::erase_if(out_.steps, [](const HistoryStep& s) { return s.sides == 0; });
  }

  HistoryStep line_of(const WatchedStep& s, uint8_t sides) const {
    HistoryStep line;
    line.pc = s.pc;
    line.sides = s.access && s.access != 3 ? s.access : sides;
    line.barrier =
        both_.count(s.phase) > 0 || (line.sides == 3 && seen_.code(s) == ir::OpCode::bar_warp_sync);
    line.access = s.access;
    line.times = s.times;
    line.answered = s.told != WatchedStep::kNothing;
    if (line.answered) line.phase = s.told;
    if (!s.addresses.empty()) line.object = s.addresses.front().second;
    line.copy = s.agent.warp >= race::kCopyAgent;
    const int side = line.sides == 2 ? 1 : 0;
    line.helper = !line.copy && !seen_.own(side, s);
    line.agent = line.copy ? seen_.threads[side].agent : s.agent;
    line.lane = line.helper ? uint32_t(__builtin_ctz(s.lanes)) : seen_.threads[side].lane;
    const std::vector<uint32_t>& fault = out_.diagnosis.at;
    line.at_fault =
        std::find(fault.begin(), fault.end(), s.pc) != fault.end() &&
        std::find(communication_.begin(), communication_.end(), &s) != communication_.end();
    return line;
  }

  Steps steps_;
  Seen seen_;
  History out_;
  std::vector<const WatchedStep*> communication_;
  std::map<uint64_t, uint8_t> chosen_; // by time, in which columns
  uint32_t before_ = 0, after_ = 0;    // phases
  std::set<uint32_t> both_;            // phases in which both threads were
  uint64_t begin_ = 0, end_ = UINT64_MAX;
  uint32_t left_out_[2] = {0, 0};
};

// Which of the launches from there on has that CTA, counted through all of them.
uint32_t grid_of(const vgpu::JobSpec& job, uint32_t launch, uint32_t cta) {
  uint32_t grid = 0;
  for (uint64_t first = 0; launch + grid < job.launches.size(); ++grid) {
    first += vgpu::ctas_of(job.launches[launch + grid]);
    if (cta < first) break;
  }
  return grid;
}
} // namespace

std::optional<Finding> cause_of(const vgpu::JobSpec& job, const Finding& finding) {
  if (finding.traces.empty()) return std::nullopt;
  for (const schedule::Trace::Armed& armed : finding.traces.front().arms) {
    if (!armed.missed || armed.launch >= job.launches.size()) continue;
    Finding cause;
    cause.kind = "nondeterministic";
    cause.launch = armed.launch;
    cause.is_conflict = cause.missed = true;
    cause.traces = {finding.traces.front()};
    race::Conflict& c = cause.conflict;
    c.kind = race::Conflict::Kind::order;
    c.space = race::Space(armed.space);
    c.address = armed.address;
    race::Side* sides[] = {&c.first, &c.second};
    for (size_t i = 0; i < 2; ++i) {
      const schedule::Trace::Armed::Side& from = armed.sides[i];
      sides[i]->grid = grid_of(job, armed.launch, from.cta);
      if (armed.launch + sides[i]->grid >= job.launches.size()) return std::nullopt;
      const ir::Program& program = *job.launches[armed.launch + sides[i]->grid].program;
      if (from.pc >= program.ops.size()) return std::nullopt;
      const std::optional<race::AccessInfo> info = strong_access(program, from.pc);
      if (!info) return std::nullopt;
      sides[i]->info = *info;
      sides[i]->agent = {from.cta, from.warp};
      sides[i]->lane = from.lane;
      sides[i]->time = from.time;
    }
    if (c.space == race::Space::shared) c.space_cta = c.first.agent.cta;
    for (const race::Side* side : sides)
      cause.places.push_back(place_of(job, armed.launch, c, *side));
    cause.launch += c.first.grid;
    cause.missing_edge = missing_edge(c, true);
    return cause;
  }
  return std::nullopt;
}

namespace {
History history(const vgpu::JobSpec& job, const Finding& finding, const schedule::Trace& trace,
                const Options& options) {
  vgpu::Watch watch(finding.launch, finding.conflict);
  Result<vgpu::RunOptions> run = options_of(trace, options);
  if (!run) return {};
  run->detect = true;
  run->watch = &watch;
  run->cancel = watch.enough();
  run->record_trace = false;
  auto policy = schedule::make_replay(trace);
  vgpu::run(job, *policy, *run);
  return Builder(job, finding, watch).build();
}
} // namespace

History history(const vgpu::JobSpec& job, const Finding& finding, const Options& options) {
  const race::Conflict& c = finding.conflict;
  if (!finding.is_conflict || c.first.grid != c.second.grid) return {};
  // The usual run need not have the two: who is last there reads, say.
  History out;
  for (const schedule::Trace& trace : finding.traces)
    if (!out.known) out = history(job, finding, trace, options);
  return out;
}

} // namespace assay::explore
