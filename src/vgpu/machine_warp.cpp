// Warp-synchronous operations: gathering (meet), shuffles, votes, matches, reductions.
// Source: PTX ISA 9.0, sections 9.7.9 (shfl), 9.7.13 (vote, match, redux, elect, bar.warp.sync).
// Lanes meet on (mask, operation, qualifiers), wherever they stand; values travel through the
// deposit, so that groups at different instructions can exchange them.
#include "base/check.hpp"
#include "vgpu/frames.hpp"
#include "vgpu/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace assay::vgpu {

namespace {
// Copies what `g` brings to the meeting into its own deposit.
void put_deposit(Group& g, const ir::Op& op, char* regs) {
  if (!g.deposit) g.deposit = std::make_unique<Lanes<uint64_t>>();
  if (op.b == ir::kNoSlot) return;
  for (uint32_t i = 0; i < 32; ++i)
    if (g.lanes >> i & 1)
      g.deposit->v[i] =
          op.imm >> 32 & 1 ? lanes<uint64_t>(regs, op.b).v[i] : lanes<uint32_t>(regs, op.b).v[i];
}
} // namespace

bool Machine::meet_arrive(Warp& w, const Exec* e, char* regs) {
  uint32_t pc = uint32_t(e - w.code);
  const ir::Op& op = program.ops[pc];
  Group& g = *w.group;
  g.pc = pc;
  uint32_t first = uint32_t(__builtin_ctz(g.lanes)), mask = 0; // 0: all live lanes
  if (op.a != ir::kNoSlot) {
    const auto& masks = lanes<uint32_t>(regs, op.a);
    mask = masks.v[first];
    uint32_t same = 0;
    for (uint32_t i = 0; i < 32; ++i) {
      if (!(g.lanes >> i & 1)) continue;
      if (!(masks.v[i] >> i & 1)) {
        fault(w, pc, i, EventKind::invalid_lane_mask,
              fmt::format("member mask {:#010x} omits the executing lane {}", masks.v[i], i));
        return false;
      }
      if (masks.v[i] == mask) same |= 1u << i;
    }
    // Lanes with another mask meet others: they stay before the operation as a group of their own.
    if (same != g.lanes) diverge(w, same, pc, pc, ir::kNoIndex);
  }
  put_deposit(g, op, regs);
  g.meet_mask = mask;
  g.meet_key = op.imm & 0xffffffff;
  set_state(w, g, GroupState::at_meet);
  check_meets(w);
  return w.group->state == GroupState::ready;
}

void Machine::check_meets(Warp& w) {
  for (bool again = true; again;) {
    again = false;
    for (Group& g : w.groups) {
      if (g.state != GroupState::at_meet) continue;
      uint32_t wanted = (g.meet_mask ? g.meet_mask : kAllLanes) & w.live, there = 0;
      for (Group& o : w.groups)
        if (o.state == GroupState::at_meet && o.meet_key == g.meet_key &&
            o.meet_mask == g.meet_mask)
          there |= o.lanes;
      if (wanted & ~there) continue;
      complete_meet(w, g.meet_mask, g.meet_key);
      again = true;
      break;
    }
  }
}

void Machine::complete_meet(Warp& w, uint32_t mask, uint64_t key) {
  Lanes<uint64_t> all{};
  uint32_t from = 0;
  for (Group& o : w.groups)
    if (o.state == GroupState::at_meet && o.meet_key == key && o.meet_mask == mask) {
      from |= o.lanes;
      for (uint32_t i = 0; i < 32; ++i)
        if (o.lanes >> i & 1) all.v[i] = o.deposit->v[i];
    }
  bool apart = false, barrier = false;
  for (Group& g : w.groups) {
    if (g.state != GroupState::at_meet || g.meet_key != key || g.meet_mask != mask) continue;
    for (Group& o : w.groups)
      if (&o != &g && o.state == GroupState::at_meet && o.meet_key == key && o.meet_mask == mask &&
          o.pc == g.pc && same_frames(o, g)) {
        bool was_running = w.group == &o;
        merge(w, g, o);
        if (was_running) w.group = &g;
      }
    *g.deposit = all;
    g.deposit_lanes = from;
    g.has_deposit = true;
    g.pc += 1;
    apart |= g.lanes != from;
    barrier = program.ops[g.pc].code == ir::OpCode::bar_warp_sync;
    // It stands before the operation itself, which is no scheduling point of its own.
    set_state(w, g, GroupState::ready);
  }
  // Groups that stay apart go on one after the other; they are ordered now, and once, or what the
  // first does next would come before what the second does.
  if (detector && barrier && apart) detector->warp_sync(agent(w), from);
}

