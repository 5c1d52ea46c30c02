// CTAs set up and taken down. What the launch fixes (constants, parameters, thread indices) stays
// in a warp's registers when its storage serves the next CTA; what a kernel may read before it
// writes it is zeroed, so that no value comes from whoever ran there before.
#include "ir/special.hpp"
#include "vgpu/stage.hpp"

#include <cstring>

namespace assay::vgpu {

namespace {

template <class T> void fill(char* regs, ir::Slot slot, T value, uint32_t lanes_) {
  auto& to = lanes<T>(regs, slot);
  if (lanes_ == kAllLanes)
    for (T& v : to.v) v = value;
  else
    for (uint32_t i = 0; i < 32; ++i)
      if (lanes_ >> i & 1) to.v[i] = value;
}

// Zeroes what may be read before it is written. Where a lane's bytes lie depends on the register's
// width, which is how often its slot stands in the list; other lanes may be under way in the frame.
void clear_undefined(const ir::Function& f, char* regs, uint32_t lanes_) {
  const std::vector<ir::Slot>& all = f.undefined;
  for (size_t i = 0, n = 0; i < all.size(); i += n) {
    for (n = 1; i + n < all.size() && all[i + n] == all[i];) ++n;
    char* to = regs + all[i] * kSlotBytes;
    if (lanes_ == kAllLanes) {
      std::memset(to, 0, n * kSlotBytes);
      continue;
    }
    for (uint32_t left = lanes_; left; left &= left - 1)
      std::memset(to + uint32_t(__builtin_ctz(left)) * 4 * n, 0, 4 * n);
  }
}
} // namespace

// Shared memory of every CTA that the system keeps for itself: PTX ISA 9.0, 10.31 (%reserved_smem_
// offset_*), and since sm_80 it is 1 KiB (CUDA C++ Programming Guide, compute capability 8.x). The
// manual leaves its layout open. The offset that ends in _1 is the one from which
// cooperative_groups.h keeps the barriers and slots of groups of several warps, 288 bytes
// (details/memory.h); other bytes are nobody's. Here it lies behind the kernel's own memory with a
// gap between, so that what runs over the end of the one never gets into the other unseen.
//
// Nothing is known of what it holds at the start: that library clears a group's bits before it uses
// them (sync_warps_reset in details/sync.h).
void Machine::place_reserved_memory() {
  shared_bytes = program.static_shared_bytes + launch.dynamic_shared;
  all_shared_bytes = shared_bytes;
  for (const ir::Op& op : program.ops)
    if (op.code == ir::OpCode::special && ir::Special(op.imm & 255) == ir::Special::reserved_smem)
      reserved_begin = (shared_bytes / kReservedBytes + 1) * kReservedBytes;
  if (reserved_begin) all_shared_bytes = reserved_begin + kReservedBytes;
}

void Machine::prepare_ctas() {
  using Source = ir::Constant::Source;
  for (const ir::Constant& c : program.functions[0].constants)
    if (c.source == Source::special && !ir::is_same_in_all_ctas(ir::Special(c.value)))
      cta_constants.push_back(c);
  shared_poison.resize(all_shared_bytes);
  poison_fill(shared_poison.data(), all_shared_bytes, poison_of_memory(options));
}

void Machine::fill_constant(Warp& w, char* regs, const ir::Constant& c, uint32_t lanes_) {
  uint64_t value = c.value;
  if (c.source == ir::Constant::Source::special) {
    auto s = ir::Special(c.value);
    if (s <= ir::Special::tid_z) {
      auto& to = lanes<uint32_t>(regs, c.slot);
      for (uint32_t i = 0; i < 32; ++i)
        if (lanes_ >> i & 1) to.v[i] = w.tid[c.value].v[i];
      return;
    }
    bool by_lane = s == ir::Special::laneid ||
                   (s >= ir::Special::lanemask_eq && s <= ir::Special::lanemask_gt);
    if (by_lane) {
      for (uint32_t i = 0; i < 32; ++i)
        if (lanes_ >> i & 1) lanes<uint32_t>(regs, c.slot).v[i] = special_value(w, s, i);
      return;
    }
    value = special_value(w, s, 0);
  } else if (c.source == ir::Constant::Source::parameter) {
    value = 0;
    std::memcpy(&value, parameters.data() + c.value, c.wide ? 8 : 4);
  }
  if (c.wide)
    fill<uint64_t>(regs, c.slot, value, lanes_);
  else
    fill<uint32_t>(regs, c.slot, uint32_t(value), lanes_);
}

void Machine::enter_function(Warp& w, Group& g, uint32_t function, uint32_t regs_base,
                             uint32_t local_base) {
  const ir::Function& f = program.functions[function];
  g.function = uint16_t(function);
  g.regs_base = regs_base;
  g.local_base = local_base;
  g.pc = f.entry;
  if (w.registers.size() < regs_base + f.slots) w.registers.resize(regs_base + f.slots);
  char* regs = reinterpret_cast<char*>(w.registers.data()) + regs_base * 128u;
  // The whole warp enters together, as it does at the start: no lane has anything to lose.
  uint32_t lanes_ = w.group_count == 1 ? kAllLanes : g.lanes;
  for (const ir::Constant& c : f.constants) fill_constant(w, regs, c, lanes_);
  clear_undefined(f, regs, lanes_);
}

// A warp whose storage has served another CTA of this launch keeps what is the same for both.
void Machine::start_warp(Cta& cta, uint32_t index) {
  bool fresh = !cta.warps[index];
  if (fresh) cta.warps[index] = std::make_unique<Warp>();
  Warp& w = *cta.warps[index];
  uint32_t count = std::min(32u, threads - index * 32);
  w.live = count == 32 ? kAllLanes : (1u << count) - 1;
  if (fresh) {
    w.machine = this;
    w.program = &program;
    w.cta = &cta;
    w.index = index;
    w.groups.reserve(32);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      uint32_t t = index * 32 + lane;
      w.tid[0].v[lane] = t % launch.block[0];
      w.tid[1].v[lane] = t / launch.block[0] % launch.block[1];
      w.tid[2].v[lane] = t / launch.block[0] / launch.block[1];
    }
  } else if (cta.next_copy) {
    std::memset(w.copy_group, 0, sizeof w.copy_group);
    w.untracked.clear();
  }
  w.seen = 0;
  w.local.clear();
  w.local_init.clear();
  Group* g = new_group(w);
  g->lanes = w.live;
  if (fresh) {
    enter_function(w, *g, 0, 0, 0);
  } else {
    const ir::Function& kernel = program.functions[0];
    g->function = 0;
    g->regs_base = g->local_base = 0;
    g->pc = kernel.entry;
    char* regs = reinterpret_cast<char*>(w.registers.data());
    for (const ir::Constant& c : cta_constants) fill_constant(w, regs, c, kAllLanes);
    clear_undefined(kernel, regs, kAllLanes);
  }
  if (program.functions[0].local_bytes) local_reserve(w, program.functions[0].local_bytes);
  set_state(w, *g, GroupState::ready);
}

