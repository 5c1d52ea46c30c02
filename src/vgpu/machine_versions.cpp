// Strong reads that find older values: which writes a read misses, by the choice of exploration or
// of the policy. Which ones it may miss: race/versions.hpp.
#include "vgpu/machine.hpp"
#include "vgpu/stage.hpp"

#include <algorithm>
#include <cstring>

namespace assay::vgpu {

uint32_t Machine::writes_missed(const Warp& w, uint32_t pc, uint32_t lane, race::Space space,
                                uint64_t address, uint32_t bytes) {
  constexpr uint32_t kMostMisses = 4; // of one arm: a loop that polls must find the write at last
  uint32_t n = detector->missable(space, agent(w), lane, address, uint8_t(bytes));
  if (!n) return 0;
  for (ArmState& a : arms) {
    const race::Side& s = a.arm.second;
    if (!a.arm.missed || s.info.pc != pc || s.agent != agent(w) || s.lane != lane ||
        s.time != detector->time(agent(w), lane) || a.arm.address < address ||
        a.arm.address >= address + bytes || a.misses++ >= kMostMisses)
      continue;
    missed(a);
    return n;
  }
  if (!policy.misses_writes()) return 0;
  const uint32_t back = policy.choose(schedule::Choice::version, n + 1);
  constexpr size_t kMostMissed = 64; // that are told
  if (back && options.record_trace && outcome.missed_reads.size() < kMostMissed) {
    Outcome::MissedRead& m = outcome.missed_reads.emplace_back();
    m.launch = stage.first;
    m.choice = outcome.trace.choices.size() - 1;
    m.pair.kind = race::Conflict::Kind::order;
    m.pair.space = space;
    m.pair.address = address;
    m.pair.first = detector->missed_write(space, agent(w), address, uint8_t(bytes), back);
    m.pair.second = {agent(w), lane, m.pair.first.info, detector->time(agent(w), lane)};
    m.pair.second.grid = launch_index - stage.first;
    m.pair.second.info.pc = pc;
    m.pair.second.info.write = m.pair.second.info.atomic = false;
    m.pair.second.info.read = true;
  }
  return back;
}

// Two strong writes of one thread without a fence may take effect in either order: whoever has seen
// the second may yet write, or update, before the first does. So that write, or update, misses the
// first: what it reads is older, and what it writes is overwritten. Only what stores without
// looking can be that late (Explorer::may_miss), and only if nothing has been written there since.
bool Machine::comes_before_store(const Warp& w, uint32_t pc, uint32_t lane, race::Space space,
                                 uint64_t address, uint32_t bytes) {
  for (ArmState& a : arms) {
    const race::Side &first = a.arm.first, &second = a.arm.second;
    if (!a.arm.missed || a.misses || second.info.pc != pc || second.agent != agent(w) ||
        second.lane != lane || second.time != detector->time(agent(w), lane) ||
        a.arm.address < address || a.arm.address >= address + bytes ||
        !detector->missable(space, agent(w), lane, address, uint8_t(bytes)))
      continue;
    const race::Side last = detector->missed_write(space, agent(w), address, uint8_t(bytes), 1);
    if (last.info.pc != first.info.pc || last.agent != first.agent || last.lane != first.lane)
      continue;
    ++a.misses;
    missed(a);
    detector->overtaken(space, agent(w), lane, address, uint8_t(bytes));
    return true;
  }
  return false;
}

// Each element from a write of its own: how many of its last ones each misses, in four bits.
uint32_t Machine::load_torn(const Warp& w, uint32_t lane, const ir::MemInfo& info,
                            race::Space space, uint64_t address, uint8_t* value) {
  uint32_t all = 0;
  for (uint32_t k = 0; k < info.vector; ++k, address += info.bytes) {
    const uint32_t n = detector->missable(space, agent(w), lane, address, uint8_t(info.bytes));
    const uint32_t back = n ? policy.choose(schedule::Choice::version, n + 1) : 0;
    if (!back) continue;
    ++unrepeatable;
    all |= back << 4 * k;
    detector->missed(space, agent(w), address, uint8_t(info.bytes), back, value + k * info.bytes);
  }
  return all;
}

} // namespace assay::vgpu
