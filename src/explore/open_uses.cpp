// Runs with other values where nothing defines them; see open_uses.hpp. First all uses take other
// values together. Where that makes a difference, each use does so alone, to find the guilty.
#include "explore/open_uses.hpp"

#include <algorithm>

namespace assay::explore {

namespace {
constexpr size_t kMostAlone = 16;    // uses that are tried on their own
constexpr uint64_t kCheap = 1000000; // thread-instructions of a run that may be made for each lane

// Any lane of the mask is a legal answer, so that what happens then is no less a fault of the code.
bool is_election(const vgpu::JobSpec& job, const OpenUse& u) {
  const vgpu::Place& at = u.use.places[0];
  return job.launches[at.launch].program->ops[at.pc].code == ir::OpCode::elect;
}

OpenUses::Shown shown_by(const vgpu::Outcome& out, const std::string& policy) {
  OpenUses::Shown s;
  s.policy = policy;
  s.out.conflicts = out.conflicts;
  s.out.uninitialised_reads = out.uninitialised_reads;
  s.out.events = out.events;
  s.out.trace = out.trace;
  s.out.digest = out.digest;
  s.out.completed = out.completed;
  return s;
}

bool gives_up(const vgpu::Outcome& out) {
  return std::any_of(out.events.begin(), out.events.end(), [](const vgpu::Event& e) {
    return e.kind == vgpu::EventKind::trap || e.kind == vgpu::EventKind::assertion;
  });
}
} // namespace

std::vector<OpenUse> OpenUses::settle(const vgpu::JobSpec& job, const Planned& plan,
                                      const vgpu::Outcome& out, const Options& options) {
  std::vector<OpenUse> found;
  if (!out.completed) return found;
  for (const auto* uses : {&out.unspecified, &out.time_reads}) {
    size_t from = found.size();
    if (uses == &out.time_reads && !with_time_) continue;
    for (const vgpu::Event& e : *uses) {
      std::pair<uint32_t, uint32_t> at{e.places[0].launch, e.places[0].pc};
      if (std::find(known_.begin(), known_.end(), at) != known_.end()) continue;
      known_.push_back(at);
      found.push_back({e, false, nullptr, nullptr});
    }
    if (found.size() > from) settle(found, from, uses == &out.time_reads, job, plan, out, options);
  }
  return found;
}

void OpenUses::settle(std::vector<OpenUse>& found, size_t from, bool by_time,
                      const vgpu::JobSpec& job, Planned plan, const vgpu::Outcome& out,
                      const Options& options) {
  // Where the run had other clocks, they are no part of the question.
  std::shared_ptr<const vgpu::Outcome> usual;
  if (plan.vary.time) {
    plan.vary = {};
    usual = std::make_shared<const vgpu::Outcome>(perform(job, plan, options));
    ++runs;
    if (!usual->completed) return;
  }
  const vgpu::Outcome& first = usual ? *usual : out;
  const bool elections = std::all_of(found.begin() + long(from), found.end(),
                                     [&](const OpenUse& u) { return is_election(job, u); });
  // The run with this variation if it differs; null when it does not, or came to no end.
  auto differing = [&](uint8_t variation, const OpenUse* alone) {
    plan.vary = {};
    (by_time ? plan.vary.time : plan.vary.open) = variation;
    if (alone)
      plan.vary.launch = alone->use.places[0].launch, plan.vary.pc = alone->use.places[0].pc;
    vgpu::Outcome other = perform(job, plan, options);
    ++runs;
    if (ended_early(other)) {
      if (unfinished.events.empty()) unfinished = std::move(other);
      return std::shared_ptr<const vgpu::Outcome>();
    }
    // Who gives up and says so when a time limit has passed does what it is for.
    if (by_time && variation == 3 && gives_up(other)) return std::shared_ptr<const vgpu::Outcome>();
    const bool same = by_time ? other.completed == first.completed && other.digest == first.digest
                              : same_result(job, first, other);
    if (!by_time && ((alone ? is_election(job, *alone) : elections) || (same && other.completed)))
      shown.push_back(shown_by(other, plan.policy));
    if (same) return std::shared_ptr<const vgpu::Outcome>();
    return std::make_shared<const vgpu::Outcome>(std::move(other));
  };
  // Zero as well where the manual leaves a value open: the test of a flag tells it from all others.
  const bool opaque = std::all_of(found.begin() + long(from), found.end(),
                                  [](const OpenUse& u) { return u.use.opaque; });
  const uint8_t last = opaque ? 1 : 3;
  std::vector<uint8_t> variations;
  for (uint8_t v = 1; v <= last; ++v) variations.push_back(v);
  for (uint8_t lane = 1; lane < 31 && elections && first.thread_instructions < kCheap; ++lane)
    variations.push_back(uint8_t(vgpu::kElectedLane + lane));
  for (uint8_t variation : variations) {
    auto together = differing(variation, nullptr);
    if (!together) continue;
    if (opaque) { // which of them is it? Waits take the states of all
      for (size_t i = from + 1; i < found.size(); ++i)
        found[from].use.places.push_back(found[i].use.places[0]);
      found[from].matters = true;
      found[from].usual = usual;
      found[from].other = together;
      return;
    }
    bool alone = false;
    for (size_t i = from; i < found.size() && i < from + kMostAlone && found.size() > from + 1;
         ++i) {
      auto other = differing(variation, &found[i]);
      if (!other) continue;
      alone = found[i].matters = true;
      found[i].usual = usual;
      found[i].other = other;
    }
    if (!alone)
      for (size_t i = from; i < found.size(); ++i) {
        found[i].matters = true;
        found[i].usual = usual;
        found[i].other = together;
      }
    return;
  }
}

} // namespace assay::explore
