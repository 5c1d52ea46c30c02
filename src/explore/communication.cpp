// What is missing between two accesses; see communication.hpp.
#include "explore/communication.hpp"

#include "explore/shapes.hpp"

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
        same_block_(seen.conflict.first.agent.cta == seen.conflict.second.agent.cta),
        same_warp_(seen.threads[0].agent == seen.threads[1].agent) {}

  Concluded run() {
    using K = race::Conflict::Kind;
    const K kind = seen_.conflict.kind;
    if (kind == K::same_instruction) return std::move(out_);
    if (seen_.issue && same_block_) {
      out_ = conclude_copy(seen_);
      if (unsaid()) mbarriers();
      return std::move(out_);
    }
    // First a way from the one to the other that lacks something; then what is no way at all.
    const bool ordered = kind == K::order && !seen_.missed && !reads_what_was_made();
    const bool way = !ordered && flag();
    if (unsaid()) each_looks_for_other();
    if (unsaid() && seen_.missed && !way) neither_reads();
    if (unsaid() && !ordered) mbarriers();
    if (unsaid() && same_warp_ && !ordered) narrow_mask();
    if (unsaid() && !way && !ordered) early_flag();
    if (unsaid() && !way && seen_.missed) through_others();
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

  void mbarriers() {
    if (!same_block_) return;
    if (Concluded found = conclude_mbarrier(seen_); found.diagnosis.missing != Missing::unsaid)
      out_ = std::move(found);
  }

  bool unsaid() const { return out_.diagnosis.missing == Missing::unsaid; }

  const ir::MemInfo& info(const WatchedStep& step) const {
    return seen_.program.mem[seen_.program.ops[step.pc].c];
  }

  // Of two strong accesses: the first one writes, and the second is there to see it.
  bool reads_what_was_made() const {
    const race::Conflict& c = seen_.conflict;
    return c.first.info.write &&
           (!c.second.info.write || takes(seen_.program, c.second.info.pc, c.first.info.pc));
  }

  // -- flags --------------------------------------------------------------------------------------
  bool wide(ir::Scope scope) const {
    return same_block_ ? scope >= ir::Scope::cta : scope >= ir::Scope::gpu;
  }
  bool accesses(const WatchedStep& s) const { // strongly
    const C code = seen_.code(s);
    return !s.addresses.empty() &&
           (code == C::ld || code == C::st || code == C::atom || code == C::red);
  }
  bool writes(const WatchedStep& s) const {
    // An atomic that polls (atomicAdd(flag, 0)) writes back what was there.
    C code = seen_.code(s);
    return code == C::st || code == C::red || (code == C::atom && !polls(seen_.program, s.pc));
  }
  bool reads(const WatchedStep& s) const {
    C code = seen_.code(s);
    if (code == C::atom && seen_.program.ops[s.pc].d == ir::kNoSlot) return false; // nobody looks
    // Within a block atomics often only count; a flag is read plainly, or polled.
    bool flag = !same_block_ || looks(s) || info(s).atomic == ir::AtomicOp::cas;
    return code == C::ld || (code == C::atom && flag);
  }
  bool looks(const WatchedStep& s) const { return s.times > 1 || polls(seen_.program, s.pc); }

  // Lane and address of all that it accesses: the elements of a vector are operations of their own.
  std::vector<std::pair<uint32_t, uint64_t>> places(const WatchedStep& s) const {
    std::vector<std::pair<uint32_t, uint64_t>> out;
    for (auto [lane, address] : s.addresses)
      for (uint32_t i = 0; i < info(s).vector; ++i)
        out.emplace_back(lane, address + uint64_t(i) * info(s).bytes);
    return out;
  }

  bool is_the_place(uint64_t address) const {
    const race::Conflict& c = seen_.conflict;
    return (c.space == race::Space::shared ? ir::offset_of(address) : address) == c.address;
  }

  // The last strong read before the second access, by that one's block, of a location to which the
  // first one's block has made a strong write since the first access.
  bool find() {
    const race::Agent &a = seen_.conflict.first.agent, &b = seen_.conflict.second.agent;
    std::unordered_map<uint64_t, Flag> written;
    bool sure = false;
    for (const WatchedStep& s : seen_.steps) {
      if (s.when >= second_.when) break;
      if (s.access || !accesses(s)) continue;
      if (s.agent.cta == b.cta && reads(s))
        for (auto [lane, address] : places(s)) {
          auto w = written.find(address);
          if (w == written.end() || is_the_place(address)) continue;
          // What is polled or taken is a flag or a lock; what is read once may be volatile data.
          const bool surely = seen_.code(s) == C::atom || looks(s);
          const Flag now{&s, lane};
          if (same_block_ && w->second.step->agent.warp == s.agent.warp &&
              !(surely && w->second.lane != lane && same_thread(now, 1))) {
            out_.diagnosis.may_lead |= w->second.lane != lane;
            continue;
          }
          if (sure && !surely) continue;
          if (load_.step == &s && same_thread(load_, 1)) continue;
          sure = surely;
          store_ = w->second;
          load_ = now;
        }
      if (s.agent.cta == a.cta && writes(s) && s.when > first_.when)
        for (auto [lane, address] : places(s)) {
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
  const WatchedStep* joined(const Flag& flag, int side, bool after = false) const {
    const ThreadOf thread{flag.step->agent, flag.lane};
    const uint64_t access = seen_.accesses[side]->when, at = flag.step->when;
    const std::set<uint32_t> common = after ? seen_.phases(seen_.threads[side], 0, access)
                                            : seen_.phases(seen_.threads[side], access, UINT64_MAX);
    const WatchedStep* found = nullptr;
    for (const WatchedStep& s : seen_.steps) {
      if ((after ? s.when <= at : s.when >= at) || !seen_.by(s, thread)) continue;
      bool between = after ? s.when < access : s.when > access;
      bool warp = between && seen_.code(s) == C::bar_warp_sync && seen_.own(side, s) &&
                  names(s, flag.lane, seen_.threads[side].lane);
      if (!warp && !(s.phase && common.count(s.phase))) continue;
      found = &s;
      if (!after) break;
    }
    return found;
  }
  bool same_thread(const Flag& flag, int side) const {
    return seen_.own(side, *flag.step) && seen_.threads[side].lane == flag.lane;
  }

  // Does the mask of this warp barrier, as lane `own` gave it, name the other one?
  static bool names(const WatchedStep& s, uint32_t own, uint32_t other) {
    for (auto [lane, mask] : s.masks)
      if (lane == own) return mask >> other & 1;
    return false;
  }

  struct Fences {
    const WatchedStep* wide = nullptr;
    const WatchedStep* narrow = nullptr;
  };
  Fences fences(const Flag& flag, uint64_t from, uint64_t to, bool release) const {
    Fences out;
    for (const WatchedStep& s : seen_.steps) {
      if (s.when <= from || s.when >= to || seen_.code(s) != C::fence ||
          !seen_.by(s, {flag.step->agent, flag.lane}))
        continue;
      uint64_t imm = seen_.program.ops[s.pc].imm;
      auto what = ir::Semantics(imm & 255);
      if (what == (release ? ir::Semantics::acquire : ir::Semantics::release)) continue;
      (wide(ir::Scope(imm >> 8 & 255)) ? out.wide : out.narrow) = &s;
    }
    return out;
  }

  bool flag() {
    out_.diagnosis.may_lead =
        first_.when > second_.when; // in another run, for all that this one tells
    if (!find()) return false;
    out_.diagnosis.may_lead = true;
    out_.steps = {store_.step, load_.step};
    out_.diagnosis.signal = signal();
    publishes();
    if (unsaid()) observes();
    return true;
  }

  // A lock is what is taken by an exchange and given back; a counter, what is added to.
  Signal signal() const {
    using A = ir::AtomicOp;
    const A how = info(*store_.step).atomic, seen = info(*load_.step).atomic;
    if (seen == A::cas && (how == A::none || how == A::exch || how == A::cas)) return Signal::lock;
    return how == A::none || how == A::exch || how == A::cas ? Signal::flag : Signal::counter;
  }

  void publishes() {
    const ir::MemInfo& how = info(*store_.step);
    uint64_t from = first_.when;
    if (!same_thread(store_, 0)) {
      const WatchedStep* barrier = joined(store_, 0);
      out_.diagnosis.within_warp = store_.step->agent == seen_.threads[0].agent;
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
      const WatchedStep* barrier = joined(load_, 1, true);
      out_.diagnosis.within_warp = load_.step->agent == seen_.threads[1].agent;
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

  // The two communicate through a third block, whose steps are not seen: whoever counts arrivals
  // for all, say. Then the first one's thread, or one of its block that it has met, announces what
  // it did by an atomic operation, or by the last thing that it stores.
  void through_others() {
    if (same_block_) return;
    Flag told;
    for (const WatchedStep& s : seen_.steps) {
      if (s.when <= first_.when || s.agent.cta != seen_.threads[0].agent.cta) continue;
      const uint64_t imm = seen_.program.ops[s.pc].imm;
      if (seen_.code(s) == C::fence && seen_.own(0, s) && wide(ir::Scope(imm >> 8 & 255))) break;
      const bool counts = seen_.code(s) == C::atom || seen_.code(s) == C::red;
      if (s.access || !accesses(s) || !writes(s) || s.pc == first_.pc) continue;
      for (auto [lane, address] : places(s)) {
        const Flag now{&s, lane};
        const bool own = same_thread(now, 0) || (counts && joined(now, 0));
        if (own && !is_the_place(address)) told = now;
      }
      if (told.step == &s && counts) break;
    }
    if (!told.step || !wide(info(*told.step).scope)) return;
    using S = ir::Semantics;
    const S how = info(*told.step).semantics;
    const WatchedStep* met = same_thread(told, 0) ? &first_ : joined(told, 0);
    const Fences between = fences(told, met->when, told.step->when, true);
    if (how == S::release || how == S::acq_rel || how == S::sc || between.wide) return;
    store_ = load_ = told;
    out_.diagnosis.signal = signal();
    if (between.narrow)
      say(Missing::fence_scope, {between.narrow});
    else
      say(Missing::fence_before_flag, {told.step});
  }

  // The flag was raised before what it announces was done, by the same thread or by another one of
  // its block that did not wait for it. Only where it is raised once: of several times another may
  // be meant. The access that is too late has come second, or, seen from a reader that came later
  // still, first.
  void early_flag() {
    if (same_block_) return;
    for (int late = 0; late < 2 && unsaid(); ++late) {
      const race::AccessInfo& info = (late ? seen_.conflict.second : seen_.conflict.first).info;
      if (info.write) raised_early(late);
    }
  }
  void raised_early(int late) {
    const ThreadOf &writer = seen_.threads[late], &reader = seen_.threads[1 - late];
    const uint64_t until = std::min(seen_.accesses[late]->when, seen_.accesses[1 - late]->when);
    std::unordered_map<uint64_t, Flag> written;
    store_ = load_ = {};
    for (const WatchedStep& s : seen_.steps) {
      if (s.when >= seen_.accesses[1 - late]->when) break;
      if (s.access || !accesses(s)) continue;
      if (s.agent.cta == reader.agent.cta && reads(s))
        for (auto [lane, address] : places(s))
          if (auto w = written.find(address); w != written.end() && !is_the_place(address))
            store_ = w->second, load_ = {&s, lane};
      if (s.agent.cta == writer.agent.cta && s.when < until && writes(s))
        for (auto [lane, address] : places(s)) written[address] = {&s, lane};
    }
    if (!store_.step) return;
    out_.diagnosis.signal = signal();
    // Each thread gives a lock back for itself.
    const ThreadOf raiser{store_.step->agent, store_.lane};
    const bool lock = out_.diagnosis.signal == Signal::lock;
    uint32_t raised = 0;
    for (const WatchedStep& s : seen_.steps)
      if (s.pc == store_.step->pc && s.agent.cta == store_.step->agent.cta &&
          (!lock || seen_.by(s, raiser)))
        raised += s.times;
    if (raised != 1) return;
    out_.steps.clear();
    if (same_thread(store_, late))
      say(Missing::flag_early, {store_.step});
    else if (!joined(store_, late))
      say(Missing::barrier_before_flag, {store_.step});
    if (!unsaid()) out_.steps.push_back(load_.step);
    out_.diagnosis.side = late;
  }

  // -- each stores, then looks for what the other stores ------------------------------------------
  struct Look { // a strong store of a thread, and a later strong load of another location
    const WatchedStep *store = nullptr, *load = nullptr;
    uint64_t stored = 0, loaded = 0;
  };

  // Of what the side's own thread did up to its access; of a mere order, anywhere.
  std::vector<Look> looks_of(int side) const {
    constexpr size_t kMost = 32;
    std::vector<std::pair<const WatchedStep*, uint64_t>> own;
    for (const WatchedStep& s : seen_.steps) {
      if (!seen_.own(side, s) || !accesses(s)) continue;
      if (seen_.conflict.kind != race::Conflict::Kind::order &&
          s.when >= seen_.accesses[side]->when)
        break;
      for (auto [lane, address] : places(s))
        if (lane == seen_.threads[side].lane) own.emplace_back(&s, address);
    }
    if (own.size() > kMost) own.erase(own.begin(), own.end() - kMost);
    std::vector<Look> out;
    for (auto [load, loaded] : own)
      for (auto [store, stored] : own)
        if (store->when < load->when && writes(*store) && !writes(*load) && stored != loaded)
          out.push_back({store, load, stored, loaded});
    return out;
  }

  bool fenced(const Look& look, int side) const {
    for (const WatchedStep& s : seen_.steps) {
      if (s.when <= look.store->when || s.when >= look.load->when || !seen_.own(side, s)) continue;
      const uint64_t imm = seen_.program.ops[s.pc].imm;
      if (seen_.code(s) == C::fence && ir::Semantics(imm & 255) == ir::Semantics::sc &&
          wide(ir::Scope(imm >> 8 & 255)))
        return true;
    }
    return false;
  }

  // Store buffering, and so the locks of Dekker and Peterson: only fence.sc between store and load
  // sees to it that one of the two finds what the other stored (PTX manual, "Fence-SC order").
  // Threads that only hand values to each other look the same, but branch on nothing.
  void each_looks_for_other() {
    const bool order = seen_.conflict.kind == race::Conflict::Kind::order;
    for (const Look& one : looks_of(0))
      for (const Look& two : looks_of(1)) {
        if (one.stored != two.loaded || one.loaded != two.stored) continue;
        if (one.load->when > two.store->when && two.load->when > one.store->when) continue;
        auto is = [&](int side, const Look& look) {
          return seen_.accesses[side] == look.store || seen_.accesses[side] == look.load;
        };
        if (order && !(is(0, one) && is(1, two))) continue;
        const bool apart = one.store->pc != two.store->pc && one.load->pc != two.load->pc;
        if (!apart &&
            !(decides(seen_.program, one.load->pc) && decides(seen_.program, two.load->pc)))
          continue;
        std::vector<const WatchedStep*> at;
        if (!fenced(one, 0)) at = {one.store, one.load};
        if (!fenced(two, 1)) at.insert(at.end(), {two.store, two.load});
        if (at.empty()) continue;
        out_ = {};
        return say(Missing::fence_sc, at);
      }
  }

  // Nothing that the second thread has read leads to its access, but it, or one that is before the
  // other, has written too: the tests R, 2+2W and Z6. Which of two writes comes first is told by no
  // read, so that release and acquire order nothing, and only fence.sc do.
  void neither_reads() {
    std::vector<std::pair<const WatchedStep*, uint64_t>> after, before;
    for (const WatchedStep& s : seen_.steps) {
      if (s.access || !accesses(s)) continue;
      const bool early = s.when < second_.when;
      if (early && s.agent.cta == seen_.threads[1].agent.cta && reads(s)) return;
      for (auto [lane, address] : places(s)) {
        if (is_the_place(address)) continue;
        if (seen_.own(0, s) && lane == seen_.threads[0].lane && s.when > first_.when)
          after.emplace_back(&s, address);
        if (early && seen_.own(1, s) && lane == seen_.threads[1].lane && writes(s))
          before.emplace_back(&s, address);
      }
    }
    if (before.empty() || after.empty()) return;
    // The place that both use, if there is one; else what is nearest, and others are in between.
    auto leads = after.front(), comes = before.back();
    for (const auto& a : after)
      for (const auto& b : before)
        if (a.second == b.second) leads = a, comes = b;
    out_.diagnosis.by_others = leads.second != comes.second;
    std::vector<const WatchedStep*> at;
    if (!fenced({&first_, leads.first}, 0)) at = {&first_, leads.first};
    if (!fenced({comes.first, &second_}, 1)) at.insert(at.end(), {comes.first, &second_});
    if (!at.empty()) say(Missing::fence_sc, at);
  }

  // -- warp barriers ------------------------------------------------------------------------------
  // The first thread's next warp barrier and the second one's last, if their masks leave out the
  // other of the two.
  void narrow_mask() {
    const WatchedStep* near[2] = {nullptr, nullptr};
    for (const WatchedStep& s : seen_.steps) {
      if (seen_.code(s) != C::bar_warp_sync) continue;
      if (!near[0] && s.when > first_.when && seen_.own(0, s)) near[0] = &s;
      if (s.when < second_.when && seen_.own(1, s)) near[1] = &s;
    }
    Diagnosis& d = out_.diagnosis;
    for (int side = 0; side < 2; ++side) {
      const uint32_t own = seen_.threads[side].lane, other = seen_.threads[1 - side].lane;
      if (!near[side] || names(*near[side], own, other)) continue;
      say(Missing::warp_mask, {near[side]});
      for (auto [lane, mask] : near[side]->masks)
        if (lane == own) d.masks.push_back(mask);
      d.lanes.push_back(other);
    }
  }

  const Seen& seen_;
  const WatchedStep &first_, &second_;
  bool same_block_, same_warp_;
  Flag store_, load_;
  Concluded out_;
};

} // namespace

Concluded conclude_missing(const Seen& seen) { return Communication(seen).run(); }

} // namespace assay::explore
