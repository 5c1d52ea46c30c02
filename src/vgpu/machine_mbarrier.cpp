// mbarrier objects of the own CTA: init, inval, arrive in all forms, transaction counts, waits.
// Source: PTX ISA 9.0, section 9.7.13.15; what orders and what is a defect: docs/concurrency.md.
//
// An object stands beside the bytes that it occupies. Those count as never written while it lives,
// so that a load of them and a store to them are noticed without a test at every access: the one
// reads what nobody wrote, the other leaves the mark of a written byte. A state holds the number of
// the phase and, in programs that ask for it, the count that was pending.
//
// A thread at a wait for a phase that is not complete is suspended until it is. That is a legal
// schedule of test_wait as well, which could have been executed later. Where nobody else can run
// all who are suspended are told "no"; if all of them would but ask again, it is a deadlock.
#include "base/check.hpp"
#include "base/hash.hpp"
#include "vgpu/stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace assay::vgpu {

namespace {

constexpr uint32_t kMostCount =
    (1 << 20) - 1;                   // 9.7.13.15.3: of expected and pending count, of bytes
constexpr uint32_t kPhaseShift = 20; // of a state; below: the pending count

// Lanes of `all` whose object is at the same place as the first one's.
uint32_t at_one_place(const uint64_t* offset, uint32_t all) {
  uint32_t first = uint32_t(__builtin_ctz(all)), same = 0;
  for (uint32_t m = all; m; m &= m - 1)
    if (offset[__builtin_ctz(m)] == offset[first]) same |= m & (0u - m);
  return same;
}

} // namespace

// What a state looks like is the machine's choice, but not the part that mbarrier.pending_count
// takes out of it.
uint64_t Machine::state_mask() const {
  constexpr uint64_t kMasks[] = {0, ~uint64_t(0), 0x5a5a5a5b5a5a5a5b, 0x0123456789abcdef};
  const Variation& v = options.vary; // a wait knows not which arrival its state is of
  if (v.pc != ir::kNoIndex && (v.launch != launch_index || v.pc >= program.ops.size() ||
                               program.ops[v.pc].code != ir::OpCode::mbarrier_arrive))
    return 0;
  const uint64_t mask = kMasks[options.vary.open & 3];
  return counts_pending ? mask >> kPhaseShift << kPhaseShift : mask;
}

// Where the lanes' objects lie; false: a fault.
bool Machine::mbarrier_places(Warp& w, uint32_t pc, const ir::Op& op, char* regs, const char* what,
                              uint64_t* offset) {
  const ir::MemInfo& info = program.mem[op.c];
  for (uint32_t m = w.exec_bits; m; m &= m - 1) {
    uint32_t i = uint32_t(__builtin_ctz(m));
    uint64_t a = lane_address(op, info, regs, i, *w.group);
    if (hash_path) path(a);
    Resolved at = resolve(w, pc, i, info.space, a, 8, 8, false, what);
    if (!at.region) return false;
    if (at.region != &w.cta->shared) {
      fault(w, pc, i, EventKind::illegal_operation,
            fmt::format("{} on an address outside of shared memory", what));
      return false;
    }
    offset[i] = at.offset;
  }
  return true;
}

// For the detector an operation on a live object is a strong read of its bytes: any number of them
// agree, and plain accesses do not. Initialisation is a plain write. Its opposite is a strong one:
// a wait that has been answered cannot be harmed by it, and who may come later is seen when the
// order is turned round (cuda::pipeline relies on a match.sync between the two, which orders no
// memory).
void Machine::observe_mbarrier(race::Agent who, uint32_t pc, uint32_t lanes,
                               const uint64_t* offset) {
  if (!detector) return;
  const ir::OpCode code = program.ops[pc].code;
  bool init = code == ir::OpCode::mbarrier_init, inval = code == ir::OpCode::mbarrier_inval;
  race::AccessInfo access;
  access.pc = pc;
  access.bytes = 8;
  access.write = init || inval;
  access.read = !init && !inval;
  access.atomic = access.strong = !init;
  access.scope = init ? race::Scope::none : race::Scope::cta;
  const uint64_t values[32] = {};
  detector->access(race::Space::shared, who, lanes, offset, access, values, 8, 0);
}