namespace {

uint32_t shuffle_source(uint32_t mode, uint32_t lane, uint32_t b, uint32_t c, bool& inside) {
  // PTX ISA 9.0, 9.7.9.6: segment from the clamp operand's bits 8..12, bounds per mode.
  uint32_t bval = b & 31, cval = c & 31, seg = c >> 8 & 31;
  uint32_t max_lane = (lane & seg) | (cval & ~seg), min_lane = lane & seg;
  int32_t j = 0;
  switch (mode) {
  case 0:
    j = int32_t(lane) - int32_t(bval);
    inside = j >= int32_t(max_lane);
    break;
  case 1:
    j = int32_t(lane + bval);
    inside = j <= int32_t(max_lane);
    break;
  case 2:
    j = int32_t(lane ^ bval);
    inside = j <= int32_t(max_lane);
    break;
  default:
    j = int32_t(min_lane | (bval & ~seg));
    inside = j <= int32_t(max_lane);
    break;
  }
  return inside ? uint32_t(j) & 31 : lane;
}

template <class T, class F> T reduce(const Lanes<uint64_t>& v, uint32_t mask, F f) {
  T r{};
  bool first = true;
  for (uint32_t i = 0; i < 32; ++i)
    if (mask >> i & 1) {
      r = first ? T(v.v[i]) : f(r, T(v.v[i]));
      first = false;
    }
  return r;
}

uint32_t redux_float(const Lanes<uint64_t>& v, uint32_t mask, uint64_t imm) {
  // redux.f32: min or max, NaN inputs dropped unless .NaN, .abs first (PTX ISA 9.0, 9.7.13.7).
  bool max = (imm & 7) == 2, abs = imm >> 6 & 1, nan_wins = imm >> 7 & 1, any = false;
  float r = 0;
  for (uint32_t i = 0; i < 32; ++i) {
    if (!(mask >> i & 1)) continue;
    uint32_t bits = uint32_t(v.v[i]) & (abs ? 0x7fffffffu : 0xffffffffu);
    float x = std::bit_cast<float>(bits);
    if (x != x) {
      if (nan_wins) return 0x7fffffffu;
      continue;
    }
    bool less = x < r || (x == r && std::signbit(x) && !std::signbit(r));
    if (!any || (max ? !less && x != r : less) || (max && x == r && !std::signbit(x))) r = x;
    any = true;
  }
  return any ? std::bit_cast<uint32_t>(r) : 0x7fffffffu;
}

uint32_t redux_value(const Lanes<uint64_t>& v, uint32_t mask, uint64_t imm) {
  if (imm >> 5 & 1) return redux_float(v, mask, imm);
  bool is_signed = imm >> 4 & 1;
  switch (imm & 7) {
  case 0: return reduce<uint32_t>(v, mask, [](uint32_t a, uint32_t b) { return a + b; });
  case 1:
    return is_signed
               ? uint32_t(
                     reduce<int32_t>(v, mask, [](int32_t a, int32_t b) { return std::min(a, b); }))
               : reduce<uint32_t>(v, mask, [](uint32_t a, uint32_t b) { return std::min(a, b); });
  case 2:
    return is_signed
               ? uint32_t(
                     reduce<int32_t>(v, mask, [](int32_t a, int32_t b) { return std::max(a, b); }))
               : reduce<uint32_t>(v, mask, [](uint32_t a, uint32_t b) { return std::max(a, b); });
  case 3: return reduce<uint32_t>(v, mask, [](uint32_t a, uint32_t b) { return a & b; });
  case 4: return reduce<uint32_t>(v, mask, [](uint32_t a, uint32_t b) { return a | b; });
  default: return reduce<uint32_t>(v, mask, [](uint32_t a, uint32_t b) { return a ^ b; });
  }
}

uint32_t vote_value(const Lanes<uint64_t>& in, uint32_t mask, const ir::Op& op) {
  uint32_t ballot = 0;
  for (uint32_t k = 0; k < 32; ++k) {
    bool set = (in.v[k] & 1) != uint64_t((op.flags & ir::kNegate) != 0);
    if (mask >> k & 1 && set) ballot |= 1u << k;
  }
  switch (op.imm) {
  case 0: return ballot == mask ? ~0u : 0u;
  case 1: return ballot ? ~0u : 0u;
  case 2: return ballot == mask || !ballot ? ~0u : 0u;
  default: return ballot;
  }
}

// Lane i holds row i/4, columns 2(i%4), +1 of the transposed matrix.
uint32_t movmatrix_value(const Lanes<uint64_t>& in, uint32_t i) {
  uint32_t row = i / 4, column = 2 * (i % 4), value = 0;
  for (uint32_t k = 0; k < 2; ++k) {
    uint32_t source_row = column + k, source = source_row * 4 + row / 2;
    value |= (uint32_t(in.v[source]) >> (16 * (row & 1)) & 0xffff) << (16 * k);
  }
  return value;
}

} // namespace

