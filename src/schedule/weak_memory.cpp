// weak-memory: strong reads may return an older value wherever the PTX memory model lets them miss
// the writes since (race/versions.hpp), so that a missing fence, release or acquire shows even
// where data and flag are volatile or relaxed. Agents are picked as by `random`. Half of the
// answers, a third with every other seed, are the oldest value: a missing fence shows most with
// that. With every other seed agents are picked as by `pct`, and a fence.sc may wait until nobody
// else can run, and the one that waits longest comes last: which of two comes first decides who
// sees whose writes, and they often stand close behind the stores of which the order matters.
//
// torn-vectors: the same, and each element of a strong vector access for itself: the model has them
// as scalar operations in unspecified order (PTX ISA 9.0, chapter 8, "Vector Data-types"). Not
// among the usual policies: kernels that keep a value and its flag in one vector rely on more.
#include "base/random.hpp"
#include "schedule/policies.hpp"

namespace assay::schedule {

namespace {
class WeakMemory : public Policy {
public:
  WeakMemory(uint64_t seed, bool tears)
      : seed_(seed), tears_(tears), random_(seed),
        base_(seed % 2 == 0 ? make_pct(seed) : make_random(seed)) {}
  std::string name() const override { return tears_ ? "torn-vectors" : "weak-memory"; }
  void begin(const Launch& launch) override {
    base_->begin(launch);
    random_ = Random(~seed_, launch.index);
  }
  Decision pick(std::span<const AgentId> runnable, int last) override {
    return base_->pick(runnable, last);
  }
  uint32_t choose(Choice kind, uint32_t n) override {
    if (kind != Choice::version) return base_->choose(kind, n);
    if (!delays_fences()) return random_.below(2) ? n - 1 : random_.below(n);
    const uint32_t which =
        random_.below(3); // a torn sequence lock needs new values beside old ones
    return which == 0 ? 0 : which == 1 ? n - 1 : random_.below(n);
  }
  bool admit_all() const override { return base_->admit_all(); }
  bool misses_writes() const override { return true; }
  bool tears_vectors() const override { return tears_; }
  bool delays_fences() const override { return seed_ % 2 == 0; }

private:
  uint64_t seed_;
  bool tears_;
  Random random_;
  std::unique_ptr<Policy> base_;
};
} // namespace

std::unique_ptr<Policy> make_weak_memory(uint64_t seed) {
  return std::make_unique<WeakMemory>(seed, false);
}

std::unique_ptr<Policy> make_torn_vectors(uint64_t seed) {
  return std::make_unique<WeakMemory>(seed, true);
}

} // namespace assay::schedule
