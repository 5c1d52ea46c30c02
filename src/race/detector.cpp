// The detector's face: accesses go to Front, causality to Causality. See detector.hpp.
#include "race/detector.hpp"

#include "base/check.hpp"
#include "race/front.hpp"

namespace assay::race {

namespace {
uint32_t bytes_of(uint16_t attributes) { return (attributes >> kBytesShift) + 1u; }
} // namespace

struct Detector::State {
  State(const std::vector<LaunchShape>& grids, const Limits& limits) : front(grids, limits) {}
  Front front;
};

Detector::Detector(const std::vector<LaunchShape>& grids, const Limits& limits)
    : state_(std::make_unique<State>(grids, limits)) {}
Detector::~Detector() = default;

void Detector::track(uint64_t base, uint64_t bytes) { state_->front.shadow().track(base, bytes); }

void Detector::cta_begin(uint32_t cta, uint32_t shared_bytes) {
  state_->front.changing().cta_begin(cta);
  if (shared_bytes) state_->front.shadow().shared_begin(cta, shared_bytes);
}

void Detector::cta_end(uint32_t cta) {
  state_->front.changing().cta_end(cta);
  state_->front.shadow().shared_end(cta);
}

void Detector::affine(Space space, Agent agent, uint64_t address, uint32_t pc,
                      uint16_t attributes) {
  if (touched_ && space == Space::global) [[unlikely]]
    touched_->note(address, 32u * bytes_of(attributes), attributes & kWrite);
  state_->front.affine(space, agent, address, pc, attributes);
}
void Detector::broadcast(Space space, Agent agent, uint32_t lanes, uint64_t address, uint32_t pc,
                         uint16_t attributes) {
  if (touched_ && space == Space::global) [[unlikely]]
    touched_->note(address, bytes_of(attributes), attributes & kWrite);
  state_->front.broadcast(space, agent, lanes, address, pc, attributes);
}
void Detector::row_part(Space space, Agent agent, uint32_t lanes, uint64_t base, uint32_t pc,
                        uint16_t attributes) {
  if (touched_ && space == Space::global) [[unlikely]]
    for (uint32_t l = 0; l < 32; ++l)
      if (lanes >> l & 1)
        touched_->note(base + l * bytes_of(attributes), bytes_of(attributes), attributes & kWrite);
  state_->front.row_part(space, agent, lanes, base, pc, attributes);
}
void Detector::access(Space space, Agent agent, uint32_t lanes, const uint64_t* address,
                      const AccessInfo& info, const void* values, uint32_t value_stride,
                      uint32_t silent_lanes) {
  if (touched_ && space == Space::global) [[unlikely]]
    for (uint32_t l = 0; l < 32; ++l)
      if (lanes >> l & 1) {
        if (info.read) touched_->note(address[l], info.bytes, false);
        if (info.write) touched_->note(address[l], info.bytes, true);
      }
  state_->front.access(space, agent, lanes, address, info, values, value_stride, silent_lanes);
}

void Detector::barrier(const BarrierPhase& phase) {
  if (!state_->front.changing().barrier(phase)) return;
  const CtaState& c = *state_->front.causality().find(phase.cta);
  state_->front.shadow().shared_floor(phase.cta, Causality::dead_below(c), c.unjoined.empty());
}
void Detector::arrives_again(Agent agent, uint32_t lanes, uint32_t number) {
  state_->front.changing().arrives_again(agent, lanes, number);
}
void Detector::arrived(Agent agent, uint32_t lanes, uint32_t number) {
  state_->front.changing().arrived(agent, lanes, number);
}
void Detector::warp_sync(Agent agent, uint32_t lanes) {
  state_->front.changing().warp_sync(agent, lanes);
}
void Detector::exited(Agent agent, uint32_t lanes) {
  state_->front.changing().exited(agent, lanes);
}

void Detector::grid_begin(uint32_t grid, const std::vector<uint32_t>& behind) {
  state_->front.changing().grid_begin(grid, behind);
}
void Detector::grid_end(uint32_t grid) { state_->front.changing().grid_end(grid); }
void Detector::grid_waited(Agent agent, uint32_t lanes, uint32_t grid) {
  state_->front.changing().grid_waited(agent, lanes, grid);
}

void Detector::strong_write(Space space, Agent agent, uint32_t lane, uint64_t address,
                            uint8_t bytes, Order order, Scope scope) {
  state_->front.changing().write(space, agent, lane, address, bytes, order, scope);
}
void Detector::strong_read(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes,
                           Order order, Scope scope) {
  state_->front.changing().read(space, agent, lane, address, bytes, order, scope);
}
void Detector::read_modify_write(Space space, Agent agent, uint32_t lane, uint64_t address,
                                 uint8_t bytes, Order order, Scope scope, bool reduction,
                                 bool wrote) {
  state_->front.changing().read_modify_write(space, agent, lane, address, bytes, order, scope,
                                             reduction, wrote);
}
void Detector::replacing(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes,
                         const void* before) {
  state_->front.changing().replacing(space, agent, lane, address, bytes, before);
}
uint32_t Detector::missable(Space space, Agent agent, uint32_t lane, uint64_t address,
                            uint8_t bytes) const {
  return state_->front.causality().missable(space, agent, lane, address, bytes);
}
void Detector::elements(uint32_t n) { state_->front.changing().elements(n); }
void Detector::missed(Space space, Agent agent, uint64_t address, uint8_t bytes, uint32_t back,
                      uint8_t* value) const {
  state_->front.causality().missed(space, agent, address, bytes, back, value);
}
Side Detector::missed_write(Space space, Agent agent, uint64_t address, uint8_t bytes,
                            uint32_t back) const {
  const Moment& m = state_->front.causality().missed_write(space, agent, address, bytes, back);
  Side side{{m.cta, m.warp}, m.lane, {}, m.time, state_->front.causality().grid_of(m.cta)};
  side.info.pc = m.pc;
  side.info.bytes = bytes;
  side.info.write = side.info.strong = true;
  return side;
}
void Detector::overtaken(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes) {
  state_->front.changing().overtaken(space, agent, lane, address, bytes);
}
void Detector::missing_read(Space space, Agent agent, uint32_t lane, uint64_t address,
                            uint8_t bytes, Order order, Scope scope, uint32_t back) {
  state_->front.changing().missing_read(space, agent, lane, address, bytes, order, scope, back);
}
LateUpdateRef Detector::postpone(Agent agent, uint32_t lane, Space space, uint64_t address,
                                 uint8_t bytes, Order order, Scope scope, bool store) {
  return std::make_shared<LateUpdate>(
      state_->front.changing().postpone(agent, lane, {space, bytes, address}, order, scope, store));
}
bool Detector::precedes(const LateUpdate& update, Agent agent, uint32_t lane) const {
  return state_->front.causality().precedes(update.by, agent, lane);
}
void Detector::late_update(Space space, uint64_t address, uint8_t bytes, const LateUpdate& update,
                           const void* before) {
  state_->front.changing().late_update(space, address, bytes, update, before);
}
void Detector::fence(Agent agent, uint32_t lanes, Fence fence, Scope scope) {
  state_->front.changing().fence(agent, lanes, fence, scope);
}

bool Detector::fences_met() const { return state_->front.causality().fences_met(); }

void Detector::copy_issue(Agent issuer, uint32_t lane, uint32_t copy) {
  CHECK(copy >= kCopyAgent);
  state_->front.changing().copy_issue(issuer, lane, copy - kCopyAgent);
}
void Detector::copy_joined(Agent waiter, uint32_t lane, uint32_t copy) {
  CHECK(copy >= kCopyAgent);
  state_->front.changing().copy_joined(waiter, lane, copy - kCopyAgent);
}

void Detector::mbarrier_init(uint32_t cta, uint32_t offset) {
  state_->front.changing().mbarrier_init(cta, offset);
}
void Detector::mbarrier_arrive(Agent agent, uint32_t lanes, uint32_t offset, bool release) {
  state_->front.changing().mbarrier_arrive(agent, lanes, offset, release);
}
void Detector::mbarrier_expect(Agent agent, uint32_t lane, uint32_t offset) {
  state_->front.changing().mbarrier_expect(agent, lane, offset);
}
void Detector::mbarrier_complete(uint32_t cta, uint32_t offset) {
  state_->front.changing().mbarrier_complete(cta, offset);
}
bool Detector::mbarrier_waited(Agent agent, uint32_t lanes, uint32_t offset, bool acquire) {
  return state_->front.changing().mbarrier_waited(agent, lanes, offset, acquire);
}
void Detector::copy_arrives(Agent issuer, uint32_t lane, uint32_t copy,
                            const std::vector<uint32_t>& copies) {
  CHECK(copy >= kCopyAgent);
  state_->front.changing().copy_arrives(issuer, lane, copy - kCopyAgent, copies);
}
void Detector::mbarrier_copy_arrived(uint32_t cta, uint32_t copy, uint32_t offset, bool counted) {
  CHECK(copy >= kCopyAgent);
  state_->front.changing().mbarrier_copy_arrived(cta, copy - kCopyAgent, offset, counted);
}
const char* Detector::phase_doubt() const { return state_->front.causality().phase_doubt(); }

const std::vector<Conflict>& Detector::conflicts() const {
  return state_->front.conflicts().list();
}
const std::vector<uint64_t>& Detector::conflict_counts() const {
  return state_->front.conflicts().counts();
}
bool Detector::overflowed() const {
  return state_->front.shadow().overflowed() || state_->front.conflicts().overflowed();
}
uint64_t Detector::shadow_bytes() const { return state_->front.shadow().bytes(); }

uint32_t Detector::time(Agent agent, uint32_t lane) const {
  const CtaState* c = state_->front.causality().find(agent.cta);
  if (!c) return 0;
  if (agent.warp >= kCopyAgent) {
    uint32_t number = agent.warp - kCopyAgent;
    const CopyGroup* copies = state_->front.causality().copies(agent.cta, number / 32);
    return copies ? copies->lanes[number % 32].start.time : 0;
  }
  return agent.warp < c->warps.size() ? Causality::time(*c, c->warps[agent.warp], lane) : 0;
}

} // namespace assay::race
