// Values that are no function of a thread's own: special registers, addresses of the stack, and
// what the manual leaves open. Sources: PTX ISA 9.0, chapter 10 (special registers), 9.7.1
// (division by zero), 9.7.9.6 (shfl from a lane that takes no part), 9.7.17 (stack).
//
// Clocks tick with the instructions that the launch has executed; warps and CTAs have the places of
// their indices. Other runs of a job (RunOptions::vary) let the clocks go faster and the places be
// others, or let a long time pass between two looks at a clock, and give other values to what is
// open, so that a result that follows them shows.
#include "ir/special.hpp"
#include "vgpu/machine.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace assay::vgpu {

namespace {

template <class F> void per_lane32(Warp& w, char* regs, ir::Slot d, F f) {
  for (uint32_t i = 0; i < 32; ++i)
    if (w.exec_bits >> i & 1) lanes<uint32_t>(regs, d).v[i] = f(i);
}
template <class F> void per_lane64(Warp& w, char* regs, ir::Slot d, F f) {
  for (uint32_t i = 0; i < 32; ++i)
    if (w.exec_bits >> i & 1) lanes<uint64_t>(regs, d).v[i] = f(i);
}

} // namespace

uint32_t Machine::special_value(const Warp& w, ir::Special s, uint32_t lane) const {
  using S = ir::Special;
  const Cta& cta = *w.cta;
  const auto& l = launch;
  auto cluster_of = [&](int k) { return cta.id[k] / l.cluster[k]; };
  auto in_cluster = [&](int k) { return cta.id[k] % l.cluster[k]; };
  auto clusters = [&](int k) { return (l.grid[k] + l.cluster[k] - 1) / l.cluster[k]; };
  uint32_t k = 0;
  switch (s) {
  case S::tid_x:
  case S::tid_y:
  case S::tid_z: return w.tid[uint32_t(s) - uint32_t(S::tid_x)].v[lane];
  case S::ntid_x:
  case S::ntid_y:
  case S::ntid_z: return l.block[uint32_t(s) - uint32_t(S::ntid_x)];
  case S::laneid: return lane;
  case S::ctaid_x:
  case S::ctaid_y:
  case S::ctaid_z: return cta.id[uint32_t(s) - uint32_t(S::ctaid_x)];
  case S::nctaid_x:
  case S::nctaid_y:
  case S::nctaid_z: return l.grid[uint32_t(s) - uint32_t(S::nctaid_x)];
  case S::is_explicit_cluster: {
    bool explicit_ = l.cluster[0] * l.cluster[1] * l.cluster[2] > 1;
    return explicit_ ? ~0u : 0u; // a predicate
  }
  case S::clusterid_x:
  case S::clusterid_y:
  case S::clusterid_z: return cluster_of(int(s) - int(S::clusterid_x));
  case S::nclusterid_x:
  case S::nclusterid_y:
  case S::nclusterid_z: return clusters(int(s) - int(S::nclusterid_x));
  case S::cluster_ctaid_x:
  case S::cluster_ctaid_y:
  case S::cluster_ctaid_z: return in_cluster(int(s) - int(S::cluster_ctaid_x));
  case S::cluster_nctaid_x:
  case S::cluster_nctaid_y:
  case S::cluster_nctaid_z: return l.cluster[int(s) - int(S::cluster_nctaid_x)];
  case S::cluster_ctarank:
    return in_cluster(0) + l.cluster[0] * (in_cluster(1) + l.cluster[1] * in_cluster(2));
  case S::cluster_nctarank: return l.cluster[0] * l.cluster[1] * l.cluster[2];
  case S::lanemask_eq: return 1u << lane;
  case S::lanemask_le: return (2u << lane) - 1;
  case S::lanemask_lt: return (1u << lane) - 1;
  case S::lanemask_ge: return ~((1u << lane) - 1);
  case S::lanemask_gt: k = (2u << lane) - 1; return ~k;
  case S::dynamic_smem_size: return l.dynamic_shared;
  default: return 0;
  }
}

// What time and placement decide. Identifiers stay unique and below their limits in each variation.
uint64_t Machine::scheduled_value(const Warp& w, ir::Special s, uint8_t variation) {
  using S = ir::Special;
  uint32_t sms = job.device.sms;
  if (s == S::warpid) return variation == 0 ? w.index : variation == 1 ? w.index + 5 : 63 - w.index;
  if (s == S::smid) {
    uint32_t sm = w.cta->index % sms;
    return variation == 0 ? sm : variation == 1 ? (sm + sms / 2 + 1) % sms : sms - 1 - sm;
  }
  ++unrepeatable;
  uint64_t time = instructions + w.instructions + ++virtual_time;
  if (s == S::pm) return variation ? time * variation : 0;
  // With the third a limit of any length has passed at the next look, in 32 bits too.
  if (variation == 3)
    time += virtual_time * 0x10034567891;
  else if (variation)
    time = variation == 1 ? 3 * time + 0x100001003 : 37 * time + 0x3000000007;
  return s == S::clock_hi || s == S::globaltimer_hi ? time >> 32 : time;
}

