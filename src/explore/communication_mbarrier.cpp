// What is missing where the two threads communicate by mbarriers (cuda::barrier, cuda::pipeline):
// a wait, the right phase, or an arrival in its place. See communication.hpp.
//
// A thread that fills a place arrives at an object ("full") for which who reads it waits, and a
// reader arrives at another one ("empty") before the place is filled again. The n-th wait of a
// reader must be told of the n-th phase; who fills has one place in hand, and so may be one behind.
#include "explore/communication.hpp"

#include "explore/shapes.hpp"

#include <map>

namespace assay::explore {

namespace {

using vgpu::WatchedStep;
using C = ir::OpCode;

class Mbarriers {
public:
  explicit Mbarriers(const Seen& seen) : seen_(seen) {}

  Concluded run() {
    const race::AccessInfo &a = seen_.conflict.first.info, &b = seen_.conflict.second.info;
    // Of two that write, the one that came first fills the place.
    const int writer = a.write && !takes(seen_.program, a.pc, b.pc) ? 0 : 1, reader = 1 - writer;
    reader_ = reader;
    // An atomic operation may be there to read what the others have made.
    auto reads = [&](const race::AccessInfo& one, const race::AccessInfo& other) {
      return !one.write || takes(seen_.program, one.pc, other.pc);
    };
    if (reads(a, b) || reads(b, a)) no_wait(writer, reader) || no_wait(reader, writer);
    if (unsaid()) early(reader, writer) || early(writer, reader);
    return std::move(out_);
  }

private:
  bool unsaid() const { return out_.diagnosis.missing == Missing::unsaid; }
  bool say(Missing what, const WatchedStep* at, const WatchedStep* other) {
    out_.diagnosis.missing = what;
    out_.diagnosis.at = {at->pc};
    out_.steps = {at};
    if (other) out_.steps.push_back(other);
    return true;
  }

  bool arrives(const WatchedStep& s) const {
    return seen_.code(s) == C::mbarrier_arrive || seen_.code(s) == C::cp_async_arrive;
  }
  bool answered(const WatchedStep& s) const {
    return seen_.code(s) == C::mbarrier_wait && s.told != WatchedStep::kNothing;
  }
  // Its object, as this side's thread named it.
  uint64_t object(const WatchedStep& s, int side) const {
    for (auto [lane, address] : s.addresses)
      if (lane == seen_.threads[side].lane) return address;
    return ~uint64_t(0);
  }
  uint64_t at(int side) const {
    return seen_.copies(side) ? seen_.issue->when : seen_.accesses[side]->when;
  }

  // `giver` arrives after its access; does `taker` wait for that before its own?
  bool no_wait(int giver, int taker) {
    const bool reads = taker == reader_;
    const WatchedStep* given = nullptr;
    for (const WatchedStep& s : seen_.steps) {
      if (s.when < at(giver) || !seen_.own(giver, s) || !arrives(s)) continue;
      const uint64_t place = object(s, giver);
      const WatchedStep* last = nullptr;
      int64_t waits = 0;
      for (const WatchedStep& w : seen_.steps)
        if (w.when < at(taker) && seen_.own(taker, w) && answered(w) && object(w, taker) == place)
          last = &w, waits += w.times;
      if (!given) given = &s;
      if (!last) continue;
      const int64_t due = waits - (reads ? 1 : 2);
      if (last->told >= due) return false; // it waits as it should
      return say(Missing::mbarrier_phase, last, &s);
    }
    if (!given || others_wait(given, giver, taker)) return false;
    out_.diagnosis.side = taker;
    return say(Missing::mbarrier_wait, given, nullptr);
  }

  // An object that only others wait for is none of the two's.
  bool others_wait(const WatchedStep* given, int giver, int taker) const {
    const uint64_t place = object(*given, giver);
    bool others = false;
    for (const WatchedStep& s : seen_.steps) {
      if (!answered(s) || s.agent.cta != given->agent.cta || s.addresses.empty()) continue;
      if (s.addresses.front().second != place) continue;
      if (seen_.own(taker, s) || s.agent == seen_.threads[taker].agent) return false;
      others |= !seen_.own(giver, s);
    }
    return others;
  }

  // `giver` has arrived, and only then accesses; nothing that it waits for stands in between.
  bool early(int giver, int taker) {
    const WatchedStep* last = nullptr;
    for (const WatchedStep& s : seen_.steps) {
      if (s.when >= at(giver)) break;
      if (!seen_.own(giver, s)) continue;
      if (arrives(s)) last = &s;
      if (answered(s) || seen_.code(s) == C::bar) last = nullptr;
    }
    if (!last) return false;
    for (const WatchedStep& s : seen_.steps)
      if (seen_.own(taker, s) && answered(s) && object(s, taker) == object(*last, giver)) {
        out_.diagnosis.side = giver;
        return say(Missing::mbarrier_early, last, &s);
      }
    return false;
  }

  const Seen& seen_;
  int reader_ = 1;
  Concluded out_;
};

} // namespace

Concluded conclude_mbarrier(const Seen& seen) { return Mbarriers(seen).run(); }

} // namespace assay::explore