// What lane i gets. A source lane that takes no part, or that the lane's own mask omits, gives an
// unpredictable value (9.7.9.6): its register here, the own one if it has exited.
uint32_t Machine::shuffle(Warp& w, uint32_t pc, const ir::Op& op, char* regs, uint32_t i,
                          const Lanes<uint64_t>& in) {
  bool inside = false;
  uint32_t from = shuffle_source(op.imm & 3, i, lanes<uint32_t>(regs, op.b).v[i],
                                 lanes<uint32_t>(regs, op.c).v[i], inside);
  const ir::Slot* extra = &program.extra[op.imm >> 8];
  uint32_t members = lanes<uint32_t>(regs, extra[1]).v[i] & w.deposit_lanes;
  if (extra[0] != ir::kNoSlot) lanes<int32_t>(regs, extra[0]).v[i] = inside ? -1 : 0;
  // Who took part may have exited since, if its group went on first.
  auto value = uint32_t((w.live | w.deposit_lanes) >> from & 1 ? in.v[from] : in.v[i]);
  if (members >> from & 1) return value;
  if (first_open_use(pc))
    open_value(w, pc, i,
               fmt::format("takes a value by shfl from lane {}, which takes no part", from), false);
  uint8_t variation = variation_at(pc, false);
  return variation ? uint32_t(open_pattern(variation, 32)) : value;
}

// PTX ISA 9.0, 9.7.13.14: the same leader for the same mask every time, but which is left open. The
// lowest lane, else the highest, one in the middle, or each in turn.
static uint32_t elected(Machine& m, const Warp& w, uint32_t pc, uint32_t lane, uint32_t members) {
  if ((members & (members - 1)) && m.first_open_use(pc))
    m.open_value(w, pc, lane, "relies on which lane elect.sync elects", false);
  const uint32_t lowest = uint32_t(__builtin_ctz(members)),
                 highest = 31 - uint32_t(__builtin_clz(members));
  const uint8_t variation = m.variation_at(pc, false);
  if (variation >= kElectedLane) { // that lane, where it takes part
    const uint32_t wanted = variation - kElectedLane;
    return members >> wanted & 1 ? wanted : lowest;
  }
  switch (variation) {
  case 1: return highest;
  case 2:
  case 3: {
    uint32_t left = members; // without as many of the lowest as half of the others
    for (int n = __builtin_popcount(members) / 2; n > 0; --n) left &= left - 1;
    return uint32_t(__builtin_ctz(left));
  }
  default: return m.store_descending ? highest : lowest; // as the policy has it: races show then
  }
}

void Machine::warp_synchronous(Warp& w, uint32_t pc, const ir::Op& op, char* regs) {
  using C = ir::OpCode;
  const Lanes<uint64_t> in = w.deposit; // d may be one of the sources
  uint32_t active = w.exec_bits;
  auto mask_of = [&](ir::Slot slot, uint32_t i) {
    return (slot == ir::kNoSlot ? kAllLanes : lanes<uint32_t>(regs, slot).v[i]) & w.deposit_lanes;
  };
  if (op.code == C::bar_warp_sync) {
    if (!detector || w.deposit_lanes & ~active) return; // see complete_meet
    uint32_t left = active;
    while (left) {
      uint32_t mask = mask_of(op.a, uint32_t(__builtin_ctz(left)));
      detector->warp_sync(agent(w), mask);
      left &= ~mask;
    }
    return;
  }
  for (uint32_t i = 0; i < 32; ++i) {
    if (!(active >> i & 1)) continue;
    uint32_t mask = mask_of(op.b, i);
    uint32_t value = 0;
    switch (op.code) {
    case C::shfl: value = shuffle(w, pc, op, regs, i, in); break;
    case C::vote: value = vote_value(in, mask, op); break;
    case C::match: {
      uint32_t equal = 0;
      for (uint32_t k = 0; k < 32; ++k)
        if (mask >> k & 1 && in.v[k] == in.v[i]) equal |= 1u << k;
      bool all = op.imm & 1, whole = equal == mask;
      value = all && !whole ? 0 : equal;
      if (op.c != ir::kNoSlot) lanes<int32_t>(regs, op.c).v[i] = whole ? -1 : 0;
      break;
    }
    case C::redux: value = redux_value(in, mask, op.imm); break;
    case C::elect:
      value = elected(*this, w, pc, i, mask ? mask : 1);
      if (op.c != ir::kNoSlot) lanes<int32_t>(regs, op.c).v[i] = value == i ? -1 : 0;
      break;
    default: value = movmatrix_value(in, i); break;
    }
    if (op.d != ir::kNoSlot) lanes<uint32_t>(regs, op.d).v[i] = value;
  }
}

