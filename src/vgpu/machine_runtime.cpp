// The device runtime: printf, assert, malloc, free. Source: CUDA C++ Programming Guide,
// "Formatted Output", "Assertion", "Dynamic Global Memory Allocation".
#include "vgpu/stage.hpp"

#include <fmt/format.h>
#include <fmt/printf.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>

namespace assay::vgpu {

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

// Memory of the runtime at an address, live or freed: the latter is a finding.
Region* Machine::runtime_region(Warp& w, uint32_t pc, uint32_t lane, uint64_t address,
                                const char* what) {
  HeapBlock* block = nullptr;
  Region* r = runtime.find(address, block);
  if (block && block->freed && address - r->base < r->size) {
    fault(w, pc, lane, EventKind::illegal_operation,
          fmt::format("{} at offset {} of a block of the heap ({} bytes) that has been freed", what,
                      address - r->base, r->size),
          true, "a block of the heap", address - r->base);
    return nullptr;
  }
  return r;
}

// malloc and free by one lane. For the detector free writes to the block.
void Machine::heap_call(Warp& w, uint32_t pc, const ir::Op& op, char* regs, uint32_t lane) {
  allocates = true;
  ++heap_next; // it is another heap now
  const uint64_t operand = lanes<uint64_t>(regs, op.a).v[lane];
  if (op.code == ir::OpCode::malloc_) {
    uint64_t thread =
        (uint64_t(w.cta->index) * threads + w.index * 32 + lane) * job.launches.size() +
        launch_index;
    HeapBlock* block = runtime.allocate(thread, operand, poison_of_memory(options));
    if (block && detector) detector->track(block->region.base, block->region.size);
    if (op.d != ir::kNoSlot) lanes<uint64_t>(regs, op.d).v[lane] = block ? block->region.base : 0;
    return;
  }
  if (!operand) return;
  HeapBlock* block = runtime.at(operand);
  if (!block || block->freed) {
    fault(w, pc, lane, EventKind::illegal_operation,
          block ? "free of a block of the heap that has been freed already"
                : fmt::format("free of address {:#x}, where no block of the heap begins", operand));
    return;
  }
  constexpr uint64_t kMostObserved = 4096; // bytes
  race::AccessInfo access;
  access.pc = pc;
  access.write = true;
  access.read = false;
  for (uint64_t at = 0; detector && at < std::min(block->region.size, kMostObserved);) {
    uint64_t address[32];
    const uint8_t values[32][16] = {};
    access.bytes = uint8_t(std::min<uint64_t>(16, block->region.size - at));
    address[lane] = operand + at;
    detector->access(race::Space::global, agent(w), 1u << lane, address, access, values, 16, 0);
    at += access.bytes;
  }
  block->launch = launch_index;
  block->pc = pc;
  runtime.release(*block);
}

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
      heap_call(w, pc, op, regs, i);
    }
  }
}

} // namespace assay::vgpu
