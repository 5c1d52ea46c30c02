// What is missing between two accesses; see communication.hpp.
#include "explore/communication.hpp"

#include <set>
#include <unordered_map>

namespace assay::explore {

namespace {

using vgpu::WatchedStep;
using C = ir::OpCode;

class Communication {
public:
  explicit Communication(const Seen& seen)
      : seen_(seen), first_(*seen.accesses[0]), second_(*seen.accesses[1]),
        same_block_(seen.conflict.first.agent.cta == seen.conflict.second.agent.cta) {}

  Concluded run() {
    using K = race::Conflict::Kind;
    const K kind = seen_.conflict.kind;
    if (kind == K::same_instruction || (kind == K::order && !seen_.missed)) return std::move(out_);
    if (seen_.issue)
      copy();
    else if (!flag())
      early_flag();
    return std::move(out_);
  }

private:
  struct Flag { // an access of the location through which the blocks communicate
    const WatchedStep* step = nullptr;
    uint32_t lane = 0;
  };

  void say(Missing what, std::vector<const WatchedStep*> at) {
    out_.diagnosis.missing = what;
    for (const WatchedStep* step : at) out_.diagnosis.at.push_back(step->pc);
    out_.steps.insert(out_.steps.end(), at.begin(), at.end());
  }

  const ir::MemInfo& info(const WatchedStep& step) const {
    return seen_.program.mem[seen_.program.ops[step.pc].c];
  }

  // -- asynchronous copies ------------------------------------------------------------------------
  bool by(const WatchedStep& step, const ThreadOf& thread) const {
    return step.agent.cta == thread.agent.cta && step.agent.warp == thread.agent.warp &&
           step.lanes >> thread.lane & 1;
  }

  uint32_t commits(const ThreadOf& thread, uint64_t from, uint64_t to) const {
    uint32_t n = 0;
    for (const WatchedStep& s : seen_.steps)
      if (s.when > from && s.when < to && seen_.code(s) == C::cp_async_commit && by(s, thread))
        n += s.times;
    return n;
  }

  // The last wait of the thread in between, and whether it covers a copy asked for at `from`.
  const WatchedStep* wait(const ThreadOf& thread, uint64_t from, uint64_t to, bool& covers) const {
    const WatchedStep* last = nullptr;
    covers = false;
    for (const WatchedStep& s : seen_.steps) {
      if (s.when <= from || s.when >= to || seen_.code(s) != C::cp_async_wait || !by(s, thread))
        continue;
      uint64_t n = seen_.program.ops[s.pc].imm;
      covers |= n == ir::kNoIndex || commits(thread, from, s.when) > n;
      last = &s;
    }
    return last;
  }

  // Phases of barriers at which the thread was in between.
  std::set<uint32_t> phases(const ThreadOf& thread, uint64_t from, uint64_t to) const {
    std::set<uint32_t> out;
    for (const WatchedStep& s : seen_.steps)
      if (s.phase && s.when > from && s.when < to && by(s, thread)) out.insert(s.phase);
    return out;
  }

  // The last barrier since then at which the thread that asked for the copy met the other one.
  const WatchedStep* met(const ThreadOf& issuer, const ThreadOf& other, uint64_t from,
                         uint64_t to) const {
    const std::set<uint32_t> common = phases(other, 0, to);
    const WatchedStep* last = nullptr;
    for (const WatchedStep& s : seen_.steps)
      if (s.when > from && by(s, issuer) && common.count(s.phase)) last = &s;
    return last;
  }

