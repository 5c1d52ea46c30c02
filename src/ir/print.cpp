// The listing of a program: a head, then for each function one operation a line.
//   12  add_b32 s4, s5, s6        ; 31: add.s32 %r4, %r5, %r6;
// Slots are s0, s1, …; the text after the semicolon is the PTX line and the instruction.
#include "ir/special.hpp"
#include "ir/virtual_code.hpp"

#include <fmt/format.h>

namespace assay::ir {
namespace {

std::string slot(Slot s) { return s == kNoSlot ? "_" : fmt::format("s{}", s); }

constexpr const char* kSemantics[] = {"weak",    "volatile", "relaxed", "acquire",
                                      "release", "acq_rel",  "sc",      "mmio"};
constexpr const char* kScopes[] = {"", "cta", "cluster", "gpu", "sys"};
constexpr const char* kAtomics[] = {"",    "add", "min", "max",  "inc", "dec",
                                    "and", "or",  "xor", "exch", "cas"};
constexpr const char* kPatterns[] = {"", " uniform", " affine"};

std::string memory(const Program& p, const Op& op) {
  const MemInfo& m = p.mem[op.c];
  std::string out;
  std::string_view space = m.space == ptx::Space::none ? "generic" : ptx::spelling(m.space);
  while (space.starts_with('.')) space.remove_prefix(1);
  out += fmt::format(" {}{}.{}", space, m.frame ? "(frame)" : "",
                     m.type == ptx::Type::none ? "-" : ptx::spelling(m.type));
  if (m.vector > 1) out += fmt::format("x{}", m.vector);
  if (m.matrices > 1 || m.trans)
    out += fmt::format(" matrices {}{}", m.matrices, m.trans ? " trans" : "");
  if (m.register_bits != 32) out += fmt::format(" r{}", m.register_bits);
  if (m.atomic != AtomicOp::none)
    out += fmt::format(" {}{}", kAtomics[unsigned(m.atomic)], m.noftz ? ".noftz" : "");
  if (m.semantics != Semantics::weak)
    out += fmt::format(" {}.{}", kSemantics[unsigned(m.semantics)], kScopes[unsigned(m.scope)]);
  if (m.nc) out += " nc";
  auto offset = int64_t(op.imm);
  if (op.a == kNoSlot)
    out += fmt::format(" [{:#x}]", op.imm);
  else
    out += fmt::format(" [{}{}{:+}]", slot(op.a), m.address64 ? "" : ".32", offset);
  if (op.code == OpCode::cp_async) {
    out += fmt::format(" [{}{}{:+}] {}", slot(op.b), m.address64_2 ? "" : ".32", m.offset2,
                       m.cp_bytes);
    if (m.src_size != kNoSlot) out.append(" size ").append(slot(m.src_size));
    if (m.ignore_src != kNoSlot) out.append(" ignore ").append(slot(m.ignore_src));
  }
  if (is_mbarrier(op.code)) return op.b == kNoSlot ? out : out + " " + slot(op.b);
  out += " {";
  for (unsigned i = 0; i < 8; ++i)
    if (m.regs[i] != kNoSlot) out += fmt::format("{}{}", i ? ", " : "", slot(m.regs[i]));
  out += "}";
  if (m.fixed) out += fmt::format(" fixed {}", m.fixed);
  return out + kPatterns[unsigned(m.pattern)];
}

std::string target(uint64_t index) {
  return index == kNoIndex ? std::string("none") : fmt::format("@{}", index);
}

std::string operands(const Program& p, const Op& op) {
  std::string out;
  OperandRoles r = roles(op.code);
  const char* comma = " ";
  auto add = [&](const std::string& text) {
    out.append(comma).append(text);
    comma = ", ";
  };
  if (r.d && op.d != kNoSlot) add(slot(op.d));
  if (is_memory(op.code)) return out + memory(p, op);
  if (r.a) add(slot(op.a));
  if (r.b && (op.b != kNoSlot || op.c != kNoSlot)) add(slot(op.b));
  if (r.c && op.c != kNoSlot) add(slot(op.c));
  switch (op.code) {
  case OpCode::jump: add(target(op.imm)); break;
  case OpCode::branch:
    add(fmt::format("{} join {}", target(op.imm & 0xffffffff), target(op.imm >> 32)));
    break;
  case OpCode::brx: {
    std::string list;
    for (uint32_t t : p.tables[op.imm].targets)
      list.append(list.empty() ? "" : " ").append(target(t));
    add(fmt::format("[{}] join {}", list, target(p.tables[op.imm].reconverge)));
    break;
  }
  case OpCode::call: add(p.functions[op.imm].name); break;
  case OpCode::fence:
    add(fmt::format("{}.{}", kSemantics[op.imm & 7], kScopes[(op.imm >> 8) & 7]));
    break;
  case OpCode::meet: break; // the key is a hash
  case OpCode::shfl: add(fmt::format("mode {}, {}", op.imm & 3, slot(p.extra[op.imm >> 8]))); break;
  case OpCode::mma: {
    const MmaInfo& m = p.mmas[op.imm];
    add(fmt::format("m{}n{}k{} {}.{}.{}.{}", m.m, m.n, m.k, ptx::spelling(m.d_type),
                    ptx::spelling(m.a_type), ptx::spelling(m.b_type), ptx::spelling(m.c_type)));
    break;
  }
  default:
    if (op.imm) add(fmt::format("#{:#x}", op.imm));
  }
  return out;
}

std::string flags(const Op& op) {
  std::string out;
  if (op.flags & kGuarded)
    out += fmt::format(" if {}{}", op.flags & kGuardNegated ? "!" : "", slot(op.guard));
  if (op.flags & kNegate) out += " negated";
  if (op.flags & kBackEdge) out += " back";
  if (op.flags & kUniform) out += " uni";
  if (op.flags & kAligned) out += " aligned";
  if (op.flags & kProvedUniform) out += " proved-uniform";
  if (op.length) out += fmt::format(" length {}", op.length);
  return out;
}

std::string head(const Program& p) {
  std::string out = fmt::format("kernel {}\n", p.kernel);
  for (const Parameter& v : p.parameters)
    out += fmt::format("param {} offset {} bytes {}\n", v.name, v.offset, v.bytes);
  for (const GlobalVariable& g : p.globals)
    out += fmt::format("{} {} at {:#x} bytes {}{}\n", g.read_only ? "const" : "global", g.name,
                       g.address, g.bytes, g.has_init ? " initialised" : "");
  out += fmt::format("shared {} registers {}\n", p.static_shared_bytes, p.register_estimate);
  return out;
}

} // namespace

std::string print(const Program& p) {
  std::string out = head(p);
  size_t next = 0;
  for (uint32_t i = 0; i < p.ops.size(); ++i) {
    while (next < p.functions.size() && p.functions[next].entry == i) {
      const Function& f = p.functions[next++];
      out += fmt::format("function {} slots {} local {}{}\n", f.name, f.slots, f.local_bytes,
                         f.recursive ? " recursive" : "");
      for (const Constant& c : f.constants)
        out += fmt::format("  s{} = {}{:#x}{}\n", c.slot,
                           c.source == Constant::Source::parameter ? "parameter at "
                           : c.source == Constant::Source::special ? "special "
                                                                   : "",
                           c.value, c.wide ? " wide" : "");
    }
    const Op& op = p.ops[i];
    std::string line = fmt::format("{:5}  {}{}{}", i, name(op.code), operands(p, op), flags(op));
    const Site& site = p.sites[i];
    if (site.instruction)
      line += fmt::format("{:{}}; {}: {}", "", line.size() < 60 ? 60 - line.size() : 1,
                          site.ptx_line, ptx::print(*site.instruction));
    out += line + "\n";
  }
  return out;
}

} // namespace assay::ir
