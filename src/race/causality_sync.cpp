// Releases, acquires, fences and asynchronous copies; see causality.hpp.
#include "race/causality.hpp"

#include "base/check.hpp"

#include <bit>

namespace assay::race {
using Order = Detector::Order;
using Fence = Detector::Fence;

namespace {
bool acquires(Order o) { return o == Order::acquire || o == Order::acq_rel; }
bool releases(Order o) { return o == Order::release || o == Order::acq_rel; }
} // namespace

// A release operation. Its lane's later strong writes there go on with it (PTX ISA 9.0, 8.8), even
// if it wrote nothing itself.
Contribution Causality::released(CtaState& c, Agent agent, uint32_t lane, const Location& at,
                                 Scope scope) {
  Contribution own{agent.cta, scope, snapshot(c, agent.cta, agent.warp, lane).clock()};
  c.releases.add(agent.warp, lane, at, own);
  bump(c, agent.warp, 1u << lane);
  return own;
}

void Causality::publish(std::vector<Contribution>& out, CtaState& c, Agent agent, uint32_t lane,
                        const Location& at, bool release, Scope scope) {
  WarpState& w = c.warps[agent.warp];
  size_t before = out.size();
  if (w.lanes)
    for (PendingRelease* p : {&(*w.lanes)[lane].narrow, &(*w.lanes)[lane].wide}) {
      if (!p->valid) continue;
      if (!p->clock) p->clock = p->at.clock();
      out.push_back({agent.cta, p->scope, p->clock});
    }
  c.releases.collect(agent.warp, lane, at, release ? scope : Scope::none, out);
  if (release) out.push_back(released(c, agent, lane, at, scope));
  c.published |= out.size() > before;
}

// A strong read of a chain. One that acquires takes what the lane has read there before as well
// (PTX ISA 9.0, 8.8: a strong read followed by an acquire operation on the location), even where
// there is no chain now.
void Causality::take(CtaState& c, Agent agent, uint32_t lane, const Location& at, ChainRef chain,
                     bool acquire, Scope scope) {
  WarpState& w = c.warps[agent.warp];
  if (chain && !mutual(chain->last_scope, chain->last_cta, scope, agent.cta)) chain = nullptr;
  if (!chain && !(acquire && w.lanes)) return;
  LaneState& state = lane_state(c, w, lane);
  const bool again = chain && state.joined == chain && state.joined_count == chain->size() &&
                     state.joined_scope == scope;
  if (acquire && (again || !chain) && !state.acquire.others(at, chain)) return;
  if (chain) state.acquire.add(at, chain, agent.cta);
  if (!acquire) return;
  if (chain) {
    state.joined = chain;
    state.joined_count = chain->size();
    state.joined_scope = scope;
  }
  ClockBuilder all;
  state.acquire.collect_at(at, agent.cta, scope, all);
  if (wide(scope)) state.acquire.clear_at(at); // no later one can take more
  join(c, agent.warp, lane, all.take());
}

void Causality::write(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes,
                      Order order, Scope scope) {
  const Moment now = moment(cta(agent.cta), agent, lane); // a release moves the lane's time on
  each_element(address, bytes, [&](uint64_t a, uint8_t b, uint32_t) {
    write_element(space, now, a, b, order, scope);
  });
}
void Causality::read(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes,
                     Order order, Scope scope) {
  each_element(address, bytes, [&](uint64_t a, uint8_t b, uint32_t) {
    read_element(space, agent, lane, a, b, order, scope);
  });
}
void Causality::read_modify_write(Space space, Agent agent, uint32_t lane, uint64_t address,
                                  uint8_t bytes, Order order, Scope scope, bool reduction,
                                  bool wrote) {
  const Moment now = moment(cta(agent.cta), agent, lane);
  each_element(address, bytes, [&](uint64_t a, uint8_t b, uint32_t) {
    update_element(space, now, a, b, order, scope, reduction, wrote);
  });
}

void Causality::write_element(Space space, const Moment& now, uint64_t address, uint8_t bytes,
                              Order order, Scope scope) {
  const Agent agent{now.cta, now.warp};
  const uint32_t lane = now.lane;
  CtaState& c = cta(agent.cta);
  SyncVariables& vars = variables(space, agent.cta);
  vars.log(address).write(address, bytes, now, scope);
  std::vector<Contribution> published;
  publish(published, c, agent, lane, {space, bytes, address}, releases(order), scope);
  if (published.empty()) {
    if (!vars.empty() && vars.find(address, bytes)) vars.set(address, bytes, nullptr);
    return;
  }
  auto chain = std::make_shared<Chain>();
  for (Contribution& p : published) chain->add(std::move(p));
  chain->last_cta = agent.cta;
  chain->last_scope = scope;
  vars.set(address, bytes, std::move(chain));
}

void Causality::read_element(Space space, Agent agent, uint32_t lane, uint64_t address,
                             uint8_t bytes, Order order, Scope scope) {
  SyncVariables& vars = variables(space, agent.cta);
  if (vars.clear_of(address, address + bytes)) return;
  CtaState& c = cta(agent.cta);
  vars.log(address).read(address, bytes, moment(c, agent, lane), scope);
  if (versions_) vars.versions.observe(address, bytes, moment(c, agent, lane), 0);
  take(c, agent, lane, {space, bytes, address}, vars.find(address, bytes), acquires(order), scope);
}

void Causality::update_element(Space space, const Moment& now, uint64_t address, uint8_t bytes,
                               Order order, Scope scope, bool reduction, bool wrote) {
  const Agent agent{now.cta, now.warp};
  const uint32_t lane = now.lane;
  CtaState& c = cta(agent.cta);
  SyncVariables& vars = variables(space, agent.cta);
  vars.log(address).read_modify_write(address, bytes, now, scope, !reduction, wrote);
  if (versions_ && !wrote) vars.versions.observe(address, bytes, now, 0);
  ChainRef chain = vars.empty() ? nullptr : vars.find(address, bytes);
  const Location at{space, bytes, address};
  if (!reduction) take(c, agent, lane, at, chain, acquires(order), scope);
  if (!wrote) { // a read, which leaves the chain as it is
    if (releases(order)) released(c, agent, lane, at, scope);
    return;
  }
  std::vector<Contribution> published;
  publish(published, c, agent, lane, at, releases(order), scope);
  extend(vars, address, bytes, std::move(chain), agent.cta, scope, std::move(published));
}

void Causality::extend(SyncVariables& vars, uint64_t address, uint8_t bytes, ChainRef chain,
                       uint32_t cta, Scope scope, std::vector<Contribution> published) {
  bool linked = chain && mutual(chain->last_scope, chain->last_cta, scope, cta);
  if (!linked) {
    if (published.empty()) {
      if (chain) vars.set(address, bytes, nullptr);
      return;
    }
    chain = std::make_shared<Chain>();
  } else if (chain->size() >= chain->compact_at) {
    chain = chain->compacted();
  }
  for (Contribution& p : published) chain->add(std::move(p));
  chain->last_cta = cta;
  chain->last_scope = scope;
  vars.set(address, bytes, std::move(chain));
}

// Its turn: what earlier fences publish with it is what counts, not what the thread does next.
LateUpdate Causality::postpone(Agent agent, uint32_t lane, const Location& at, Order order,
                               Scope scope, bool store) {
  CtaState& c = cta(agent.cta);
  LateUpdate update{agent, lane, moment(c, agent, lane), scope, store, {}};
  publish(update.published, c, agent, lane, at, releases(order), scope);
  return update;
}

void Causality::late_update(Space space, uint64_t address, uint8_t bytes, const LateUpdate& update,
                            const void* before) {
  SyncVariables& vars = variables(space, update.agent.cta);
  elements_ = 1;
  remember(vars, address, bytes, before, update.by);
  if (update.store)
    vars.log(address).write(address, bytes, update.by, update.scope);
  else
    vars.log(address).read_modify_write(address, bytes, update.by, update.scope, false, true);
  ChainRef chain = vars.empty() ? nullptr : vars.find(address, bytes);
  if (update.store && chain) vars.set(address, bytes, chain = nullptr);
  extend(vars, address, bytes, std::move(chain), update.agent.cta, update.scope, update.published);
}

// Fences of one instruction do not order its lanes among themselves: all of them take what came
// before, then all of them publish. But one of two fence.sc comes first, so that never each of two
// lanes misses what the other wrote before it: they miss nothing of each other's here, and who
// wants one order of them lets the lanes come one after another.
void Causality::fence(Agent agent, uint32_t lanes, Fence fence, Scope scope) {
  CtaState& c = cta(agent.cta);
  WarpState& w = c.warps[agent.warp];
  if (fence == Fence::sc && versions_ && (lanes & (lanes - 1))) {
    ClockBuilder all;
    for (uint32_t m = lanes; m; m &= m - 1)
      all.add(snapshot(c, agent.cta, agent.warp, uint32_t(std::countr_zero(m))).clock());
    const ClockRef met = all.take();
    c.performed.resize(c.warps.size() * 32);
    for (uint32_t m = lanes; m; m &= m - 1) {
      ClockRef& own = c.performed[agent.warp * 32 + uint32_t(std::countr_zero(m))];
      own = merge(own, met);
    }
  }
  for (uint32_t l = 0; l < 32 && fence != Fence::release; ++l) {
    if (!(lanes >> l & 1) || !w.lanes || (*w.lanes)[l].acquire.empty()) continue;
    PendingAcquire& pending = (*w.lanes)[l].acquire;
    ClockBuilder all;
    pending.collect(agent.cta, scope, all);
    if (wide(scope)) pending.clear();
    join(c, agent.warp, l, all.take());
  }
  if (fence == Fence::sc) sc_fence(c, agent, lanes, scope, true);
  if (fence == Fence::acquire) return;
  for (uint32_t l = 0; l < 32; ++l) {
    if (!(lanes >> l & 1)) continue;
    LaneState& lane = lane_state(c, w, l);
    if (wide(scope)) lane.narrow = PendingRelease{};
    // Named, since g++ 13 finds no assignment from a list of these members.
    (wide(scope) ? lane.wide : lane.narrow) =
        PendingRelease{true, scope, snapshot(c, agent.cta, agent.warp, l), ClockRef()};
  }
  if (fence == Fence::sc) sc_fence(c, agent, lanes, scope, false);
  bump(c, agent.warp, lanes);
}

// Each CTA keeps what all its sc fences published, the launch what the wide ones did: those are
// the fences whose scopes include each other.
void Causality::sc_fence(CtaState& c, Agent agent, uint32_t lanes, Scope scope, bool before) {
  if (before) {
    ClockRef known = wide(scope) ? merge(c.sc, sc_) : c.sc;
    fences_met_ |= bool(known);
    if (!fence_order_) return;
    for (uint32_t l = 0; l < 32; ++l)
      if (lanes >> l & 1) join(c, agent.warp, l, known);
    return;
  }
  WarpState& w = c.warps[agent.warp];
  ClockBuilder all;
  all.add(c.clock);
  all.add(w.clock);
  all.add(cta_key(agent.cta), c.floor);
  all.add(warp_key(agent.cta, agent.warp), w.floor);
  bool whole = lanes == warp_lanes(c, agent.warp) && uniform(c, w);
  if (whole) all.add(warp_key(agent.cta, agent.warp), time(c, w, 0) + 1);
  for (uint32_t l = 0; l < 32; ++l) {
    if (!(lanes >> l & 1)) continue;
    if (!whole) all.add(lane_key(agent.cta, agent.warp, l), time(c, w, l) + 1);
    if (w.lanes) all.add((*w.lanes)[l].clock);
  }
  ClockRef published = all.take();
  c.sc = merge(c.sc, published);
  if (!wide(scope)) return;
  sc_ = merge(sc_, published);
  c.published = true;
}

void Causality::copy_issue(Agent issuer, uint32_t lane, uint32_t number) {
  CtaState& c = cta(issuer.cta);
  CHECK(number % 32 == lane);
  std::unique_ptr<CopyGroup>& group = c.copies[number / 32];
  if (!group) group = std::make_unique<CopyGroup>();
  CHECK(!(group->issued >> lane & 1));
  group->issued |= 1u << lane;
  group->lanes[lane].start = snapshot(c, issuer.cta, issuer.warp, lane);
  if (c.unjoined.empty() || c.unjoined.back().first != c.floor) c.unjoined.emplace_back(c.floor, 0);
  ++c.unjoined.back().second;
  bump(c, issuer.warp, 1u << lane);
}

// Some lane knows that it is complete.
void Causality::mark_joined(CtaState& c, uint32_t number) {
  auto it = c.copies.find(number / 32);
  if (it == c.copies.end()) return;
  CopyGroup& group = *it->second;
  uint32_t bit = 1u << number % 32, floor = group.lanes[number % 32].start.cta_floor;
  CHECK(group.issued & bit);
  if (group.joined & bit) return;
  group.joined |= bit;
  auto at = std::lower_bound(c.unjoined.begin(), c.unjoined.end(), std::pair(floor, 0u));
  CHECK(at != c.unjoined.end() && at->first == floor);
  if (--at->second == 0) c.unjoined.erase(at);
}

void Causality::copy_joined(Agent waiter, uint32_t lane, uint32_t number) {
  CtaState& c = cta(waiter.cta);
  CopyGroup* group = copies(waiter.cta, number / 32);
  if (!group) return; // joined and below a full barrier: known to everybody
  CopyLane& copy = group->lanes[number % 32];
  mark_joined(c, number);
  // Another lane than the issuer learns what the issuer knew and had done when the copy began.
  if (copy.start.warp != waiter.warp || copy.start.lane != lane)
    join(c, waiter.warp, lane, copy.start.clock());
  copy.joins.push_back({waiter.warp, lane, time(c, c.warps[waiter.warp], lane)});
}

} // namespace assay::race
