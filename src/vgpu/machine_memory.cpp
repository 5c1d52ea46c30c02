// Loads and stores of any kind: address resolution, bounds, alignment, init bits, observation.
// The common cases have handlers of their own (handlers/memory.hpp); all faults are found here.
#include "vgpu/machine.hpp"
#include "vgpu/order.hpp"
#include "vgpu/stage.hpp"

#include "base/check.hpp"

#include <fmt/format.h>

#include <cstring>

namespace assay::vgpu {

using ptx::Space;

// PTX ISA 9.0, 6.4.1: an address is zero-extended to the width of addresses, or truncated to the
// width that the space's have. Shared memory has addresses of 32 bits, so that the sum of a
// register of 32 bits and an offset wraps (compilers subtract a constant and add it in the offset);
// a wider register counts whole, since one with high bits holds no address of the space: out of
// bounds.
uint64_t Machine::lane_address(const ir::Op& op, const ir::MemInfo& info, char* regs, uint32_t lane,
                               const Group& group) {
  uint64_t a = op.imm;
  if (op.a != ir::kNoSlot)
    a += info.address64 ? lanes<uint64_t>(regs, op.a).v[lane] : lanes<uint32_t>(regs, op.a).v[lane];
  if (info.frame) a += group.local_base;
  bool shared = info.space == Space::shared || info.space == Space::shared_cta;
  return shared && !info.address64 ? uint32_t(a) : a;
}

bool Machine::local_reserve(Warp& w, uint64_t bytes) {
  constexpr uint64_t kMaxStack = 512 << 10; // bytes a thread: the most cudaLimitStackSize gives
  if (bytes > kMaxStack) return false;
  uint64_t words = (bytes + 3) / 4;
  if (w.local.size() < words) {
    uint64_t old = w.local.size();
    w.local.resize(words);
    for (uint64_t k = old; k < words; ++k) {
      uint32_t pattern;
      uint8_t bytes4[4];
      poison_fill(bytes4, 4, poison_of_memory(options));
      std::memcpy(&pattern, bytes4, 4);
      for (auto& v : w.local[k].v) v = pattern;
      w.local_init.push_back({});
    }
  }
  return true;
}

namespace {
// Copies to or from a lane's local memory; false: a byte that was read had never been written.
bool local_copy(Warp& w, uint32_t lane, uint64_t offset, void* bytes, uint64_t n, bool write) {
  auto* p = static_cast<uint8_t*>(bytes);
  bool known = true;
  for (uint64_t i = 0; i < n; ++i) {
    auto* word =
        reinterpret_cast<uint8_t*>(&w.local[(offset + i) >> 2].v[lane]) + ((offset + i) & 3);
    if (write)
      *word = p[i];
    else
      p[i] = *word;
    uint32_t& init = w.local_init[(offset + i) >> 2].byte[(offset + i) & 3];
    if (write)
      init |= 1u << lane;
    else
      known &= init >> lane & 1;
  }
  return known;
}
} // namespace

// Local memory is kept word by word for all lanes, so that lanes at one place of their frames, as
// they mostly are, access rows. True: done, or reported.
bool Machine::local_row(Warp& w, uint32_t pc, const ir::Op& op, char* regs, uint32_t active,
                        bool write) {
  const ir::MemInfo& info = program.mem[op.c];
  if (info.space != Space::local || info.vector != 1 || info.register_bits > 64 || hash_path ||
      (info.bytes != 4 && info.bytes != 8) || info.register_bits != info.bytes * 8)
    return false;
  uint32_t lowest = uint32_t(__builtin_ctz(active));
  uint64_t first = lane_address(op, info, regs, lowest, *w.group), bytes = info.bytes;
  if (info.frame) local_reserve(w, first + bytes);
  uint64_t offset = ir::local_offset(first);
  if (offset % bytes || offset + bytes > w.local.size() * 4) return false;
  for (uint32_t left = active; left && op.a != ir::kNoSlot; left &= left - 1) {
    uint32_t i = uint32_t(__builtin_ctz(left));
    uint64_t a = lane_address(op, info, regs, i, *w.group), owner = ir::local_owner(a);
    if (ir::local_offset(a) != offset || (owner && owner != w.index * 32 + i + 1)) return false;
  }
  ir::Slot slot = info.regs[0];
  if (slot == ir::kNoSlot) return false;
  for (uint64_t k = 0; k < bytes / 4; ++k) {
    auto& init = w.local_init[offset / 4 + k];
    auto& row = w.local[offset / 4 + k].v;
    auto* words = reinterpret_cast<uint32_t*>(regs + slot * kSlotBytes); // of both slots if two
    uint32_t known = init.byte[0] & init.byte[1] & init.byte[2] & init.byte[3];
    if (!write && options.check_init && active & ~known) return false; // to be reported
    for (uint32_t i = 0; i < 32; ++i) {
      if (!(active >> i & 1)) continue;
      uint32_t& word = words[i * (bytes / 4) + k];
      if (write) {
        w.stored_local |= row[i] != word;
        row[i] = word;
      } else {
        word = row[i];
      }
    }
    for (uint32_t& b : init.byte) b |= write ? active : 0;
  }
  return true;
}

Machine::Resolved Machine::resolve(Warp& w, uint32_t pc, uint32_t lane, Space space,
                                   uint64_t address, uint64_t bytes, uint64_t align, bool write,
                                   const char* what) {
  Region* r = nullptr;
  uint64_t offset = 0;
  bool local = space == Space::local;
  if (space == Space::none || space == Space::global || space == Space::constant) {
    uint64_t window = ir::window_of(address);
    if (space == Space::none && window == ir::kSharedWindow)
      space = Space::shared, address = ir::offset_of(address);
    else if (space == Space::none && window == ir::kLocalWindow)
      local = true, address = ir::offset_of(address);
    else if (window == ir::kParamWindow)
      r = &parameter_region, offset = ir::offset_of(address);
    else if ((r = memory.find(address)) || (r = runtime_region(w, pc, lane, address, what)))
      offset = address - r->base;
    if (abort) return {};
  }
  if (space == Space::shared || space == Space::shared_cta || space == Space::shared_cluster) {
    if (ir::window_of(address) == ir::kSharedWindow) address = ir::offset_of(address);
    offset = address;
    const uint64_t from = reserved_begin + kReservedForLibraries;
    const bool reserved = reserved_begin && offset >= from && offset < all_shared_bytes;
    r = reserved ? &w.cta->reserved : &w.cta->shared;
  } else if (space == Space::param_entry || space == Space::param) {
    r = &parameter_region;
    offset = ir::offset_of(address);
  }
  if (local) {
    offset = ir::local_offset(address);
    uint64_t owner = ir::local_owner(address);
    if (owner && owner != w.index * 32 + lane + 1) {
      Place at = place(w, pc, lane, what);
      at.has_address = true;
      at.region = "local";
      at.offset = offset;
      note("foreign-local-address",
           fmt::format(
               "the address is one of thread {}'s local memory; it means the own local memory here",
               owner - 1),
           at);
    }
    if (offset % align) {
      fault(w, pc, lane, EventKind::misaligned,
            fmt::format("{} of {} bytes at local offset {} is not aligned to {}", what, bytes,
                        offset, align),
            true, "local", offset);
      return {};
    }
    // Parameters of a call lie behind the frame: memory that nobody has asked for yet.
    const ir::Op& op = program.ops[pc];
    bool parameter = (op.code == ir::OpCode::ld || op.code == ir::OpCode::st) &&
                     op.a == ir::kNoSlot && program.mem[op.c].frame;
    if (offset + bytes > w.local.size() * 4 && !(parameter && local_reserve(w, offset + bytes))) {
      fault(w, pc, lane, EventKind::out_of_bounds,
            fmt::format("{} of {} bytes at local offset {} is outside the thread's local memory",
                        what, bytes, offset),
            true, "local", offset);
      return {};
    }
    return {&parameter_region, offset, true}; // any non-null region: `local` decides
  }
  if (!r) {
    fault(w, pc, lane, EventKind::out_of_bounds,
          address < ir::window_base(1)
              ? fmt::format("{} of {} bytes at address {:#x}: a null or near-null pointer", what,
                            bytes, address)
              : fmt::format("{} of {} bytes at address {:#x}, which belongs to no buffer", what,
                            bytes, address),
          true, "", address);
    return {};
  }
  auto region_name = [&] { return this->region_name(w, *r); };
  // An access before the first byte stands in the window with an offset below the base.
  const bool in_window = r->space != race::Space::shared && r != &parameter_region;
  const int64_t shown_offset = in_window ? int64_t(address) - int64_t(r->base) : int64_t(offset);
  // Before the bounds: hardware refuses such an address wherever the buffer ends.
  const uint64_t real = r->space == race::Space::shared ? offset : address;
  if (real % align) {
    fault(w, pc, lane, EventKind::misaligned,
          fmt::format("{} of {} bytes at offset {} of {} is not aligned to {}", what, bytes,
                      shown_offset, region_name(), align),
          true, region_name(), uint64_t(shown_offset));
    return {};
  }
  if (r->size < bytes || offset > r->size - bytes) {
    fault(w, pc, lane, EventKind::out_of_bounds,
          fmt::format("{} of {} bytes at offset {} of {} ({} bytes) is out of bounds", what, bytes,
                      shown_offset, region_name(), r->size),
          true, region_name(), uint64_t(shown_offset));
    return {};
  }
  if (write && r->read_only) {
    fault(w, pc, lane, EventKind::illegal_operation,
          fmt::format("{} writes to {}, which is read-only", what, region_name()), true,
          region_name(), offset);
    return {};
  }
  if (write && r->retrack_on_store) {
    Place p = place(w, pc, lane, what);
    p.has_address = true;
    p.region = region_name();
    p.offset = offset;
    store_to_input(*r, p);
    return {};
  }
  return {r, offset, false};
}

std::string Machine::region_name(const Warp& w, const Region& r) const {
  if (&r == &parameter_region) return "kernel parameters";
  if (r.space == race::Space::shared)
    return &r == &w.cta->reserved ? "reserved shared memory" : "shared memory";
  uint64_t window = ir::window_of(r.base);
  bool runtimes = window == kWorkspaceWindow || window >= kFirstHeapWindow;
  return runtimes ? runtime.name(r) : memory.name(r);
}

void Machine::store_to_input(Region& region, const Place& first) {
  outcome.notes.push_back({"input-modified", "writes to an input", {first}});
  // The run began without shadow for this buffer; it starts again with one.
  retrack = true;
  retrack_buffers[region.index] = true;
  abort = true;
}

void Machine::uninitialised(Warp& w, uint32_t pc, uint32_t lane, const Region* region,
                            uint64_t offset, uint8_t* value, uint32_t bytes) {
  if (region == &w.cta->shared && reads_mbarrier(w, pc, lane, offset)) return;
  const bool varied = options.vary.pc == pc && options.vary.launch == launch_index;
  for (uint64_t k = offset; varied && k < offset + bytes; ++k)
    if (region ? !init_test(region->init, k, 1) : !(w.local_init[k / 4].byte[k % 4] >> lane & 1))
      value[k - offset] = poison_byte(region ? k : k % 4, options.poison);
  std::string name = region ? region_name(w, *region) : "local memory";
  for (const Event& e : outcome.uninitialised_reads)
    if (e.places[0].pc == pc && e.places[0].launch == launch_index && e.places[0].region == name)
      return;
  Place p = place(w, pc, lane, "");
  p.has_address = true;
  p.region = name;
  p.offset = offset;
  outcome.uninitialised_reads.push_back(
      {EventKind::uninitialised_read,
       fmt::format("reads byte {} of {}, which nobody has written", offset, name),
       {p}});
}

namespace {
race::AccessInfo access_info(uint32_t pc, const ir::MemInfo& info, bool write, uint32_t bytes) {
  race::AccessInfo a;
  a.pc = pc;
  a.write = write;
  a.read = !write;
  a.strong = info.semantics != ir::Semantics::weak;
  a.nc = info.nc;
  a.scope = scope_of(info);
  a.bytes = uint8_t(bytes);
  a.elements = info.vector;
  return a;
}

// Extends an element of memory to its register: sign for s types, zero else; 16-bit registers stay
// zero-extended in their 32-bit lanes.
void write_register(char* regs, ir::Slot slot, uint32_t lane, const uint8_t* from,
                    const ir::MemInfo& info) {
  if (slot == ir::kNoSlot) return;
  if (info.register_bits == 128) {
    std::memcpy(regs + slot * 128u + lane * 16, from, 16);
    return;
  }
  uint64_t v = 0;
  std::memcpy(&v, from, info.bytes);
  if (ptx::is_signed(info.type) && info.bytes < 8) {
    unsigned shift = 64 - info.bytes * 8;
    v = uint64_t(int64_t(v << shift) >> shift);
  }
  if (info.register_bits == 64)
    lanes<uint64_t>(regs, slot).v[lane] = v;
  else
    lanes<uint32_t>(regs, slot).v[lane] =
        info.register_bits == 16 ? uint32_t(v & 0xffff) : uint32_t(v);
}

void read_register(char* regs, ir::Slot slot, uint32_t lane, uint8_t* to, const ir::MemInfo& info) {
  if (info.register_bits == 128)
    std::memcpy(to, regs + slot * 128u + lane * 16, 16);
  else if (info.register_bits == 64)
    std::memcpy(to, &lanes<uint64_t>(regs, slot).v[lane], info.bytes);
  else
    std::memcpy(to, &lanes<uint32_t>(regs, slot).v[lane], info.bytes);
}
struct Missed { // of each lane: how many of the last writes; in parts: four bits for each
  const uint32_t* by_lane;
  uint32_t parts;
};

// Tells the detector what these lanes have read.
void tell_loads(Machine& m, const Warp& w, const ir::MemInfo& info, const race::AccessInfo& access,
                std::pair<uint32_t, uint32_t> in, const uint64_t* address, const Missed& missed) {
  race::Detector& detector = *m.detector;
  const race::Agent agent = m.agent(w);
  const uint32_t parts = missed.parts, part = access.bytes / parts;
  for (auto [space, bits] :
       {std::pair{race::Space::global, in.first}, {race::Space::shared, in.second}}) {
    if (!bits) continue;
    detector.access(space, agent, bits, address, access, nullptr, 0, 0);
    if (parts > 1) detector.elements(1);
    for (uint32_t left = access.strong ? bits : 0; left; left &= left - 1)
      for (uint32_t k = 0; k < parts; ++k) {
        const uint32_t i = uint32_t(__builtin_ctz(left)), back = missed.by_lane[i];
        const uint32_t misses = parts > 1 ? back >> 4 * k & 15 : back;
        if (misses)
          detector.missing_read(space, agent, i, address[i] + k * part, uint8_t(part),
                                order_of(info.semantics), access.scope, misses);
        else
          detector.strong_read(space, agent, i, address[i] + k * part, uint8_t(part),
                               order_of(info.semantics), access.scope);
      }
  }
}

// Only a store that changes a byte is progress: a spin loop may store what is there already.
void store_local(Warp& w, uint32_t lane, uint64_t offset, uint8_t* value, uint32_t bytes) {
  uint8_t before[16 * 8];
  local_copy(w, lane, offset, before, bytes, false);
  w.stored_local |= std::memcmp(before, value, bytes) != 0;
  local_copy(w, lane, offset, value, bytes, true);
}
} // namespace

void Machine::load(Warp& w, uint32_t pc, const ir::Op& op, char* regs, uint32_t active) {
  const ir::MemInfo& info = program.mem[op.c];
  uint32_t bytes = uint32_t(info.bytes) * info.vector;
  saw_strong |= info.semantics != ir::Semantics::weak;
  if (local_row(w, pc, op, regs, active, false)) return;
  alignas(8) uint64_t address[32];
  uint32_t in_global = 0, in_shared = 0;
  uint8_t value[128];
  const uint8_t* cells[32];
  bool polls = info.semantics != ir::Semantics::weak, missing = false;
  const bool torn = info.vector > 1 && policy.tears_vectors();
  uint32_t back[32] = {}; // torn: four bits for each element
  if (misses_writes && polls && detector) detector->elements(torn ? 1 : info.vector);
  for (uint32_t i = 0; i < 32; ++i) {
    if (!(active >> i & 1)) continue;
    uint64_t a = lane_address(op, info, regs, i, *w.group);
    if (hash_path) path(a);
    if (info.frame)
      local_reserve(w, a + bytes); // arguments of a call lie beyond the caller's frame
    Resolved at = resolve(w, pc, i, info.space, a, bytes, bytes, false, "load");
    if (!at.region) return;
    if (at.local) {
      polls = false;
      if (!local_copy(w, i, at.offset, value, bytes, false) && options.check_init)
        uninitialised(w, pc, i, nullptr, at.offset, value, bytes);
    } else {
      cells[i] = at.region->host + at.offset;
      std::memcpy(value, cells[i], bytes);
      if (at.region->init && options.check_init && !init_test(at.region->init, at.offset, bytes))
        uninitialised(w, pc, i, at.region, at.offset, value, bytes);
      if (at.region->tracked) {
        bool shared = at.region->space == race::Space::shared;
        (shared ? in_shared : in_global) |= 1u << i;
        address[i] = shared ? at.offset : at.region->base + at.offset;
        if (misses_writes && polls && !torn)
          back[i] = writes_missed(w, pc, i, at.region->space, address[i], bytes);
        if (polls && info.vector > 1 && outcome.torn.empty())
          outcome.torn.push_back(place(w, pc, i, "vector load"));
        if (misses_writes && polls && torn) {
          back[i] = load_torn(w, i, info, at.region->space, address[i], value);
          missing = true;
        } else if (back[i]) {
          ++unrepeatable;
          missing = true;
          detector->missed(at.region->space, agent(w), address[i], uint8_t(bytes), back[i], value);
        }
      }
    }
    for (uint32_t k = 0; k < info.vector; ++k)
      write_register(regs, info.regs[k], i, value + k * info.bytes, info);
  }
  if (polls && !missing) polled(w, pc, active, cells, bytes);
  if (!detector || !(in_global | in_shared)) return;
  tell_loads(*this, w, info, access_info(pc, info, false, bytes), {in_global, in_shared}, address,
             {back, missing && torn ? info.vector : 1u});
}

void Machine::store(Warp& w, uint32_t pc, const ir::Op& op, char* regs, uint32_t active) {
  const ir::MemInfo& info = program.mem[op.c];
  uint32_t bytes = uint32_t(info.bytes) * info.vector;
  saw_strong |= info.semantics != ir::Semantics::weak;
  if (local_row(w, pc, op, regs, active, true)) return;
  alignas(8) uint64_t address[32];
  alignas(16) uint8_t values[32][16 * 8];
  Resolved at[32];
  uint32_t in_global = 0, in_shared = 0, silent = 0;
  for (uint32_t i = 0; i < 32; ++i) {
    if (!(active >> i & 1)) continue;
    uint64_t a = lane_address(op, info, regs, i, *w.group);
    if (hash_path) path(a);
    if (info.frame) local_reserve(w, a + bytes);
    at[i] = resolve(w, pc, i, info.space, a, bytes, bytes, true, "store");
    if (!at[i].region) return;
    for (uint32_t k = 0; k < info.vector; ++k)
      read_register(regs, info.regs[k], i, values[i] + k * info.bytes, info);
    if (!at[i].local && at[i].region->tracked) {
      bool shared = at[i].region->space == race::Space::shared;
      (shared ? in_shared : in_global) |= 1u << i;
      address[i] = shared ? at[i].offset : at[i].region->base + at[i].offset;
      if (!std::memcmp(at[i].region->host + at[i].offset, values[i], bytes)) silent |= 1u << i;
    }
  }
  race::AccessInfo access = access_info(pc, info, true, bytes);
  if (detector)
    for (auto [space, bits] :
         {std::pair{race::Space::global, in_global}, {race::Space::shared, in_shared}})
      if (bits) detector->access(space, agent(w), bits, address, access, values, 16 * 8, silent);
  const Lateness late = lateness(w, pc, op, active);
  for (uint32_t n = 0; n < 32; ++n) {
    uint32_t i = store_descending ? 31 - n : n;
    if (!(active >> i & 1)) continue;
    if (at[i].local) {
      store_local(w, i, at[i].offset, values[i], bytes);
      continue;
    }
    if (writes_late) {
      uint64_t value[2];
      std::memcpy(value, values[i], sizeof value);
      if (postpone(w, pc, i, late, *at[i].region, at[i].offset, value)) {
        w.stored = true;
        continue;
      }
    }
    const bool versions = misses_writes && access.strong && at[i].region->tracked;
    if (versions && !arms.empty() && info.vector == 1 &&
        comes_before_store(w, pc, i, at[i].region->space, address[i], bytes))
      continue;
    w.stored |= std::memcmp(at[i].region->host + at[i].offset, values[i], bytes) != 0;
    if (versions)
      detector->replacing(at[i].region->space, agent(w), i, address[i], uint8_t(bytes),
                          at[i].region->host + at[i].offset);
    std::memcpy(at[i].region->host + at[i].offset, values[i], bytes);
    if (at[i].region->init) init_set(at[i].region->init, at[i].offset, bytes);
    if (detector && access.strong && at[i].region->tracked)
      detector->strong_write(at[i].region->space, agent(w), i, address[i], uint8_t(bytes),
                             order_of(info.semantics), access.scope);
  }
}

bool Machine::read_bytes(uint64_t generic, void* to, uint64_t bytes, Warp& w, uint32_t lane) {
  uint64_t window = ir::window_of(generic), offset = ir::offset_of(generic);
  if (window == ir::kLocalWindow) {
    offset = ir::local_offset(generic);
    if (offset + bytes > w.local.size() * 4) return false;
    local_copy(w, lane, offset, to, bytes, false);
    return true;
  }
  Region* r = window == ir::kSharedWindow  ? &w.cta->shared
              : window == ir::kParamWindow ? &parameter_region
                                           : memory.find(generic);
  HeapBlock* block = nullptr;
  if (!r) r = runtime.find(generic, block);
  if (!r) return false;
  if (window != ir::kSharedWindow && window != ir::kParamWindow) offset = generic - r->base;
  if (r->size < bytes || offset > r->size - bytes) return false;
  std::memcpy(to, r->host + offset, bytes);
  return true;
}

} // namespace assay::vgpu
