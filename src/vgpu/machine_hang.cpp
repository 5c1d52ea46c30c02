// Hangs: the proof that a launch runs for ever (docs/concurrency.md, "Progress").
//
// When every agent has come back often without changing anything, each runs once more, as far as a
// slice goes. If then no byte has changed and all registers, local memory, program counters and
// waits are what they were, then the launch is where it was before the round: the same round can
// follow for ever, and it is fair. What would make the next round another one speaks against a
// hang: a clock that was read, a write that a strong read missed, a copy under way, memory
// allocated or text printed. Loops that count their turns do not repeat; they end by the step
// budget.
#include "vgpu/stage.hpp"

#include "base/hash.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay::vgpu {

namespace {
uint64_t hash_of(const Group& g, uint64_t seed) {
  uint64_t h = hash64(&g.lanes, sizeof g.lanes, seed);
  const uint64_t where[] = {g.pc, uint64_t(g.state), uint64_t(g.regs_base) << 32 | g.local_base,
                            g.joins.size()};
  h = hash64(where, sizeof where, h);
  for (const Frame& f : g.frames) h = hash64(&f.return_pc, sizeof f.return_pc, h);
  return h;
}
} // namespace

uint64_t Machine::state_hash() const {
  uint64_t h = residents();
  for (const auto& m : stage.machines)
    for (const auto& cta : m->resident) {
      h = h * 31 + cta->index;
      for (const auto& w : cta->warps) {
        for (const Group& g : w->groups)
          if (g.state != GroupState::dead) h = hash_of(g, h);
        h = hash64(w->registers.data(), w->registers.size() * sizeof w->registers[0], h);
        h = hash64(w->local.data(), w->local.size() * sizeof w->local[0], h);
      }
    }
  return h;
}

uint64_t Machine::unrepeatable_events() const {
  uint64_t all = 0;
  for (const auto& m : stage.machines) all += m->unrepeatable + m->heap_next + m->printed.size();
  return all;
}

// Comes to each warp and runs once whatever of it can run then; false: something changed. Lanes may
// part and join meanwhile: what joins others runs with them, and what can run behind the end of the
// round has its turn in the next one.
bool Machine::full_round() {
  std::vector<Warp*> all;
  for (const auto& m : stage.machines)
    for (auto& cta : m->resident)
      for (auto& w : cta->warps) all.push_back(w.get());
  const uint32_t live = live_ctas;
  std::vector<schedule::AgentId> ready;
  for (const Warp* w : all) {
    ready.clear();
    for (const Group& g : w->groups)
      if (g.state == GroupState::ready) ready.push_back(id_of(*w, g));
    for (schedule::AgentId id : ready) {
      const size_t at = runnable.find(id);
      if (at == runnable.size()) continue;
      run_agent(runnable.start(at), ~0u);
      if (abort || live_ctas != live || w->stored || w->progressed) return false;
    }
  }
  return !runnable.empty() && !holds_back();
}

// Copies, and what exploration keeps from its turn: there the next step is not one that a round
// has shown.
bool Machine::holds_back() const {
  if (!stage.late.empty() || !stage.held_fences.empty()) return true;
  for (schedule::AgentId id : runnable.ids())
    if (id.unit >= schedule::kCopyUnit) return true;
  for (const auto& m : stage.machines)
    for (const auto& cta : m->resident) {
      if (!cta->copies.empty()) return true;
      for (const auto& w : cta->warps)
        for (const Group& g : w->groups)
          if (g.state == GroupState::held) return true;
    }
  return false;
}

bool Machine::hangs() {
  if (++stalls < next_hang_check) return false;
  next_hang_check = stalls + stalls / 4 + 1;
  if (holds_back()) return false;
  const uint64_t changing = unrepeatable_events();
  // The first round takes those that the policy stopped amid their loops to where a slice ends.
  // Lanes that part and join, and warps that meet, take several rounds to be where they were.
  constexpr int kRounds = 16;
  uint64_t states[kRounds];
  for (int k = 0; k < kRounds; ++k) {
    if (!full_round() || unrepeatable_events() != changing) return false;
    states[k] = state_hash();
    if (std::find(states, states + k, states[k]) != states + k) return true;
  }
  return false;
}

// Where a group that can run, but never leaves its loop, stands.
Place Machine::loop_place(const Warp& w, const Group& g) {
  const uint32_t lane = uint32_t(__builtin_ctz(g.lanes));
  if (g.state != GroupState::ready) return place(w, g.pc, lane, waits_for(w, g));
  if (!g.poll || !g.poll->spinning) return place(w, g.pc, lane, "goes round a loop");
  Place at = place(w, g.poll->pc, lane,
                   fmt::format("polls {} bytes that nobody changes any more", g.poll->bytes));
  auto within = [&](const Region& r, const uint8_t* cell) {
    return r.host && cell >= r.host && cell < r.host + r.size;
  };
  const uint8_t* cell = g.poll->cells.front().at;
  for (const Region* r : memory.regions())
    if (within(*r, cell)) {
      at.has_address = true;
      at.region = memory.name(*r);
      at.offset = uint64_t(cell - r->host);
    }
  if (within(w.cta->reserved, cell)) {
    at.has_address = true;
    at.region = "shared";
    at.offset = uint64_t(cell - w.cta->shared.host);
  }
  return at;
}

void Machine::report_hang() {
  Event event{EventKind::hang, "", {}};
  event.starved = without_room() != 0;
  uint32_t groups = 0, waiting = 0;
  for (const bool ready : {true, false}) // those that can run come first
    for (const auto& m : stage.machines)
      for (auto& cta : m->resident)
        for (auto& w : cta->warps)
          for (const Group& g : w->groups) {
            if (g.state == GroupState::dead || (g.state == GroupState::ready) != ready) continue;
            ++(ready ? groups : waiting);
            if (event.places.size() < 64) event.places.push_back(m->loop_place(*w, g));
          }
  event.message =
      fmt::format("{} group{} of threads can never leave {} loop{}", groups, groups == 1 ? "" : "s",
                  groups == 1 ? "its" : "their", groups == 1 ? "" : "s");
  if (waiting)
    event.message += fmt::format(", and {} wait{} for them", waiting, waiting == 1 ? "s" : "");
  event.message += ": a full round of all of them changed nothing";
  if (event.starved)
    event.message += fmt::format(" ({} blocks have not started, since {} are resident)",
                                 without_room(), residents());
  outcome.events.push_back(std::move(event));
  abort = true;
}

// A CTA starts because the resident ones wait: for one that starts after them?
void Machine::note_residency() {
  if (residency_noted || launch.cooperative || policy.admit_all() || !arms.empty()) return;
  for (schedule::AgentId id : runnable.ids()) {
    if (id.unit >= schedule::kCopyUnit) return;
    for (const Group& g : table.find(id.cta)->warps[id.unit / 32]->groups)
      if (g.state == GroupState::ready && g.lanes >> (id.unit % 32) & 1 &&
          (!g.poll || !g.poll->spinning))
        return;
  }
  if (runnable.empty()) return;
  residency_noted = true;
  const schedule::AgentId id = runnable[0];
  const Warp& w = *table.find(id.cta)->warps[id.unit / 32];
  for (const Group& g : w.groups)
    if (g.state == GroupState::ready && g.lanes >> (id.unit % 32) & 1)
      note("relies-on-residency",
           "blocks wait for others that start after them, so that all of them must be resident at "
           "once",
           w.machine->loop_place(w, g));
}

} // namespace assay::vgpu
