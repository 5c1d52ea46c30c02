// Atomics: atom and red for every type, operation and scope. Source: PTX ISA 9.0, section 9.7.13.5.
// Lanes of one instruction act one after the other, in an order that the policy chooses when two of
// them meet at one address. Floating additions round to nearest even; f32 on global memory flushes
// subnormals, on shared memory it keeps them (the same section).
#include "base/check.hpp"
#include "fp/soft.hpp"
#include "ir/commuting.hpp"
#include "vgpu/atomic_value.hpp"
#include "vgpu/guard.hpp"
#include "vgpu/machine.hpp"
#include "vgpu/order.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

namespace assay::vgpu {

namespace {

using ir::AtomicOp;
using ptx::Type;

float flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

template <class T> T integer(AtomicOp op, T old, T b) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
  case AtomicOp::add: return T(U(old) + U(b));
  case AtomicOp::min: return std::min(old, b);
  case AtomicOp::max: return std::max(old, b);
  case AtomicOp::and_: return old & b;
  case AtomicOp::or_: return old | b;
  case AtomicOp::xor_: return old ^ b;
  case AtomicOp::inc: return old >= b ? T(0) : T(old + 1);
  case AtomicOp::dec: return old == 0 || old > b ? b : T(old - 1);
  default: return b; // exch
  }
}

// min and max of two halves: the number wins over NaN, −0 < +0.
uint16_t half_extreme(uint16_t x, uint16_t y, bool bf, bool minimum) {
  uint16_t infinity = bf ? 0x7f80 : 0x7c00;
  bool x_nan = (x & 0x7fff) > infinity, y_nan = (y & 0x7fff) > infinity;
  if (x_nan || y_nan) return x_nan && y_nan ? 0x7fff : x_nan ? y : x;
  auto key = [](uint16_t v) { return v & 0x8000 ? -int(v & 0x7fff) - 1 : int(v); };
  return (key(x) < key(y)) == minimum ? x : y;
}

} // namespace

// One element: the new value from the old one and the operand.
uint64_t atomic_value(const ir::MemInfo& info, uint64_t old, uint64_t b, bool global) {
  AtomicOp op = info.atomic;
  switch (info.type) {
  case Type::s32: return uint32_t(integer<int32_t>(op, int32_t(old), int32_t(b)));
  case Type::s64: return uint64_t(integer<int64_t>(op, int64_t(old), int64_t(b)));
  case Type::u64:
  case Type::b64: return integer<uint64_t>(op, old, b);
  case Type::b16:
  case Type::u16: return integer<uint16_t>(op, uint16_t(old), uint16_t(b));
  case Type::f32: {
    float x = std::bit_cast<float>(uint32_t(old)), y = std::bit_cast<float>(uint32_t(b));
    float r = global ? flush(flush(x) + flush(y)) : x + y;
    return r != r ? 0x7fffffffu : std::bit_cast<uint32_t>(r);
  }
  case Type::f64: {
    double r = std::bit_cast<double>(old) + std::bit_cast<double>(b);
    return r != r ? 0x7fffffffffffffffull : std::bit_cast<uint64_t>(r);
  }
  case Type::f16:
  case Type::f16x2:
  case Type::bf16:
  case Type::bf16x2: {
    bool bf = info.type == Type::bf16 || info.type == Type::bf16x2;
    uint64_t r = 0;
    for (unsigned k = 0; k < info.bytes / 2u; ++k) {
      uint16_t x = uint16_t(old >> (16 * k)), y = uint16_t(b >> (16 * k)), z;
      if (op == AtomicOp::add) {
        uint64_t one = bf ? 0x3f80 : 0x3c00;
        z = uint16_t(fp::fma(x, one, y, bf ? fp::kBf16 : fp::kF16, fp::Rounding::rn, false));
      } else {
        z = half_extreme(x, y, bf, op == AtomicOp::min);
      }
      r |= uint64_t(z) << (16 * k);
    }
    return r;
  }
  default: return integer<uint32_t>(op, uint32_t(old), uint32_t(b));
  }
}

void update_element(const ir::MemInfo& info, uint8_t* cell, const uint64_t (&operand)[2],
                    bool global, FloatSums* sums) {
  const uint64_t mask = info.bytes == 8 ? ~uint64_t(0) : (uint64_t(1) << info.bytes * 8) - 1;
  const uint64_t b = operand[0] & mask;
  uint64_t before = 0, after;
  std::memcpy(&before, cell, info.bytes);
  if (info.atomic == AtomicOp::cas) {
    after = before == b ? operand[1] & mask : before;
  } else {
    after = atomic_value(info, before, b, global);
    if (sums && ptx::is_float(info.type))
      sums->applied(cell, info.bytes, info, global, before, b, after);
  }
  std::memcpy(cell, &after, info.bytes);
}

