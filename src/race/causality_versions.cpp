// Which writes a strong read may miss, and what it knows when it does; see versions.hpp.
#include "race/causality.hpp"

#include "base/check.hpp"

#include <bit>
#include <cstring>

namespace assay::race {

void Causality::replacing(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes,
                          const void* before) {
  remember(variables(space, agent.cta), address, bytes, before,
           moment(cta(agent.cta), agent, lane));
}

void Causality::remember(SyncVariables& vars, uint64_t address, uint8_t bytes, const void* before,
                         const Moment& by) {
  if (!versions_) return;
  ++stores_;
  each_element(address, bytes, [&](uint64_t a, uint8_t b, uint32_t k) {
    ChainRef chain = vars.empty() ? nullptr : vars.find(a, b);
    // A copy, since read-modify-writes lengthen it: who reads this value must not acquire theirs.
    vars.versions.replace(a, b, static_cast<const uint8_t*>(before) + k * b,
                          chain ? std::make_shared<Chain>(*chain) : nullptr, by, stores_);
  });
}

// Does what was done then come before the lane's next strong access, by causality or because a
// barrier stands between (perform())?
bool Causality::precedes(const Moment& what, Agent agent, uint32_t lane) const {
  const CtaState& c = *ctas_[agent.cta];
  if (ordered(observer(c, agent.cta, agent.warp), lane, what.cta, what.warp, what.lane, what.time))
    return true;
  const Clock* met = c.performed.empty() ? nullptr : c.performed[agent.warp * 32 + lane].get();
  return met && what.time < met->known(what.cta, what.warp, what.lane);
}

uint32_t Causality::missable_element(const Versions& versions, Agent agent, uint32_t lane,
                                     uint64_t address, uint8_t bytes) const {
  const std::vector<Versions::Write>* writes = versions.find(address, bytes);
  if (!writes) return 0;
  auto precedes = [&](const Moment& m) { return this->precedes(m, agent, lane); };
  uint32_t n = 0;
  for (size_t i = writes->size(); i-- > 0; ++n) {
    const Versions::Write& w = (*writes)[i];
    if (w.closed || precedes(w.by) || std::any_of(w.observers.begin(), w.observers.end(), precedes))
      break;
  }
  return n;
}

// Of one location, how many of its last writes; of a vector, how many of the states that its
// elements have been in: what missed() and missing_read() then count.
uint32_t Causality::missable(Space space, Agent agent, uint32_t lane, uint64_t address,
                             uint8_t bytes) const {
  const Versions& versions = variables(space, agent.cta).versions;
  if (elements_ == 1) return missable_element(versions, agent, lane, address, bytes);
  Versions::State most{};
  CHECK(elements_ <= most.size());
  each_element(address, bytes, [&](uint64_t a, uint8_t b, uint32_t k) {
    most[k] = uint8_t(missable_element(versions, agent, lane, a, b));
  });
  asked_ = {address, versions.states(address, bytes, elements_, most)};
  return uint32_t(asked_.states.size());
}

// How many writes each element misses.
Versions::State Causality::state(uint64_t address, uint8_t bytes, uint32_t back) const {
  CHECK(back >= 1 && bytes);
  if (elements_ == 1) return {uint8_t(back)};
  CHECK(asked_.address == address && back <= asked_.states.size());
  return asked_.states[back - 1];
}

void Causality::missed(Space space, Agent agent, uint64_t address, uint8_t bytes, uint32_t back,
                       uint8_t* value) const {
  const Versions& versions = variables(space, agent.cta).versions;
  const Versions::State misses = state(address, bytes, back);
  each_element(address, bytes, [&](uint64_t a, uint8_t b, uint32_t k) {
    if (misses[k]) std::memcpy(value + k * b, versions.last(a, b, misses[k]).before.data(), b);
  });
}

const Moment& Causality::missed_write(Space space, Agent agent, uint64_t address, uint8_t bytes,
                                      uint32_t back) const {
  const Versions& versions = variables(space, agent.cta).versions;
  const Versions::State misses = state(address, bytes, back);
  const Versions::Write* oldest = nullptr;
  each_element(address, bytes, [&](uint64_t a, uint8_t b, uint32_t k) {
    const Versions::Write* w = misses[k] ? &versions.last(a, b, misses[k]) : nullptr;
    if (w && (!oldest || w->number < oldest->number)) oldest = w;
  });
  CHECK(oldest);
  return oldest->by;
}

// Coherence: whoever follows that lane finds the newest write, or a later one, never what was there
// before.
void Causality::overtaken(Space space, Agent agent, uint32_t lane, uint64_t address,
                          uint8_t bytes) {
  each_element(address, bytes, [&](uint64_t a, uint8_t b, uint32_t) {
    variables(space, agent.cta).versions.observe(a, b, moment(cta(agent.cta), agent, lane), 0);
  });
}

void Causality::missing_read(Space space, Agent agent, uint32_t lane, uint64_t address,
                             uint8_t bytes, Detector::Order order, Scope scope, uint32_t back) {
  Versions::State misses{};
  // Others have been asked for since; of one that was overtaken, nothing is missed any more.
  if (elements_ == 1 || back <= missable(space, agent, lane, address, bytes))
    misses = state(address, bytes, back);
  each_element(address, bytes, [&](uint64_t a, uint8_t b, uint32_t k) {
    if (misses[k])
      missing_element(space, agent, lane, a, b, order, scope, misses[k]);
    else
      read_element(space, agent, lane, a, b, order, scope);
  });
}

void Causality::missing_element(Space space, Agent agent, uint32_t lane, uint64_t address,
                                uint8_t bytes, Detector::Order order, Scope scope, uint32_t back) {
  SyncVariables& vars = variables(space, agent.cta);
  CtaState& c = cta(agent.cta);
  ChainRef chain = vars.versions.last(address, bytes, back).chain;
  vars.versions.observe(address, bytes, moment(c, agent, lane), back);
  bool acquire = order == Detector::Order::acquire || order == Detector::Order::acq_rel;
  take(c, agent, lane, {space, bytes, address}, chain, acquire, scope);
}

// What the reads of a lane have been performed after.
void Causality::performed(const CtaState& c, Agent agent, uint32_t lane, ClockBuilder& all) const {
  const auto& lanes = c.warps[agent.warp].lanes;
  if (lanes) (*lanes)[lane].acquire.collect(agent.cta, Scope::gpu, all);
  if (!c.performed.empty()) all.add(c.performed[agent.warp * 32 + lane]);
}

// PTX ISA 9.0, 9.7.13.1 (bar) and 9.7.13.2 (bar.warp.sync): when a barrier completes, the reads
// before it have been performed, and no access after it has been requested. So a strong read after
// it, by any participant, finds what a fence after a read before it would have made visible. This
// is no edge: weak reads may still find what a cache holds. CUDA's programming guide relies on it
// in its sum by the last block, where a barrier stands between the counter and volatile partial
// sums.
void Causality::perform(uint32_t cta_index, const Masks& parts, const Masks& acquiring,
                        const ClockRef& more) {
  CtaState& c = cta(cta_index);
  auto each = [&](const Masks& masks, auto visit) {
    for (uint32_t w = 0; w < masks.size(); ++w)
      for (uint32_t m = masks[w]; m; m &= m - 1) visit(w, uint32_t(std::countr_zero(m)));
  };
  ClockBuilder all;
  all.add(more);
  each(parts, [&](uint32_t w, uint32_t l) { performed(c, {cta_index, w}, l, all); });
  ClockRef clock = all.take();
  if (!clock) return;
  c.performed.resize(c.warps.size() * 32);
  each(acquiring, [&](uint32_t w, uint32_t l) { c.performed[w * 32 + l] = clock; });
}

} // namespace assay::race