// A load has met bytes that nobody has written; are they those of an object?
bool Machine::reads_mbarrier(Warp& w, uint32_t pc, uint32_t lane, uint64_t offset) {
  const ir::Op& op = program.ops[pc];
  uint64_t bytes = 16; // of ldmatrix rows
  if (op.code == ir::OpCode::ld || op.code == ir::OpCode::atom || op.code == ir::OpCode::red)
    bytes = uint64_t(program.mem[op.c].bytes) * program.mem[op.c].vector;
  auto at = w.cta->mbarriers.lower_bound(uint32_t(offset < 7 ? 0 : offset - 7));
  if (at == w.cta->mbarriers.end() || at->first >= offset + bytes) return false;
  fault(w, pc, lane, EventKind::illegal_operation,
        "a plain access to an mbarrier: its bytes are no data before mbarrier.inval", true,
        "shared memory", at->first);
  return true;
}

MbarrierObject* Machine::live_mbarrier(Warp& w, uint32_t pc, uint32_t lane, uint32_t offset,
                                       const char* what) {
  Cta& cta = *w.cta;
  auto it = cta.mbarriers.find(offset);
  const char* wrong = nullptr;
  if (it == cta.mbarriers.end()) {
    wrong = "where no mbarrier was initialised";
  } else {
    bool written = !cta.shared.init;
    for (uint32_t k = 0; k < 8 && !written; ++k)
      written = init_test(cta.shared.init, offset + k, 1);
    if (written) wrong = "where a plain store has overwritten the mbarrier";
  }
  if (!wrong) return &it->second;
  fault(w, pc, lane, EventKind::illegal_operation, fmt::format("{} {}", what, wrong), true,
        "shared memory", offset);
  return nullptr;
}

void Machine::mbarrier_init(Warp& w, uint32_t pc, const ir::Op& op, char* regs,
                            const uint64_t* offset) {
  Cta& cta = *w.cta;
  observe_mbarrier(agent(w), pc, w.exec_bits, offset);
  for (uint32_t m = w.exec_bits; m; m &= m - 1) {
    uint32_t i = uint32_t(__builtin_ctz(m)), count = lanes<uint32_t>(regs, op.b).v[i];
    auto at = uint32_t(offset[i]);
    std::string wrong;
    if (count == 0 || count > kMostCount)
      wrong =
          fmt::format("mbarrier.init with a count of {} (1 to {} are allowed)", count, kMostCount);
    else if (cta.mbarriers.count(at))
      wrong =
          "mbarrier.init of an mbarrier that is initialised already: mbarrier.inval comes first";
    if (!wrong.empty()) {
      fault(w, pc, i, EventKind::illegal_operation, wrong, true, "shared memory", at);
      return;
    }
    MbarrierObject& b = cta.mbarriers[at];
    b.expected = b.pending = count;
    b.pc = pc;
    b.warp = w.index;
    b.lane = i;
    // From now on its bytes are nobody's.
    cta.shared.init = cta.shared_init.data();
    for (uint32_t k = at; k < at + 8; ++k) cta.shared_init[k >> 6] &= ~(uint64_t(1) << (k & 63));
    std::memset(cta.shared.host + at, 0, 8);
    if (detector) detector->mbarrier_init(cta.index, at);
  }
  w.stored = true;
}

void Machine::mbarrier_inval(Warp& w, uint32_t pc, const uint64_t* offset) {
  observe_mbarrier(agent(w), pc, w.exec_bits, offset);
  for (uint32_t m = w.exec_bits; m; m &= m - 1) {
    uint32_t i = uint32_t(__builtin_ctz(m));
    auto at = uint32_t(offset[i]);
    if (!live_mbarrier(w, pc, i, at, "mbarrier.inval")) return;
    w.cta->mbarriers.erase(at);
    wake_mbarrier(*w.cta, at);
  }
  w.stored = true;
}