namespace {

uint64_t read_lane(char* regs, ir::Slot slot, uint32_t lane, unsigned bits) {
  if (slot == ir::kNoSlot) return 0;
  return bits == 64 ? lanes<uint64_t>(regs, slot).v[lane] : lanes<uint32_t>(regs, slot).v[lane];
}

void operands(const ir::MemInfo& info, char* regs, uint32_t lane, uint32_t element,
              uint64_t (&to)[2]) {
  to[0] = read_lane(regs, info.regs[element], lane, info.register_bits);
  to[1] =
      info.atomic == AtomicOp::cas ? read_lane(regs, info.regs[1], lane, info.register_bits) : 0;
}

// Does the operation on one lane's cell; returns the old bytes.
void operate(const ir::MemInfo& info, const ir::Op& op, char* regs, uint32_t lane, uint8_t* cell,
             bool global, uint8_t* old, FloatSums* sums) {
  uint32_t bytes = uint32_t(info.bytes) * info.vector;
  std::memcpy(old, cell, bytes);
  if (info.bytes == 16) { // b128: exch, cas
    const char* value = regs + info.regs[info.atomic == AtomicOp::cas] * 128u + lane * 16;
    bool equal = info.atomic != AtomicOp::cas ||
                 !std::memcmp(cell, regs + info.regs[0] * 128u + lane * 16, 16);
    if (equal) std::memcpy(cell, value, 16);
    return;
  }
  for (uint32_t k = 0; k < info.vector; ++k) {
    uint64_t operand[2];
    operands(info, regs, lane, k, operand);
    update_element(info, cell + k * info.bytes, operand, global, sums);
  }
}

void write_old(const ir::MemInfo& info, const ir::Op& op, char* regs, uint32_t lane,
               const uint8_t* old) {
  auto put = [&](ir::Slot slot, const uint8_t* from) {
    if (slot == ir::kNoSlot) return;
    if (info.bytes == 16) {
      std::memcpy(regs + slot * 128u + lane * 16, from, 16);
    } else if (info.register_bits == 64) {
      uint64_t v = 0;
      std::memcpy(&v, from, info.bytes);
      lanes<uint64_t>(regs, slot).v[lane] = v;
    } else {
      uint32_t v = 0;
      std::memcpy(&v, from, info.bytes);
      lanes<uint32_t>(regs, slot).v[lane] = v;
    }
  };
  if (info.vector == 1) return put(op.d, old);
  for (uint32_t k = 0; k < info.vector; ++k)
    if (info.vector + k < 8) put(info.regs[info.vector + k], old + k * info.bytes);
}

// Where lanes meet at one location the policy chooses the order in which they take effect.
void order_lanes(schedule::Policy& policy, const uint64_t* address, uint32_t* members,
                 uint32_t count) {
  bool collide = false;
  uint64_t sorted[32];
  for (uint32_t k = 0; k < count; ++k) sorted[k] = address[members[k]];
  std::sort(sorted, sorted + count);
  for (uint32_t k = 1; k < count; ++k) collide |= sorted[k] == sorted[k - 1];
  if (!collide) return;
  uint32_t how = policy.choose(schedule::Choice::lane_order, count);
  if (how == 1) std::reverse(members, members + count);
  if (how > 1)
    for (uint32_t k = count; k > 1; --k)
      std::swap(members[k - 1], members[random_at(how, 0, k) % k]);
}

} // namespace

namespace {

// Where the lanes of one instruction operate.
struct Cells {
  Machine::Resolved at[32];
  alignas(8) uint64_t address[32] = {}; // of shared memory: the offset
  uint32_t tracked[2] = {0, 0};         // global, shared
  uint32_t members[32];                 // lanes, in the order in which they act
  uint32_t count = 0;