void Machine::start_cta(uint32_t index) {
  std::unique_ptr<Cta> made;
  if (!spare.empty()) {
    made = std::move(spare.back());
    spare.pop_back();
  } else {
    made = std::make_unique<Cta>();
    made->shared_lines = with_slack(all_shared_bytes);
    made->barriers.resize(16);
    made->warps.resize(warps_per_cta);
  }
  Cta& cta = *made;
  cta.index = first_cta + index;
  cta.let_go = false;
  cta.id[0] = index % launch.grid[0];
  cta.id[1] = index / launch.grid[0] % launch.grid[1];
  cta.id[2] = index / launch.grid[0] / launch.grid[1];
  cta.finished = false;
  cta.live_warps = warps_per_cta;
  cta.live_lanes = threads;
  if (all_shared_bytes)
    std::memcpy(behind_slack(cta.shared_lines), shared_poison.data(), all_shared_bytes);
  cta.shared_init.assign((all_shared_bytes + 63) / 64 + 8, 0);
  cta.shared = {};
  cta.shared.host = behind_slack(cta.shared_lines);
  cta.shared.size = shared_bytes;
  cta.shared.init = cta.shared_init.data();
  cta.shared.tracked = detector != nullptr;
  cta.shared.space = race::Space::shared;
  cta.reserved = cta.shared;
  cta.reserved.size = all_shared_bytes;
  for (; cta.open_barriers; cta.open_barriers &= cta.open_barriers - 1)
    cta.barriers[size_t(__builtin_ctz(cta.open_barriers))].open = false;
  for (Cta::CountedUse& use : cta.counted) use = {};
  cta.used_plainly = cta.arrived_only = 0;
  if (detector && !begun) begin_grid();
  if (detector) detector->cta_begin(cta.index, all_shared_bytes);
  table.insert(cta.index, &cta);
  resident.push_back(std::move(made));
  ++live_ctas;
  for (uint32_t i = 0; i < warps_per_cta; ++i) start_warp(cta, i);
  cta.copies.clear();
  cta.done_copies.clear();
  cta.mbarriers.clear();
  cta.next_copy = 0;
  changed = true;
}

void Machine::finish_cta(Cta& cta) {
  for (size_t i = 0; i < cta.copies.size() && !abort; ++i) {
    Copy& c = *cta.copies[i];
    if (!c.held && c.demanded && !c.waits_for)
      runnable.erase({cta.index, schedule::kCopyUnit + c.seq});
    perform_copy(cta, c); // in the order of issue: whatever follows it comes later
  }
  cta.copies.clear();
  if (float_sums) float_sums->settle(cta.shared.host, cta.shared.host + cta.shared.size);
  std::erase_if(stage.late, [&](const LateWrite& late) {
    return late.region == &cta.shared || late.region == &cta.reserved;
  });
  if (detector) detector->cta_end(cta.index);
  cta.finished = true;
  --live_ctas;
  released_ctas += !cta.let_go;
  if (++finished_ctas == total_ctas && !stage.alone()) end_grid();
}

void Machine::retire(Cta& cta) {
  table.erase(cta.index);
  for (auto& c : resident)
    if (c.get() == &cta) {
      spare.push_back(std::move(c));
      c = std::move(resident.back());
      resident.pop_back();
      break;
    }
  // A CTA has finished: the next may start, whatever the others do.
  admit();
}

} // namespace assay::vgpu