bool Machine::arrive_at(Warp& w, uint32_t pc, uint32_t lane, uint32_t offset, uint32_t count,
                        uint16_t flags) {
  MbarrierObject* b = live_mbarrier(w, pc, lane, offset, "mbarrier.arrive");
  if (!b) return false;
  std::string wrong;
  if (count == 0 || count > kMostCount)
    wrong =
        fmt::format("an arrival on an mbarrier counts {} (1 to {} are allowed)", count, kMostCount);
  else if (count > b->pending)
    wrong =
        fmt::format("an arrival on an mbarrier counts {}, but only {} of {} arrivals of phase {} "
                    "are missing",
                    count, b->pending, b->expected, b->phase);
  else if (flags & ir::kNoComplete && count == b->pending && b->tx == 0)
    wrong = "mbarrier.arrive.noComplete completes the phase";
  if (!wrong.empty()) {
    fault(w, pc, lane, EventKind::illegal_operation, wrong, true, "shared memory", offset);
    return false;
  }
  b->pending -= count;
  if (flags & ir::kDrop) b->expected -= std::min(b->expected, count);
  return b->pending == 0 && b->tx == 0;
}

bool Machine::complete_phase(Cta& cta, uint32_t offset) {
  MbarrierObject& b = cta.mbarriers.at(offset);
  if (b.pending || b.tx) return false;
  ++b.phase;
  b.pending = b.expected;
  std::memcpy(cta.shared.host + offset, &b.phase, sizeof b.phase); // so that who polls it sees
  if (detector) detector->mbarrier_complete(cta.index, offset);
  wake_mbarrier(cta, offset);
  changed = true;
  return true;
}

void Machine::wake_mbarrier(Cta& cta, uint32_t offset) {
  for (auto& w : cta.warps)
    for (Group& g : w->groups)
      if (g.state == GroupState::at_mbarrier && g.mbarrier == offset)
        set_state(*w, g, GroupState::ready);
}

void Machine::mbarrier_arrive(Warp& w, uint32_t pc, const ir::Op& op, char* regs,
                              const uint64_t* offset) {
  observe_mbarrier(agent(w), pc, w.exec_bits, offset);
  const bool release = program.mem[op.c].semantics == ir::Semantics::release;
  uint32_t told = 0; // lanes whose arrival at one place the detector has still to hear of
  uint32_t place = 0;
  if (op.d != ir::kNoSlot && first_open_use(pc)) {
    open_value(w, pc, uint32_t(__builtin_ctz(w.exec_bits)),
               "relies on what is in the state that mbarrier.arrive returns", false);
    outcome.unspecified.back().opaque = true;
  }
  auto tell = [&] {
    if (told && detector) detector->mbarrier_arrive(agent(w), told, place, release);
    told = 0;
  };
  // Who of the lanes is last, the policy says where that makes a difference.
  uint32_t first = uint32_t(__builtin_ctz(w.exec_bits));
  bool descending = false;
  auto it = w.cta->mbarriers.find(uint32_t(offset[first]));
  if (it != w.cta->mbarriers.end() && w.active_count > 1 &&
      (counts_pending || it->second.pending < w.active_count))
    descending = policy.choose(schedule::Choice::lane_order, w.active_count) == 1;
  for (uint32_t k = 0; k < 32; ++k) {
    uint32_t i = descending ? 31 - k : k;
    if (!(w.exec_bits >> i & 1)) continue;
    auto at = uint32_t(offset[i]);
    MbarrierObject* b = live_mbarrier(w, pc, i, at, "mbarrier.arrive");
    if (!b) return;
    uint32_t n = op.b == ir::kNoSlot ? 1 : lanes<uint32_t>(regs, op.b).v[i], count = n;
    if (op.flags & ir::kExpectTx) {
      count = 1;
      b->tx += n;
      if (n > kMostCount || b->tx > int64_t(kMostCount)) {
        fault(w, pc, i, EventKind::illegal_operation,
              "mbarrier.arrive.expect_tx: more bytes than an mbarrier can count", true,
              "shared memory", at);
        return;
      }
    }
    if (told && place != at) tell();
    if (op.d != ir::kNoSlot)
      lanes<uint64_t>(regs, op.d).v[i] =
          (uint64_t(b->phase) << kPhaseShift | (counts_pending ? b->pending : 0)) ^ state_mask();
    bool last = arrive_at(w, pc, i, at, count, op.flags);
    if (abort) return;
    told |= 1u << i;
    place = at;
    if (!last) continue;
    tell();
    complete_phase(*w.cta, at);
  }
  tell();
  w.stored = true;
}