// What the device and its driver decide.
uint64_t Machine::machine_value(ir::Special s, uint8_t variation) const {
  using S = ir::Special;
  switch (s) {
  case S::nsmid: return job.device.sms + 8 * variation;
  case S::nwarpid: return 64 + 16 * variation;
  case S::gridid: return launch_index + 1 + uint64_t(variation) * 1000;
  case S::total_smem_size:
  case S::aggr_smem_size: return shared_bytes + 1024 * variation; // rounded up to some unit
  case S::reserved_smem_cap: return kReservedBytes + 1024 * variation;
  default: return variation ? 4096u * variation : 0;
  }
}

bool Machine::first_open_use(uint32_t pc) {
  if (open_seen.empty()) open_seen.resize(program.ops.size());
  bool first = !open_seen[pc];
  open_seen[pc] = true;
  return first;
}

void Machine::open_value(const Warp& w, uint32_t pc, uint32_t lane, const std::string& what,
                         bool by_time) {
  auto& list = by_time ? outcome.time_reads : outcome.unspecified;
  list.push_back({by_time ? EventKind::nondeterministic : EventKind::unspecified_value,
                  what,
                  {place(w, pc, lane, what)}});
}

uint8_t Machine::variation_at(uint32_t pc, bool by_time) const {
  const Variation& v = options.vary;
  bool here = v.pc == ir::kNoIndex || (v.pc == pc && v.launch == launch_index);
  return !here ? 0 : by_time ? v.time : v.open;
}

uint64_t Machine::open_pattern(uint8_t variation, uint32_t bits) {
  uint64_t v = variation == 1 ? 0x5a5a5a5b5a5a5a5b : variation == 2 ? 6 : 0;
  if (bits == 1) return variation == 1 ? 0xffffffff : 0;
  return bits >= 64 ? v : v & ((uint64_t(1) << bits) - 1);
}

// Lanes read a register that they have not written, or have used an operand that leaves d open.
void Machine::open_register(Warp& w, uint32_t pc, const ir::Op& op, char* regs, uint32_t lanes_) {
  if (first_open_use(pc))
    open_value(w, pc, uint32_t(__builtin_ctz(lanes_)),
               op.code == ir::OpCode::check_divisor ? "divides an integer by zero"
               : op.code == ir::OpCode::check_base  ? "asks fns for a base above 31"
                                                    : "reads a register that it has not written",
               false);
  uint8_t variation = variation_at(pc, false);
  if (!variation) return;
  auto bits = uint32_t(op.imm);
  uint64_t value = open_pattern(variation, bits);
  for (uint32_t left = lanes_; left; left &= left - 1) {
    uint32_t i = uint32_t(__builtin_ctz(left));
    if (bits <= 32)
      lanes<uint32_t>(regs, op.d).v[i] = uint32_t(value);
    else if (bits == 64)
      lanes<uint64_t>(regs, op.d).v[i] = value;
    else
      lanes<unsigned __int128>(regs, op.d).v[i] = (unsigned __int128)(value) << 64 | value;
  }
}

void Machine::special_register(Warp& w, uint32_t pc, const ir::Op& op, char* regs) {
  using S = ir::Special;
  auto s = ir::Special(op.imm & 255);
  // The workspace of a cooperative launch, as cooperative_groups.h puts it together; without one
  // that library takes zero for the answer that there is none.
  const uint64_t index = op.imm >> 8;
  if (s == S::envreg && (index == 1 || index == 2)) {
    uint64_t workspace = launch.cooperative ? runtime.workspace(launch_index) : 0;
    per_lane32(w, regs, op.d,
               [&](uint32_t) { return uint32_t(index == 1 ? workspace >> 32 : workspace); });
    return;
  }
  bool by_time = ir::is_decided_by_schedule(s);
  if (s == S::reserved_smem) {
    const uint32_t offsets[] = {reserved_begin, reserved_begin + kReservedForLibraries,
                                reserved_begin, reserved_begin + kReservedBytes};
    per_lane32(w, regs, op.d, [&](uint32_t) { return offsets[index & 3]; });
    return;
  }
  if (!by_time && !ir::is_decided_by_machine(s)) {
    per_lane32(w, regs, op.d, [&](uint32_t i) { return special_value(w, s, i); });
    return;
  }
  // Where only loops that wait for an mbarrier use the clock, nothing follows it.
  if (!(op.flags & ir::kRetried) && first_open_use(pc))
    open_value(w, pc, uint32_t(__builtin_ctz(w.exec_bits)),
               "reads " + ir::spelling(s, uint32_t(op.imm >> 8)), by_time);
  uint8_t variation = variation_at(pc, by_time);
  uint64_t value = by_time ? scheduled_value(w, s, variation) : machine_value(s, variation);
  if (ir::is_wide(s))
    per_lane64(w, regs, op.d, [&](uint32_t) { return value; });
  else
    per_lane32(w, regs, op.d, [&](uint32_t) { return uint32_t(value); });
}

