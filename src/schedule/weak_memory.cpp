// weak-memory: strong reads may return an older value wherever the PTX memory model lets them miss
// the writes since (race/versions.hpp), so that a missing fence, release or acquire shows even
// where data and flag are volatile or relaxed. Agents are picked as by `random`. How many of the
// answers are older values is drawn for each run, from a quarter to three quarters: a torn sequence
// lock needs new values beside old ones. Half of them are the oldest: a missing fence shows most
// with that. With every other seed agents are picked as by `pct`, and a fence.sc may wait until
// nobody else can run, and the one that waits longest comes last: which of two comes first decides
// who sees whose writes, and they often stand close behind the stores of which the order matters.
//
// late-writes: the same, with fewer old values, and of the strong stores, and of the atomic updates
// whose result nobody uses, from a quarter to three quarters take effect late (vgpu/late.hpp): in
// some runs most of them as late as they may, in others so late that a few accesses come before.
//
// torn-vectors: the same, and each element of a strong vector access for itself: the model has them
// as scalar operations in unspecified order (PTX ISA 9.0, chapter 8, "Vector Data-types"). Not
// among the usual policies: kernels that keep a value and its flag in one vector rely on more.
#include "base/random.hpp"
#include "schedule/policies.hpp"

#include <optional>

namespace assay::schedule {

namespace {
class WeakMemory : public Policy {
public:
  enum class Also { nothing, tears, late };
  WeakMemory(uint64_t seed, Also also)
      : seed_(seed), also_(also), random_(seed),
        base_(seed % 2 == 0 ? make_pct(seed) : make_random(seed)) {
    static constexpr uint32_t kMissed[] = {6, 4, 2, 5}, kMissedBeside[] = {1, 2, 4, 6};
    static constexpr uint32_t kLate[] = {4, 2, 4, 6}, kBrief[] = {1, 0, 2, 3};
    Random character(seed, 1);
    const bool beside = also_ == Also::late;
    missed_of_8_ = (beside ? kMissedBeside : kMissed)[character.below(4)];
    if (also_ == Also::tears) missed_of_8_ = seed % 2 ? 8 : 5; // of which there are few runs
    late_of_8_ = kLate[character.below(4)];
    brief_of_4_ = kBrief[character.below(4)];
    alike_ = character.below(2) == 0;
  }
  std::string name() const override {
    return also_ == Also::tears  ? "torn-vectors"
           : also_ == Also::late ? "late-writes"
                                 : "weak-memory";
  }
  void begin(const Launch& launch) override {
    base_->begin(launch);
    random_ = Random(~seed_, launch.index);
    late_.reset();
  }
  Decision pick(std::span<const AgentId> runnable, int last) override {
    return base_->pick(runnable, last);
  }
  uint32_t choose(Choice kind, uint32_t n) override {
    if (kind == Choice::late) return lateness(n);
    if (kind != Choice::version) return base_->choose(kind, n);
    if (random_.below(8) >= missed_of_8_) return 0;
    return random_.below(2) ? n - 1 : random_.below(n);
  }
  bool admit_all() const override { return base_->admit_all(); }
  bool misses_writes() const override { return true; }
  bool tears_vectors() const override { return also_ == Also::tears; }
  bool delays_fences() const override { return seed_ % 2 == 0; }
  bool delays_writes() const override { return also_ == Also::late; }

private:
  // So many accesses may come first: n - 1 stands for all of them.
  uint32_t lateness(uint32_t n) {
    if (!late_ || !alike_ || random_.below(2) == 0) // stores in a row are often late together
      late_ = random_.below(8) >= late_of_8_    ? 0
              : random_.below(4) >= brief_of_4_ ? n - 1
                                                : 1 + random_.below(n - 1);
    return *late_;
  }

  uint64_t seed_;
  Also also_;
  uint32_t missed_of_8_ = 0, late_of_8_ = 0, brief_of_4_ = 0;
  bool alike_ = false;
  Random random_;
  std::optional<uint32_t> late_; // the last answer
  std::unique_ptr<Policy> base_;
};
} // namespace

std::unique_ptr<Policy> make_weak_memory(uint64_t seed) {
  return std::make_unique<WeakMemory>(seed, WeakMemory::Also::nothing);
}

std::unique_ptr<Policy> make_late_writes(uint64_t seed) {
  return std::make_unique<WeakMemory>(seed, WeakMemory::Also::late);
}

std::unique_ptr<Policy> make_torn_vectors(uint64_t seed) {
  return std::make_unique<WeakMemory>(seed, WeakMemory::Also::tears);
}

} // namespace assay::schedule
