// Launches that overlap: when a grid may start and what its end means to others. Sources: see
// launch_order.hpp; PTX ISA 9.0, 9.7.13.13 (griddepcontrol): the dependents may be scheduled once
// all CTAs of the grid have issued .launch_dependents (by any of their threads, the first time
// counts) or have completed; .wait suspends a thread until all prerequisite grids have completed
// and their memory operations are performed and visible to it. Of a chain of programmatic launches
// it is the one before that a launch waits for: whether that one waited for those before itself is
// that one's business, and its threads' knowledge passes on.
#include "vgpu/stage.hpp"

namespace assay::vgpu {

bool Machine::may_start() const {
  if (stage.alone()) return true;
  for (uint32_t other : stage.order.behind[launch_index]) {
    if (other < stage.first) continue;
    const Machine& m = *stage.machines[other - stage.first];
    if (m.finished_ctas < m.total_ctas) return false;
  }
  const uint32_t primary = stage.order.primary[launch_index];
  if (primary == kNoLaunch) return true;
  const Machine& m = *stage.machines[primary - stage.first];
  return m.released_ctas == m.total_ctas;
}

// Launches share the device: each takes of it what its residents are of what it alone could have.
bool Machine::has_room() const {
  if (stage.alone()) return resident.size() < resident_limit;
  double taken = 1.0 / double(resident_limit);
  for (const auto& m : stage.machines)
    taken += double(m->resident.size()) / double(m->resident_limit);
  return taken < 1.0 + 1e-9 || !residents();
}

size_t Machine::residents() const {
  size_t all = 0;
  for (const auto& m : stage.machines) all += m->resident.size();
  return all;
}

uint32_t Machine::without_room() const {
  uint32_t all = 0;
  for (const auto& m : stage.machines)
    if (m->may_start()) all += m->not_started.left();
  return all;
}

void Machine::begin_grid() {
  begun = true;
  if (stage.alone()) return;
  std::vector<uint32_t> behind;
  for (uint32_t other : stage.order.behind[launch_index])
    if (other >= stage.first) behind.push_back(other - stage.first);
  detector->grid_begin(launch_index - stage.first, behind);
}

void Machine::end_grid() {
  if (detector) detector->grid_end(launch_index - stage.first);
  if (float_sums) float_sums->settle(nullptr, nullptr);
  changed = true;
  for (const auto& m : stage.machines)
    if (stage.order.primary[m->launch_index] == launch_index)
      for (auto& cta : m->resident)
        for (auto& w : cta->warps) m->wake_async(*w);
}

bool Machine::grid_dependents(Warp& w, const ir::Op& op) {
  if (!op.imm) {
    released_ctas += !w.cta->let_go;
    w.cta->let_go = true;
    return true;
  }
  const uint32_t primary = stage.order.primary[launch_index];
  if (primary == kNoLaunch) return true; // all that it depends on has ended before it started
  const Machine& m = *stage.machines[primary - stage.first];
  if (m.finished_ctas < m.total_ctas) {
    set_state(w, *w.group, GroupState::at_async);
    return false;
  }
  if (detector) detector->grid_waited(agent(w), w.exec_bits, primary - stage.first);
  return true;
}

} // namespace assay::vgpu