namespace {

// Elements between the rows of 8x8 matrices and the registers that hold them.
void move_elements(const ir::MemInfo& info, char* regs, uint8_t (&rows)[32][16], bool write) {
  for (uint32_t j = 0; j < info.matrices; ++j)
    for (uint32_t l = 0; l < 32; ++l) {
      auto& reg = lanes<uint32_t>(regs, info.regs[j]).v[l];
      for (uint32_t k = 0; k < 2; ++k) {
        uint32_t row = l / 4, column = 2 * (l % 4) + k;
        if (info.trans) std::swap(row, column);
        uint8_t* cell = rows[j * 8 + row] + column * 2;
        uint16_t half = uint16_t(reg >> (16 * k));
        if (write) {
          std::memcpy(cell, &half, 2);
        } else {
          std::memcpy(&half, cell, 2);
          reg = (reg & ~(0xffffu << (16 * k))) | uint32_t(half) << (16 * k);
        }
      }
    }
}

// The receiving lanes read their elements too.
void receive(race::Detector& detector, race::Agent agent, const ir::MemInfo& info,
             race::AccessInfo access, const uint64_t* address) {
  access.bytes = info.trans ? 2 : 4;
  for (uint32_t j = 0; j < info.matrices; ++j)
    for (uint32_t k = 0; k < (info.trans ? 2u : 1u); ++k) {
      alignas(8) uint64_t element[32];
      for (uint32_t l = 0; l < 32; ++l)
        element[l] = info.trans ? address[j * 8 + 2 * (l % 4) + k] + l / 4 * 2
                                : address[j * 8 + l / 4] + (l % 4) * 4;
      detector.access(race::Space::shared, agent, kAllLanes, element, access, nullptr, 0, 0);
    }
}

} // namespace

void Machine::matrix_memory(Warp& w, uint32_t pc, const ir::Op& op, char* regs) {
  // PTX ISA 9.0, 9.7.14.5.15: lane 8j + r supplies the address of row r of matrix j; lane l holds
  // row l / 4, columns 2(l % 4) and the next, of each matrix (transposed: column and row
  // exchanged).
  const ir::MemInfo& info = program.mem[op.c];
  bool write = op.code == ir::OpCode::stmatrix;
  if (w.exec_bits != kAllLanes) {
    fault(w, pc, uint32_t(__builtin_ctz(w.exec_bits)), EventKind::illegal_operation,
          "a matrix load or store executed without all 32 lanes of the warp");
    return;
  }
  uint8_t rows[32][16];
  alignas(8) uint64_t address[32];
  Resolved at[32];
  uint32_t count = info.matrices * 8u, suppliers = count == 32 ? kAllLanes : (1u << count) - 1;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t a = lane_address(op, info, regs, i, *w.group);
    if (hash_path) path(a);
    at[i] = resolve(w, pc, i, info.space, a, 16, 16, write, write ? "matrix store" : "matrix load");
    if (!at[i].region) return;
    address[i] = at[i].offset;
    if (!write) std::memcpy(rows[i], at[i].region->host + at[i].offset, 16);
    if (!write && at[i].region->init && options.check_init &&
        !init_test(at[i].region->init, at[i].offset, 16))
      uninitialised(w, pc, i, at[i].region, at[i].offset, rows[i], 16);
  }
  move_elements(info, regs, rows, write);
  race::AccessInfo access;
  access.pc = pc;
  access.write = write;
  access.read = !write;
  access.bytes = 16;
  uint32_t silent = 0;
  for (uint32_t i = 0; write && i < count; ++i) {
    if (!std::memcmp(at[i].region->host + at[i].offset, rows[i], 16)) silent |= 1u << i;
  }
  w.stored |= write && silent != suppliers;
  if (detector)
    detector->access(race::Space::shared, agent(w), suppliers, address, access, rows, 16, silent);
  for (uint32_t i = 0; write && i < count; ++i) {
    std::memcpy(at[i].region->host + at[i].offset, rows[i], 16);
    if (at[i].region->init) init_set(at[i].region->init, at[i].offset, 16);
  }
  if (detector && !write) receive(*detector, agent(w), info, access, address);
}

} // namespace assay::vgpu