  void copy() {
    if (!same_block_) return;
    const int side = seen_.copies(0) ? 0 : 1;
    if (seen_.copies(0) && seen_.copies(1)) return;
    const ThreadOf &issuer = seen_.threads[side], &other = seen_.threads[1 - side];
    const WatchedStep& access = *seen_.accesses[1 - side];
    const uint64_t issued = seen_.issue->when;
    bool covers = false;
    if (issuer.agent.warp == other.agent.warp && issuer.lane == other.lane)
      return unwaited(issuer, issued, access.when);
    if (const WatchedStep* barrier = met(issuer, other, issued, access.when)) {
      wait(issuer, issued, barrier->when, covers);
      return covers ? void() : unwaited(issuer, issued, barrier->when);
    }
    if (const WatchedStep* w = wait(issuer, issued, access.when, covers); w && covers)
      return say(Missing::barrier_after_wait, {w});
    // In one interval between barriers: has the other thread asked for its part already?
    const WatchedStep* own = nullptr;
    for (const WatchedStep& s : seen_.steps)
      if (s.pc == seen_.issue->pc && s.when < access.when && by(s, other) &&
          seen_.code(s) == C::cp_async)
        own = &s;
    for (const WatchedStep& s : seen_.steps)
      if (own && s.phase && s.when > own->when && s.when < access.when && by(s, other))
        own = nullptr;
    if (!own) {
      if (side == 1) say(Missing::barrier_before_copy, {seen_.issue});
      return;
    }
    const WatchedStep* w = wait(other, own->when, access.when, covers);
    if (w && covers) return say(Missing::barrier_after_wait, {w});
    unwaited(other, own->when, access.when);
  }

  void unwaited(const ThreadOf& thread, uint64_t from, uint64_t to) {
    bool covers = false;
    const WatchedStep* weak = wait(thread, from, to, covers);
    uint32_t groups = commits(thread, from, weak ? weak->when : to);
    say(Missing::wait,
        weak ? std::vector<const WatchedStep*>{weak} : std::vector<const WatchedStep*>{});
    out_.diagnosis.groups = groups ? groups - 1 : ir::kNoIndex;
  }

  // -- flags
  // ----------------------------------------------------------------------------------------
  bool wide(ir::Scope scope) const {
    return same_block_ ? scope >= ir::Scope::cta : scope >= ir::Scope::gpu;
  }
  bool writes(const WatchedStep& s) const {
    C code = seen_.code(s);
    return code == C::st || code == C::atom || code == C::red;
  }
  bool reads(const WatchedStep& s) const {
    C code = seen_.code(s);
    if (code == C::atom && seen_.program.ops[s.pc].d == ir::kNoSlot) return false; // nobody looks
    // Within a block atomics often only count; a flag is read plainly, or polled.
    bool flag = !same_block_ || s.times > 1 || info(s).atomic == ir::AtomicOp::cas;
    return code == C::ld || (code == C::atom && flag);
  }

  // The last strong read before the second access, by that one's block, of a location to which the
  // first one's block had made a strong write, before or after the first access.
  bool find(bool after_first) {
    const race::Agent &a = seen_.conflict.first.agent, &b = seen_.conflict.second.agent;
    std::unordered_map<uint64_t, Flag> written;
    bool sure = false;
    for (const WatchedStep& s : seen_.steps) {
      if (s.when >= second_.when) break;
      if (s.access || s.addresses.empty()) continue;
      if (s.agent.cta == b.cta && reads(s))
        for (auto [lane, address] : s.addresses) {
          auto w = written.find(address);
          if (w == written.end()) continue;
          if (same_block_ && w->second.step->agent.warp == s.agent.warp) continue;
          // What is polled or taken is a flag or a lock; what is read once may be volatile data.
          const bool surely = seen_.code(s) == C::atom || s.times > 1;
          if (sure && !surely) continue;
          sure = surely;
          store_ = w->second;
          load_ = {&s, lane};
        }
      if (s.agent.cta == a.cta && writes(s) && (s.when > first_.when) == after_first)
        for (auto [lane, address] : s.addresses) {
          // What the access's own thread says counts before what others say later.
          Flag &last = written[address], now{&s, lane};
          if (!last.step || !same_thread(last, 0) || same_thread(now, 0)) last = now;
        }
    }
    return store_.step != nullptr;
  }

  // Barriers by which the flag's thread learns of the access (before its store), or the access's
  // thread of the flag (after its load). Who arrives first does not matter, so each is held to its
  // own program order. Gives the flag's thread's arrival: at the first such barrier before a store,
  // at the last one after a load.
  const WatchedStep* joined(const Flag& flag, int side) const {
    const ThreadOf thread{flag.step->agent, flag.lane};
    const uint64_t access = seen_.accesses[side]->when, at = flag.step->when;
    const std::set<uint32_t> common =
        side ? phases(seen_.threads[1], 0, access) : phases(seen_.threads[0], access, UINT64_MAX);
    const WatchedStep* found = nullptr;
    for (const WatchedStep& s : seen_.steps) {
      if ((side ? s.when <= at : s.when >= at) || !by(s, thread)) continue;
      bool between = side ? s.when < access : s.when > access;
      bool warp = between && seen_.code(s) == C::bar_warp_sync && seen_.own(side, s);
      if (!warp && !(s.phase && common.count(s.phase))) continue;
      found = &s;
      if (!side) break;
    }
    return found;
  }
  bool same_thread(const Flag& flag, int side) const {
    return seen_.own(side, *flag.step) && seen_.threads[side].lane == flag.lane;
  }