  void hosts(const uint8_t* (&of_lane)[32]) const {
    for (uint32_t k = 0; k < count; ++k)
      of_lane[members[k]] = at[members[k]].region->host + at[members[k]].offset;
  }
};

bool cells_of(Machine& m, Warp& w, uint32_t pc, const ir::Op& op, char* regs, uint32_t active,
              Cells& out) {
  const ir::MemInfo& info = m.program.mem[op.c];
  const uint32_t bytes = uint32_t(info.bytes) * info.vector;
  for (uint32_t i = 0; i < 32; ++i) {
    if (!(active >> i & 1)) continue;
    const uint64_t a = m.lane_address(op, info, regs, i, *w.group);
    if (m.hash_path) m.path(a);
    Machine::Resolved& at = out.at[i];
    at = m.resolve(w, pc, i, info.space, a, bytes, bytes, true, "atomic");
    if (!at.region) return false;
    if (at.local) {
      m.fault(w, pc, i, EventKind::illegal_operation, "an atomic operation on local memory");
      return false;
    }
    const Region& r = *at.region;
    const bool shared = r.space == race::Space::shared;
    out.address[i] = shared ? at.offset : r.base + at.offset;
    if (r.tracked) out.tracked[shared] |= 1u << i;
    if (r.init && m.options.check_init && !init_test(r.init, at.offset, bytes))
      m.uninitialised(w, pc, i, &r, at.offset, r.host + at.offset, bytes);
    out.members[out.count++] = i;
  }
  return true;
}

race::AccessInfo access_info(uint32_t pc, const ir::MemInfo& info) {
  race::AccessInfo access;
  access.pc = pc;
  access.write = access.read = access.atomic = access.strong = true;
  access.scope = scope_of(info);
  access.bytes = uint8_t(info.bytes * info.vector);
  access.elements = info.vector;
  return access;
}

// The lane comes before the last store there: it finds what was there before, and what it writes is
// overwritten.
void operate_before(Machine& m, Warp& w, const ir::Op& op, char* regs, uint32_t lane,
                    const Region& r, uint64_t address, uint64_t offset) {
  const ir::MemInfo& info = m.program.mem[op.c];
  alignas(16) uint8_t older[32];
  uint8_t old[32];
  std::memcpy(older, r.host + offset, info.bytes);
  m.detector->missed(r.space, m.agent(w), address, info.bytes, 1, older);
  operate(info, op, regs, lane, older, false, old, nullptr);
  if (op.code == ir::OpCode::atom) write_old(info, op, regs, lane, old);
  if (!ir::is_unread(op, info))
    m.detector->missing_read(r.space, m.agent(w), lane, address, info.bytes,
                             order_of(info.semantics), scope_of(info), 1);
}

} // namespace

void Machine::atomic(Warp& w, uint32_t pc, const ir::Op& op, char* regs) {
  const ir::MemInfo& info = program.mem[op.c];
  uint32_t active = lanes_that_hold(op, regs, w.exec_bits),
           bytes = uint32_t(info.bytes) * info.vector;
  saw_strong |= !ir::commutes(op, info);
  atomic_lanes += count_lanes(active);
  Cells cells;
  if (!cells_of(*this, w, pc, op, regs, active, cells)) return;
  auto& [at, address, tracked, members, count] = cells;
  order_lanes(policy, address, members, count);
  const race::AccessInfo access = access_info(pc, info);
  if (detector)
    for (int s = 0; s < 2; ++s)
      if (tracked[s])
        detector->access(s ? race::Space::shared : race::Space::global, agent(w), tracked[s],
                         address, access, nullptr, 0, 0);
  // An atomic whose result nobody uses tells its thread nothing, as `red` does: which of two came
  // first is the schedule's choice, and no order of one schedule may excuse an access.
  const bool unread = ir::is_unread(op, info);
  bool changed = false;
  const Lateness late = lateness(w, pc, op, active);
  for (uint32_t k = 0; k < count; ++k) {
    uint32_t i = members[k];
    Region& r = *at[i].region;
    uint8_t old[32];
    if (writes_late) {
      uint64_t operand[2];
      operands(info, regs, i, 0, operand);
      if (postpone(w, pc, i, late, r, at[i].offset, operand)) {
        changed = true;
        continue;
      }
    }
    if (misses_writes && !arms.empty() && r.tracked && info.vector == 1 &&
        comes_before_store(w, pc, i, r.space, address[i], bytes)) {
      operate_before(*this, w, op, regs, i, r, address[i], at[i].offset);
      changed = true;
      continue;
    }
    operate(info, op, regs, i, r.host + at[i].offset, r.space == race::Space::global, old,
            float_sums.get());
    // A compare-and-swap that fails is no progress: its group may be spinning.
    bool differs = std::memcmp(old, r.host + at[i].offset, bytes) != 0;
    changed |= differs;
    if (op.code == ir::OpCode::atom) write_old(info, op, regs, i, old);
    if (r.init) init_set(r.init, at[i].offset, bytes);
    if (!detector || !r.tracked) continue;
    const bool wrote = differs || info.atomic != AtomicOp::cas;
    if (misses_writes && wrote)
      detector->replacing(r.space, agent(w), i, address[i], uint8_t(bytes), old);
    detector->read_modify_write(r.space, agent(w), i, address[i], uint8_t(bytes),
                                order_of(info.semantics), access.scope, unread, wrote);
  }
  if (changed) {
    w.stored = true;
  } else if (op.code == ir::OpCode::atom) {
    const uint8_t* seen[32];
    cells.hosts(seen);
    polled(w, pc, active, seen, bytes);
  }
}

} // namespace assay::vgpu