// expect_tx and complete_tx; a phase may complete by the latter.
void Machine::mbarrier_tx(Warp& w, uint32_t pc, const ir::Op& op, char* regs,
                          const uint64_t* offset) {
  observe_mbarrier(agent(w), pc, w.exec_bits, offset);
  const bool completes = op.flags & ir::kCompleteTx;
  for (uint32_t m = w.exec_bits; m; m &= m - 1) {
    uint32_t i = uint32_t(__builtin_ctz(m)), n = lanes<uint32_t>(regs, op.b).v[i];
    auto at = uint32_t(offset[i]);
    MbarrierObject* b = live_mbarrier(w, pc, i, at, "a transaction count of an mbarrier");
    if (!b) return;
    b->tx += completes ? -int64_t(n) : int64_t(n);
    if (n > kMostCount || std::abs(b->tx) > int64_t(kMostCount)) {
      fault(w, pc, i, EventKind::illegal_operation,
            "a transaction count of an mbarrier is out of its range", true, "shared memory", at);
      return;
    }
    if (detector && completes) detector->mbarrier_arrive(agent(w), 1u << i, at, false);
    if (detector && !completes) detector->mbarrier_expect(agent(w), i, at);
    if (completes) complete_phase(*w.cta, at);
  }
  w.stored = true;
}

void Machine::mbarrier(Warp& w, uint32_t pc, const ir::Op& op, char* regs) {
  using C = ir::OpCode;
  uint64_t offset[32];
  if (op.code == C::mbarrier_pending) {
    reads_pending = true;
    for (uint32_t m = w.exec_bits; m; m &= m - 1) {
      int i = __builtin_ctz(m);
      lanes<uint32_t>(regs, op.d).v[i] = uint32_t(lanes<uint64_t>(regs, op.a).v[i]) & kMostCount;
    }
    return;
  }
  const char* what = op.code == C::mbarrier_init    ? "mbarrier.init"
                     : op.code == C::mbarrier_inval ? "mbarrier.inval"
                     : op.code == C::mbarrier_tx    ? "a transaction count of an mbarrier"
                                                    : "mbarrier.arrive";
  if (!mbarrier_places(w, pc, op, regs, what, offset)) return;
  switch (op.code) {
  case C::mbarrier_init: return mbarrier_init(w, pc, op, regs, offset);
  case C::mbarrier_inval: return mbarrier_inval(w, pc, offset);
  case C::mbarrier_tx: return mbarrier_tx(w, pc, op, regs, offset);
  default: return mbarrier_arrive(w, pc, op, regs, offset);
  }
}

// -- waits ----------------------------------------------------------------------------------------

// Of which lanes is the phase that they ask for complete? On a fault the launch ends.
uint32_t Machine::phases_complete(Warp& w, uint32_t pc, const ir::Op& op, char* regs,
                                  const uint64_t* offset) {
  uint32_t complete = 0;
  for (uint32_t m = w.exec_bits; m; m &= m - 1) {
    uint32_t i = uint32_t(__builtin_ctz(m));
    auto at = uint32_t(offset[i]);
    MbarrierObject* b = live_mbarrier(w, pc, i, at, "a wait for an mbarrier");
    if (!b) return 0;
    std::string wrong;
    if (op.flags & ir::kParity) {
      uint32_t parity = lanes<uint32_t>(regs, op.b).v[i];
      if (parity > 1) wrong = fmt::format("a phase parity of {}, which is neither 0 nor 1", parity);
      if ((b->phase & 1) != parity) complete |= 1u << i;
    } else {
      uint64_t phase = (lanes<uint64_t>(regs, op.b).v[i] ^ state_mask()) >> kPhaseShift;
      if (phase > b->phase)
        wrong = "a wait with a state that no arrival on this mbarrier has returned";
      else if (phase + 1 < b->phase)
        wrong =
            fmt::format("a wait for phase {} of an mbarrier that is in phase {}: only the present "
                        "phase and the one before it can be waited for",
                        phase, b->phase);
      if (phase < b->phase) complete |= 1u << i;
    }
    if (!wrong.empty()) {
      fault(w, pc, i, EventKind::illegal_operation, wrong, true, "shared memory", at);
      return 0;
    }
  }
  return complete;
}

