// pct: priorities, after Burckhardt, Kothari, Musuvathi and Nagarakatte, "A randomized scheduler
// with probabilistic guarantees of finding bugs" (ASPLOS 2010). Every warp has a random priority
// and the highest one that can run does; at d−1 random moments the running one falls below all
// others. A defect that needs d ordered events among n warps shows with probability ≥ 1/(n·k^(d−1))
// when k bounds the number of steps. Differences: CTAs start in random order; the number of steps
// is not known beforehand, so the moments are drawn from a log-uniform distribution; steps grow
// longer in long runs; an agent that comes back often without waiting falls too, since it may
// poll, and so do the warps of a CTA; and under half of the seeds each part of a warp has a
// priority of its own.
#include "base/hash.hpp"
#include "base/random.hpp"
#include "schedule/policies.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace assay::schedule {

namespace {
constexpr uint32_t kDepth = 3;
// Steps in a row that one agent may take before it falls. How many exactly changes: if it always
// came to the same place of a loop, those who back out and try again could stand in others' way for
// ever.
constexpr uint32_t kPatience = 64, kMore = 32;
// And that the warps of one CTA may take: they may poll in turns, and meet at barriers.
constexpr uint32_t kCtaPatience = 512;

class Pct : public Policy {
public:
  explicit Pct(uint64_t seed) : seed_(seed), lanes_(seed / 2 % 2), random_(seed) {}
  std::string name() const override { return "pct"; }
  void begin(const Launch& launch) override {
    random_ = Random(seed_, launch.index);
    fallen_.clear();
    begun_.clear();
    chosen_ = {UINT32_MAX, UINT32_MAX};
    steps_ = in_a_row_ = cta_in_a_row_ = 0;
    patience_ = kPatience;
    for (uint64_t& at : changes_) {
      uint32_t bits = random_.below(16);
      at = (uint64_t(1) << bits) + random_.below(1u << bits);
    }
  }
  Decision pick(std::span<const AgentId> runnable, int last) override {
    ++steps_;
    // Another one ran, since the chosen one polls in vain. While it is above all others, it would
    // always be the same one.
    if (last >= 0 && runnable[size_t(last)] != chosen_ &&
        std::binary_search(runnable.begin(), runnable.end(), chosen_))
      fall(chosen_);
    bool change = std::find(changes_.begin(), changes_.end(), steps_) != changes_.end();
    if (last >= 0 && (change || in_a_row_ >= patience_)) fall(runnable[size_t(last)]);
    if (last >= 0 && cta_in_a_row_ >= kCtaPatience) cta_falls(runnable, runnable[size_t(last)].cta);
    uint32_t best = 0;
    for (uint32_t i = 1; i < runnable.size(); ++i)
      if (priority(runnable[i]) > priority(runnable[best])) best = i;
    in_a_row_ = int(best) == last ? in_a_row_ + 1 : 0;
    cta_in_a_row_ = runnable[best].cta == chosen_.cta ? cta_in_a_row_ + 1 : 0;
    chosen_ = runnable[best];
    // Who has not run yet goes up to its first point only: on the way there its lanes may part.
    if (lanes_ && begun_.insert(runnable[best]).second) return {best, 0};
    return {best, uint32_t(1 + steps_ / 1024)};
  }
  uint32_t choose(Choice kind, uint32_t n) override {
    if (kind == Choice::split) return 0;
    return random_.below(kind == Choice::lane_order ? 0x10000 : n);
  }
  bool admit_all() const override { return true; }

private:
  // With half of the seeds all parts of a warp share its priority; each copy has its own.
  uint64_t key(AgentId id) const {
    uint32_t unit = id.unit >= kCopyUnit || lanes_ ? id.unit : id.unit / 32;
    return uint64_t(id.cta) << 32 | unit;
  }
  int64_t priority(AgentId id) const {
    auto it = fallen_.find(key(id));
    return it != fallen_.end() ? it->second : int64_t(mix64(seed_ ^ mix64(key(id))) >> 2);
  }
  void fall(AgentId id) {
    fallen_[key(id)] = --lowest_;
    in_a_row_ = 0;
    patience_ = kPatience + uint32_t(mix64(seed_ ^ steps_) % kMore);
  }
  // All of it that can run, in their order; others come first then, if any can run.
  void cta_falls(std::span<const AgentId> runnable, uint32_t cta) {
    std::vector<AgentId> own;
    for (AgentId id : runnable)
      if (id.cta == cta) own.push_back(id);
    cta_in_a_row_ = 0;
    if (own.size() == runnable.size()) return;
    std::sort(own.begin(), own.end(), [&](AgentId a, AgentId b) {
      return priority(a) != priority(b) ? priority(a) > priority(b) : a < b;
    });
    for (AgentId id : own) fall(id);
  }

  uint64_t seed_;
  bool lanes_;
  Random random_;
  std::array<uint64_t, kDepth - 1> changes_{};
  std::map<uint64_t, int64_t> fallen_; // below all that have not
  std::set<AgentId> begun_;
  int64_t lowest_ = 0;
  AgentId chosen_;
  uint64_t steps_ = 0;
  uint32_t in_a_row_ = 0, patience_ = kPatience, cta_in_a_row_ = 0;
};
} // namespace

std::unique_ptr<Policy> make_pct(uint64_t seed) { return std::make_unique<Pct>(seed); }

} // namespace assay::schedule
