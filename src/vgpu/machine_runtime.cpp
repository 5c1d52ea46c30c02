// Special registers, fences, and the device runtime: printf, assert, malloc, free.
// Sources: PTX ISA 9.0, chapter 10 (special registers); CUDA C++ Programming Guide, "Formatted
// Output", "Assertion", "Dynamic Global Memory Allocation".
#include "ir/special.hpp"
#include "vgpu/machine.hpp"

#include <fmt/format.h>
#include <fmt/printf.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>

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

uint32_t Machine::special_value(const Warp& w, ir::Special s, uint32_t lane, uint64_t time) const {
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
  case S::warpid: return w.index;
  case S::nwarpid: return 64;
  case S::ctaid_x:
  case S::ctaid_y:
  case S::ctaid_z: return cta.id[uint32_t(s) - uint32_t(S::ctaid_x)];
  case S::nctaid_x:
  case S::nctaid_y:
  case S::nctaid_z: return l.grid[uint32_t(s) - uint32_t(S::nctaid_x)];
  case S::smid: return cta.index % job.device.sms;
  case S::nsmid: return job.device.sms;
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
  case S::clock:
  case S::globaltimer_lo: return uint32_t(time);
  case S::clock_hi:
  case S::globaltimer_hi: return uint32_t(time >> 32);
  case S::dynamic_smem_size: return l.dynamic_shared;
  case S::total_smem_size:
  case S::aggr_smem_size: return shared_bytes;
  default: return 0;
  }
}

void Machine::special(Warp& w, const ir::Op& op, char* regs) {
  using C = ir::OpCode;
  switch (op.code) {
  case C::special: {
    auto s = ir::Special(op.imm & 255);
    // Deterministic clocks: what the launch and this warp have executed so far.
    uint64_t time = instructions + w.instructions + ++virtual_time;
    if (ir::is_wide(s))
      per_lane64(w, regs, op.d, [&](uint32_t i) -> uint64_t {
        return s == ir::Special::clock64 || s == ir::Special::globaltimer ? time
               : s == ir::Special::gridid                                 ? launch_index + 1
                                          : special_value(w, s, i, time);
      });
    else
      per_lane32(w, regs, op.d, [&](uint32_t i) { return special_value(w, s, i, time); });
    break;
  }
  case C::frame_address: {
    uint64_t a = w.group->local_base + op.imm;
    per_lane64(w, regs, op.d, [&](uint32_t i) { return a + ir::local_tag(w.index * 32 + i); });
    break;
  }
  case C::activemask: per_lane32(w, regs, op.d, [&](uint32_t) { return w.exec_bits; }); break;
  case C::isspacep: {
    auto space = ptx::Space(op.imm);
    for (uint32_t i = 0; i < 32; ++i) {
      if (!(w.exec_bits >> i & 1)) continue;
      uint64_t window = ir::window_of(lanes<uint64_t>(regs, op.a).v[i]);
      Region* r = memory.find(lanes<uint64_t>(regs, op.a).v[i]);
      bool yes = space == ptx::Space::local      ? window == ir::kLocalWindow
                 : space == ptx::Space::constant ? r && r->read_only
                 : space == ptx::Space::global   ? window >= ir::kFirstBufferWindow
                 : space == ptx::Space::param || space == ptx::Space::param_entry
                     ? window == ir::kParamWindow
                     : window == ir::kSharedWindow;
      lanes<int32_t>(regs, op.d).v[i] = yes ? -1 : 0;
    }
    break;
  }
  default: { // alloca, stacksave, stackrestore
    // What alloca hands out lies behind all frames; its first word holds each lane's top.
    constexpr uint64_t kStack = 256 << 10, kFirst = kStack + 16;
    bool fresh = w.local.size() * 4 < kFirst;
    local_reserve(w, kFirst);
    auto& top = w.local[kStack / 4];
    if (fresh)
      for (auto& v : top.v) v = uint32_t(kFirst);
    auto lane_of_group = [&](uint32_t i) { return w.exec_bits >> i & 1; };
    if (op.code == C::stacksave) {
      per_lane64(w, regs, op.d, [&](uint32_t i) { return top.v[i]; });
    } else if (op.code == C::stackrestore) {
      for (uint32_t i = 0; i < 32; ++i)
        if (lane_of_group(i))
          w.local[kStack / 4].v[i] =
              uint32_t(ir::local_offset(ir::offset_of(lanes<uint64_t>(regs, op.a).v[i])));
    } else {
      uint64_t align = op.imm ? op.imm : 16, end = 0, at[32] = {};
      for (uint32_t i = 0; i < 32; ++i) {
        if (!lane_of_group(i)) continue;
        at[i] = (top.v[i] + align - 1) / align * align;
        uint64_t size = std::min<uint64_t>(lanes<uint64_t>(regs, op.a).v[i], uint64_t(1) << 30);
        end = std::max(end, at[i] + size);
        top.v[i] = uint32_t(at[i] + size);
      }
      if (!local_reserve(w, end)) {
        fault(w, w.group->pc, uint32_t(__builtin_ctz(w.exec_bits)), EventKind::illegal_operation,
              "stack overflow: alloca exceeds the thread's stack");
        return;
      }
      per_lane64(w, regs, op.d,
                 [&](uint32_t i) { return at[i] + ir::local_tag(w.index * 32 + i); });
    }
    break;
  }
  }
}

