// What is missing between an asynchronous copy and another access of its block: a wait, or a
// barrier by which the others learn of it. See communication.hpp.
#include "explore/communication.hpp"

#include "explore/shapes.hpp"

#include <map>

namespace assay::explore {

namespace {

using vgpu::WatchedStep;
using C = ir::OpCode;

class Copies {
public:
  explicit Copies(const Seen& seen) : seen_(seen) {}

  Concluded run() {
    copy();
    return std::move(out_);
  }

private:
  void say(Missing what, std::vector<const WatchedStep*> at) {
    out_.diagnosis.missing = what;
    for (const WatchedStep* step : at) out_.diagnosis.at.push_back(step->pc);
    out_.steps = std::move(at);
  }

  uint32_t commits(const ThreadOf& thread, uint64_t from, uint64_t to) const {
    uint32_t n = 0;
    for (const WatchedStep& s : seen_.steps)
      if (s.when > from && s.when < to && seen_.code(s) == C::cp_async_commit &&
          seen_.by(s, thread))
        n += s.times;
    return n;
  }

  // The last wait of the thread in between, and whether it covers a copy asked for at `from`.
  const WatchedStep* wait(const ThreadOf& thread, uint64_t from, uint64_t to, bool& covers) const {
    const WatchedStep* last = nullptr;
    covers = false;
    for (const WatchedStep& s : seen_.steps) {
      if (s.when <= from || s.when >= to || seen_.code(s) != C::cp_async_wait ||
          !seen_.by(s, thread))
        continue;
      uint64_t n = seen_.program.ops[s.pc].imm;
      covers |= n == ir::kNoIndex || commits(thread, from, s.when) > n;
      last = &s;
    }
    return last;
  }

  // The last barrier since then at which the thread that asked for the copy met the other one.
  const WatchedStep* met(const ThreadOf& issuer, const ThreadOf& other, uint64_t from,
                         uint64_t to) const {
    const std::set<uint32_t> common = seen_.phases(other, 0, to);
    const WatchedStep* last = nullptr;
    for (const WatchedStep& s : seen_.steps)
      if (s.when > from && seen_.by(s, issuer) && common.count(s.phase)) last = &s;
    return last;
  }

  void copy() {
    const int side = seen_.copies(0) ? 0 : 1;
    if (seen_.copies(0) && seen_.copies(1)) return;
    const ThreadOf &issuer = seen_.threads[side], &other = seen_.threads[1 - side];
    const WatchedStep& access = *seen_.accesses[1 - side];
    const uint64_t issued = seen_.issue->when;
    for (const WatchedStep& s : seen_.steps) // a wait for the mbarrier is one for the copy
      if (s.when > issued && seen_.code(s) == C::cp_async_arrive && seen_.by(s, issuer)) return;
    bool covers = false;
    if (issuer.agent.warp == other.agent.warp && issuer.lane == other.lane)
      return unwaited(issuer, issued, access.when);
    if (const WatchedStep* barrier = met(issuer, other, issued, access.when)) {
      wait(issuer, issued, barrier->when, covers);
      return covers ? void() : unwaited(issuer, issued, barrier->when);
    }
    if (const WatchedStep* told = announced(issuer, other, issued, access.when)) {
      const WatchedStep* w = wait(issuer, issued, told->when, covers);
      if (w && !covers) return unwaited(issuer, issued, told->when);
      if (!covers) return early(side, told);
    }
    if (const WatchedStep* w = wait(issuer, issued, access.when, covers); w && covers)
      return say(Missing::barrier_after_wait, {w});
    // In one interval between barriers: has the other thread asked for its part already?
    const WatchedStep* own = nullptr;
    for (const WatchedStep& s : seen_.steps)
      if (s.pc == seen_.issue->pc && s.when < access.when && seen_.by(s, other) &&
          seen_.code(s) == C::cp_async)
        own = &s;
    for (const WatchedStep& s : seen_.steps)
      if (own && s.phase && s.when > own->when && s.when < access.when && seen_.by(s, other))
        own = nullptr;
    if (!own) {
      // What is asked for once, before the access in program and run, is what is to be read.
      const uint32_t copy = seen_.issue->pc;
      if (side == 1 && issued < access.when && copy < access.pc &&
          !loop_around(seen_.program, copy, access.pc))
        return unwaited(issuer, issued, access.when);
      if (side == 1) say(Missing::barrier_before_copy, {seen_.issue});
      return;
    }
    const WatchedStep* w = wait(other, own->when, access.when, covers);
    if (w && covers) return say(Missing::barrier_after_wait, {w});
    unwaited(other, own->when, access.when);
  }

  // The last thing by which the issuer's warp told the other's, between the two: an arrival at an
  // mbarrier, or a flag.
  const WatchedStep* announced(const ThreadOf& issuer, const ThreadOf& other, uint64_t from,
                               uint64_t to) const {
    std::map<uint64_t, const WatchedStep*> raised;
    const WatchedStep* last = nullptr;
    for (const WatchedStep& s : seen_.steps) {
      if (s.when <= from || s.when >= to || s.access) continue;
      const C code = seen_.code(s);
      const bool waits = code == C::mbarrier_wait && s.told != WatchedStep::kNothing,
                 reads = waits || code == C::ld || code == C::atom,
                 writes = code == C::mbarrier_arrive || code == C::st || code == C::atom ||
                          code == C::red;
      if (reads && s.agent == other.agent)
        for (auto [lane, address] : s.addresses)
          if (auto r = raised.find(address); r != raised.end() && r->second->agent != s.agent)
            last = r->second;
      if (writes && s.agent == issuer.agent)
        for (auto [lane, address] : s.addresses) raised[address] = &s;
    }
    return last;
  }

  // Told before the copy has arrived: it is not the issuer's instruction that has to be done first.
  void early(int side, const WatchedStep* told) {
    const bool object = seen_.code(*told) == C::mbarrier_arrive;
    say(object ? Missing::mbarrier_early : Missing::flag_early, {told});
    out_.diagnosis.side = side;
  }

  void unwaited(const ThreadOf& thread, uint64_t from, uint64_t to) {
    bool covers = false;
    const WatchedStep* weak = wait(thread, from, to, covers);
    uint32_t groups = commits(thread, from, weak ? weak->when : to);
    say(Missing::wait,
        weak ? std::vector<const WatchedStep*>{weak} : std::vector<const WatchedStep*>{});
    out_.diagnosis.groups = groups ? groups - 1 : ir::kNoIndex;
  }

  const Seen& seen_;
  Concluded out_;
};

} // namespace

Concluded conclude_copy(const Seen& seen) { return Copies(seen).run(); }

} // namespace assay::explore