// Lanes may run apart at any time, so that any part of the group with the own lane in it is an
// answer: in two halves, or each lane alone.
void Machine::active_mask(Warp& w, uint32_t pc, const ir::Op& op, char* regs) {
  if (first_open_use(pc))
    open_value(w, pc, uint32_t(__builtin_ctz(w.exec_bits)), "asks for the active mask", true);
  uint8_t variation = variation_at(pc, true);
  per_lane32(w, regs, op.d, [&](uint32_t i) {
    uint32_t even = 0x55555555, part = variation == 0   ? kAllLanes
                                       : variation == 1 ? (i & 1 ? ~even : even)
                                                        : 1u << i;
    return w.exec_bits & part;
  });
}

namespace {

bool is_in_space(Memory& memory, uint64_t address, ptx::Space space) {
  uint64_t window = ir::window_of(address);
  switch (space) {
  case ptx::Space::local: return window == ir::kLocalWindow;
  case ptx::Space::constant: {
    Region* r = memory.find(address);
    return r && r->read_only;
  }
  case ptx::Space::global: return window >= ir::kFirstBufferWindow || window == kWorkspaceWindow;
  case ptx::Space::param:
  case ptx::Space::param_entry: return window == ir::kParamWindow;
  default: return window == ir::kSharedWindow;
  }
}

} // namespace

// alloca, stacksave, stackrestore. What alloca hands out lies behind all frames; its first word
// holds each lane's top.
void Machine::stack(Warp& w, uint32_t pc, const ir::Op& op, char* regs) {
  constexpr uint64_t kStack = 256 << 10, kFirst = kStack + 16;
  bool fresh = w.local.size() * 4 < kFirst;
  local_reserve(w, kFirst);
  auto& top = w.local[kStack / 4];
  if (fresh)
    for (auto& v : top.v) v = uint32_t(kFirst);
  if (op.code == ir::OpCode::stacksave) {
    per_lane64(w, regs, op.d, [&](uint32_t i) { return top.v[i]; });
    return;
  }
  const auto& a = lanes<uint64_t>(regs, op.a);
  if (op.code == ir::OpCode::stackrestore) {
    for (uint32_t i = 0; i < 32; ++i)
      if (w.exec_bits >> i & 1) top.v[i] = uint32_t(ir::local_offset(ir::offset_of(a.v[i])));
    return;
  }
  uint64_t align = op.imm ? op.imm : 16, end = 0, at[32] = {};
  for (uint32_t i = 0; i < 32; ++i) {
    if (!(w.exec_bits >> i & 1)) continue;
    at[i] = (top.v[i] + align - 1) / align * align;
    uint64_t size = std::min<uint64_t>(a.v[i], uint64_t(1) << 30);
    end = std::max(end, at[i] + size);
    top.v[i] = uint32_t(at[i] + size);
  }
  if (!local_reserve(w, end)) {
    fault(w, pc, uint32_t(__builtin_ctz(w.exec_bits)), EventKind::illegal_operation,
          "stack overflow: alloca exceeds the thread's stack");
    return;
  }
  per_lane64(w, regs, op.d, [&](uint32_t i) { return at[i] + ir::local_tag(w.index * 32 + i); });
}

void Machine::special(Warp& w, uint32_t pc, const ir::Op& op, char* regs) {
  using C = ir::OpCode;
  switch (op.code) {
  case C::special: return special_register(w, pc, op, regs);
  case C::frame_address: {
    uint64_t a = w.group->local_base + op.imm;
    per_lane64(w, regs, op.d, [&](uint32_t i) { return a + ir::local_tag(w.index * 32 + i); });
    return;
  }
  case C::activemask: return active_mask(w, pc, op, regs);
  case C::isspacep:
    per_lane32(w, regs, op.d, [&](uint32_t i) {
      uint64_t address = lanes<uint64_t>(regs, op.a).v[i];
      return is_in_space(memory, address, ptx::Space(op.imm)) ? ~0u : 0u;
    });
    return;
  default: return stack(w, pc, op, regs);
  }
}

} // namespace assay::vgpu