void Machine::fence(Warp& w, const ir::Op& op) {
  auto semantics = ir::Semantics(op.imm & 255);
  // The order in which fence.sc execute is the schedule's: one run does not settle it.
  saw_strong |= semantics == ir::Semantics::sc && total_ctas > 1;
  if (!detector) return;
  auto scope = race::Scope(op.imm >> 8 & 255);
  using F = race::Detector::Fence;
  F f = semantics == ir::Semantics::acquire   ? F::acquire
        : semantics == ir::Semantics::release ? F::release
        : semantics == ir::Semantics::sc      ? F::sc
                                              : F::acq_rel;
  detector->fence(agent(w), w.exec_bits, f, scope);
}

namespace {

std::string read_string(Machine& m, uint64_t address, Warp& w, uint32_t lane) {
  std::string s;
  char c = 0;
  while (s.size() < 4096 && m.read_bytes(address + s.size(), &c, 1, w, lane) && c) s += c;
  return s;
}

constexpr size_t kMostText = 1 << 16; // of one call
constexpr int kMostPadding = 4096;    // a kernel can ask for widths of any size

// %[flags][width][.precision][length], without the length, from format[i] to the conversion's
// letter. `star` gives the value of a `*`.
template <class F>
std::string conversion(const std::string& format, size_t& i, int& longs, F star) {
  auto peek = [&] { return i < format.size() ? format[i] : '\0'; };
  std::string spec = "%";
  auto flag = [&](char c) {
    if (spec.find(c) == std::string::npos) spec += c;
  };
  while (peek() && std::strchr("+-# 0", peek())) flag(format[i++]);
  auto number = [&] {
    int value = 0;
    if (peek() == '*') {
      ++i;
      value = star();
    }
    for (; std::isdigit(uint8_t(peek())); ++i)
      value = std::min(value * 10 + (format[i] - '0'), kMostPadding);
    return std::clamp(value, -kMostPadding, kMostPadding);
  };
  int width = number();
  if (width < 0) flag('-');
  if (width) spec += std::to_string(std::abs(width));
  if (peek() == '.') {
    ++i;
    int precision = number(); // a negative one counts as none
    if (precision >= 0) (spec += '.') += std::to_string(precision);
  }
  for (; peek() && std::strchr("hljtzL", peek()); ++i)
    longs += peek() == 'l' ? 1 : peek() == 'h' ? 0 : 2;
  return spec;
}

// What fmt makes of it; it throws where it knows no meaning for a combination of flags.
template <class T> std::string formatted(const std::string& spec, const T& value) {
  try {
    return fmt::sprintf(spec, value);
  } catch (const fmt::format_error&) {
    return spec;
  }
}

// The text of one printf call. Arguments stand in memory with their natural alignment, 4-byte
// integers, 8-byte integers, pointers and doubles.
std::string format_printf(Machine& m, Warp& w, uint32_t lane, uint64_t format_address,
                          uint64_t arguments) {
  std::string format = read_string(m, format_address, w, lane), out;
  uint64_t at = 0;
  auto next = [&](uint64_t bytes) {
    at = (at + bytes - 1) & ~(bytes - 1);
    uint64_t v = 0;
    if (!m.read_bytes(arguments + at, &v, bytes, w, lane)) v = 0;
    at += bytes;
    return v;
  };
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out += format[i];
      continue;
    }
    ++i;
    int longs = 0;
    std::string spec = conversion(format, i, longs, [&] { return int32_t(next(4)); });
    if (i >= format.size()) break;
    char c = format[i];
    if (c == '%') {
      out += '%';
    } else if (std::strchr("di", c)) {
      out += formatted(spec + "lld", longs ? (long long)(next(8)) : (long long)(int32_t(next(4))));
    } else if (std::strchr("uxXo", c)) {
      out += formatted(spec + "ll" + c, (unsigned long long)(longs ? next(8) : next(4)));
    } else if (std::strchr("eEfFgGaA", c)) {
      uint64_t bits = next(8);
      double v;
      std::memcpy(&v, &bits, 8);
      out += formatted(spec + c, v);
    } else if (c == 'c') {
      out += formatted(spec + "c", char(next(4)));
    } else if (c == 's') {
      out += formatted(spec + "s", read_string(m, next(8), w, lane));
    } else if (c == 'p') {
      out += fmt::format("{:#x}", next(8));
    } else {
      out += spec + c;
    }
    if (out.size() > kMostText) break;
  }
  return out;
}

} // namespace

void Machine::runtime_call(Warp& w, uint32_t pc, const ir::Op& op, char* regs) {
  using C = ir::OpCode;
  constexpr size_t kMaxPrinted = 1 << 20; // bytes: what the driver's default buffer holds
  for (uint32_t i = 0; i < 32 && !abort; ++i) {
    if (!(w.exec_bits >> i & 1)) continue;
    if (op.code == C::vprintf) {
      std::string text = format_printf(*this, w, i, lanes<uint64_t>(regs, op.a).v[i],
                                       lanes<uint64_t>(regs, op.b).v[i]);
      if (outcome.printed.size() + text.size() <= kMaxPrinted) outcome.printed += text;
      if (op.d != ir::kNoSlot) lanes<uint32_t>(regs, op.d).v[i] = 0;
    } else if (op.code == C::assertfail) {
      const ir::Slot* s = &program.extra[op.imm];
      std::string message = read_string(*this, lanes<uint64_t>(regs, s[0]).v[i], w, i),
                  file = read_string(*this, lanes<uint64_t>(regs, s[1]).v[i], w, i);
      fault(w, pc, i, EventKind::assertion,
            fmt::format("assertion `{}` failed ({}:{})", message, file,
                        lanes<uint32_t>(regs, s[2]).v[i]));
    } else if (op.code == C::malloc_ || op.code == C::free_) {
      fault(w, pc, i, EventKind::unsupported, "device malloc and free");
    }
  }
}

} // namespace assay::vgpu