bool Machine::mbarrier_wait(Warp& w, uint32_t pc, const ir::Op& op, char* regs) {
  Cta& cta = *w.cta;
  Group& g = *w.group;
  uint64_t offset[32];
  if (!mbarrier_places(w, pc, op, regs, "a wait for an mbarrier", offset)) return false;
  uint32_t complete = phases_complete(w, pc, op, regs, offset), waits = w.exec_bits & ~complete;
  if (abort) return false;
  const bool retried = op.flags & ir::kRetried;
  if (waits && !g.refused) {
    // Where it would only ask again, to be told so at once is the same as to wait.
    if (retried || policy.choose(schedule::Choice::refuse, 2) == 0) {
      g.mbarrier = uint32_t(offset[__builtin_ctz(waits)]);
      for (auto& c : cta.copies) {
        if (!c->arrives) continue;
        for (uint32_t m = c->lanes; m; m &= m - 1)
          if (c->destination[__builtin_ctz(m)] == g.mbarrier) {
            demand(cta, *c);
            break;
          }
      }
      set_state(w, g, GroupState::at_mbarrier);
      return false;
    }
  }
  g.refused = false;
  observe_mbarrier(agent(w), pc, w.exec_bits, offset);
  bool known = waits == 0, acquire = program.mem[op.c].semantics == ir::Semantics::acquire;
  auto& answer = lanes<int32_t>(regs, op.d);
  for (uint32_t m = w.exec_bits; m; m &= m - 1) {
    int i = __builtin_ctz(m);
    answer.v[i] = complete >> i & 1 ? -1 : 0;
  }
  for (uint32_t left = complete; left && detector;) {
    uint32_t same = at_one_place(offset, left);
    left &= ~same;
    auto at = uint32_t(offset[__builtin_ctz(same)]);
    known &= detector->mbarrier_waited(agent(w), same, at, acquire);
  }
  asks_phases |= !retried && !known;
  if (waits) {
    const uint8_t* cells[32];
    for (uint32_t m = w.exec_bits; m; m &= m - 1)
      cells[__builtin_ctz(m)] = cta.shared.host + offset[__builtin_ctz(m)];
    polled(w, pc, w.exec_bits, cells, 8);
  }
  return true;
}

// Nobody else can run. Those who wait are told "no", but for those who would only ask again; false:
// that cannot help, since they have come back to the same state and nothing has changed.
bool Machine::refuse_waits() {
  bool any = false, hopeless = !changed;
  for (const auto& m : stage.machines) m->look_at_waits(any, hopeless);
  changed = false;
  if (!any || (runnable.empty() && hopeless)) return false;
  for (const auto& m : stage.machines) m->refuse();
  return true;
}

void Machine::look_at_waits(bool& any, bool& hopeless) {
  for (auto& cta : resident)
    for (auto& w : cta->warps)
      for (Group& g : w->groups) {
        if (g.state != GroupState::at_mbarrier || program.ops[g.pc].flags & ir::kRetried) continue;
        any = true;
        uint64_t state = hash64(w->registers.data(), w->registers.size() * sizeof w->registers[0],
                                uint64_t(g.regs_base) << 32 | g.pc);
        hopeless &= state == g.refused_state;
        g.refused_state = state;
      }
}

void Machine::refuse() {
  for (auto& cta : resident)
    for (auto& w : cta->warps)
      for (Group& g : w->groups) {
        if (g.state != GroupState::at_mbarrier || program.ops[g.pc].flags & ir::kRetried) continue;
        g.refused = true;
        set_state(*w, g, GroupState::ready);
      }
}

} // namespace assay::vgpu