  struct Fences {
    const WatchedStep* wide = nullptr;
    const WatchedStep* narrow = nullptr;
  };
  Fences fences(const Flag& flag, uint64_t from, uint64_t to, bool release) const {
    Fences out;
    for (const WatchedStep& s : seen_.steps) {
      if (s.when <= from || s.when >= to || seen_.code(s) != C::fence ||
          !by(s, {flag.step->agent, flag.lane}))
        continue;
      uint64_t imm = seen_.program.ops[s.pc].imm;
      auto what = ir::Semantics(imm & 255);
      if (what == (release ? ir::Semantics::acquire : ir::Semantics::release)) continue;
      (wide(ir::Scope(imm >> 8 & 255)) ? out.wide : out.narrow) = &s;
    }
    return out;
  }

  bool flag() {
    if (!find(true)) return false;
    out_.steps = {store_.step, load_.step};
    publishes();
    if (out_.diagnosis.missing == Missing::unsaid) observes();
    return true;
  }

  void publishes() {
    const ir::MemInfo& how = info(*store_.step);
    uint64_t from = first_.when;
    if (!same_thread(store_, 0)) {
      const WatchedStep* barrier = joined(store_, 0);
      if (!barrier) return say(Missing::barrier_before_flag, {store_.step});
      from = barrier->when;
    }
    if (!wide(how.scope)) return say(Missing::flag_scope, {store_.step});
    using S = ir::Semantics;
    if (how.semantics == S::release || how.semantics == S::acq_rel || how.semantics == S::sc)
      return;
    Fences before = fences(store_, from, store_.step->when, true);
    if (before.wide) return;
    if (before.narrow) return say(Missing::fence_scope, {before.narrow});
    // Behind what also reads a fence has its own purpose.
    const bool only_writes = seen_.program.ops[store_.step->pc].d == ir::kNoSlot;
    Fences behind = fences(store_, store_.step->when, load_.step->when, true);
    if (behind.wide && only_writes)
      return say(Missing::fence_behind_flag, {behind.wide, store_.step});
    say(Missing::fence_before_flag, {store_.step});
  }

  void observes() {
    const ir::MemInfo& how = info(*load_.step);
    uint64_t to = second_.when;
    if (!same_thread(load_, 1)) {
      const WatchedStep* barrier = joined(load_, 1);
      if (!barrier) return say(Missing::barrier_after_flag, {load_.step});
      to = barrier->when;
    }
    if (!wide(how.scope)) return say(Missing::flag_scope, {load_.step});
    using S = ir::Semantics;
    if (how.semantics == S::acquire || how.semantics == S::acq_rel || how.semantics == S::sc)
      return;
    Fences after = fences(load_, load_.step->when, to, false);
    if (after.wide) return;
    if (after.narrow) return say(Missing::fence_scope, {after.narrow});
    say(Missing::fence_after_flag, {load_.step});
  }

  // The flag was raised before what it announces was written. Only where it is raised once: of
  // several times another may be meant.
  void early_flag() {
    if (!seen_.conflict.first.info.write || same_block_ || !find(false)) return;
    uint32_t raised = 0;
    for (const WatchedStep& s : seen_.steps)
      if (s.pc == store_.step->pc && s.agent.cta == store_.step->agent.cta) raised += s.times;
    out_.steps.clear();
    if (raised == 1 && same_thread(store_, 0)) {
      say(Missing::flag_early, {store_.step});
      out_.steps.push_back(load_.step);
    }
  }

  const Seen& seen_;
  const WatchedStep &first_, &second_;
  bool same_block_;
  Flag store_, load_;
  Concluded out_;
};

} // namespace

Concluded conclude_missing(const Seen& seen) { return Communication(seen).run(); }

} // namespace assay::explore
