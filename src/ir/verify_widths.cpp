// Whether every operand is there and has the width that its operation expects: the signatures of
// ops_pure.def and the comments of ops_core.def as a check. A value of another width would make a
// handler read or write the neighbouring slots of the register file.
#include "ir/verify_widths.hpp"
#include "ir/special.hpp"

#include <array>
#include <fmt/format.h>
#include <string_view>

namespace assay::ir {
namespace {

// Letters are those of ops_pure.def, and `*` for any value of at most 32 bits, predicates included.
uint32_t slots_of(char letter) {
  switch (letter) {
  case 'q':
  case 'd': return 2;
  case 'o': return 4;
  default: return 1;
  }
}

struct Signature {
  bool known = false;
  std::array<char, 4> letters = {}; // of d, a, b, c; 0: no operand
};

// "r=rr and.b32; p=pp and.pred": what all signatures of a row have in common.
Signature signature_of(std::string_view text) {
  Signature all;
  while (!text.empty()) {
    size_t end = std::min(text.find(';'), text.size());
    std::string_view form = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    form.remove_prefix(std::min(form.find_first_not_of(' '), form.size()));
    std::array<char, 4> letters = {};
    size_t at = 0;
    for (char c : form.substr(0, form.find(' ')))
      if (c != '=' && c != 'i') letters[at++] = c;
    for (size_t k = 0; k < 4; ++k)
      if (!all.known)
        all.letters[k] = letters[k];
      else if ((all.letters[k] == 'p') != (letters[k] == 'p'))
        all.letters[k] = '*';
    all.known = true;
  }
  return all;
}

const Signature& signature_of(OpCode code) {
  static const std::array<Signature, size_t(OpCode::count)> kTable = [] {
    std::array<Signature, size_t(OpCode::count)> table;
#define CORE(name)
#define PURE(name, kind, text) table[size_t(OpCode::name)] = signature_of(std::string_view(text));
#include "ir/ops_core.def"
#include "ir/ops_pure.def"
#undef PURE
#undef CORE
    table[size_t(OpCode::mov_b32)].letters = {'*', '*'};
    return table;
  }();
  return kTable[size_t(code)];
}

class Widths {
public:
  Widths(const VirtualFunction& f, const VirtualOp& op) : f_(f), op_(op) {}

  std::string run() {
    if (op_.flags & kGuarded) need("guard", op_.guard, 'p');
    if (const Signature& s = signature_of(op_.code); s.known) {
      const uint32_t ids[] = {op_.d, op_.a, op_.b, op_.c};
      constexpr const char* kNames[] = {"d", "a", "b", "c"};
      for (size_t k = 0; k < 4; ++k)
        if (s.letters[k]) need(kNames[k], ids[k], s.letters[k]);
    } else if (is_memory(op_.code)) {
      memory(f_.mems[op_.c]);
    } else {
      core();
    }
    return problem_;
  }

private:
  void may(const char* what, uint32_t id, char letter) {
    if (id == kNoIndex || !problem_.empty()) return;
    const VirtualRegister& r = f_.registers[id];
    bool predicate = r.bits == 1 || r.constant;
    if (r.slots() != slots_of(letter) || (letter == 'p' && !predicate) ||
        (letter != 'p' && letter != '*' && r.bits == 1))
      problem_ = fmt::format("operand {} of {} has {} bits", what, name(op_.code), r.bits);
  }
  void need(const char* what, uint32_t id, char letter) {
    if (id == kNoIndex && problem_.empty())
      problem_ = fmt::format("operand {} of {} is missing", what, name(op_.code));
    may(what, id, letter);
  }

  void memory(const VirtualMem& m) {
    const MemInfo& info = m.info;
    bool matrix = op_.code == OpCode::ldmatrix || op_.code == OpCode::stmatrix;
    bool atomic = op_.code == OpCode::atom || op_.code == OpCode::red;
    may("address", op_.a, info.address64 ? 'q' : 'r');
    if (op_.code == OpCode::cp_async) {
      need("source", op_.b, info.address64_2 ? 'q' : 'r');
      may("source size", m.src_size, 'r');
      may("ignore-src", m.ignore_src, 'p');
    }
    if (is_mbarrier(op_.code)) return mbarrier();
    if (op_.code == OpCode::cp_async || op_.code == OpCode::prefetch) return;
    uint32_t count = matrix ? info.matrices : info.vector;
    if (atomic) count *= info.atomic == AtomicOp::cas ? 2 : 1;
    char letter = matrix                      ? 'r'
                  : info.register_bits == 128 ? 'o'
                  : info.register_bits == 64  ? 'q'
                                              : 'r';
    if (!matrix && problem_.empty() && (count > 8 || info.bytes * 8u > info.register_bits))
      problem_ = fmt::format("{} of more than its registers hold", name(op_.code));
    for (uint32_t i = 0; i < count && problem_.empty(); ++i) need("value", m.regs[i], letter);
    if (op_.code == OpCode::atom && info.vector > 1)
      for (uint32_t i = info.vector; i < 8; ++i) may("old value", m.regs[i], letter);
    if (op_.code == OpCode::atom) may("d", op_.d, letter);
  }

  void mbarrier() {
    switch (op_.code) {
    case OpCode::mbarrier_arrive: return may("state", op_.d, 'q'), may("count", op_.b, 'r');
    case OpCode::mbarrier_wait:
      need("d", op_.d, 'p');
      return need("state", op_.b, op_.flags & kParity ? 'r' : 'q');
    case OpCode::mbarrier_init:
    case OpCode::mbarrier_tx: return need("count", op_.b, 'r');
    default: return;
    }
  }

  void core() {
    switch (op_.code) {
    case OpCode::branch: return need("a", op_.a, 'p');
    case OpCode::bar_warp_sync:
    case OpCode::nanosleep:
    case OpCode::brx: return need("a", op_.a, 'r');
    case OpCode::stackrestore:
    case OpCode::free_:
    case OpCode::call_indirect: return need("a", op_.a, 'q');
    case OpCode::special: {
      auto special = Special(op_.imm & 255);
      bool predicate = special == Special::is_explicit_cluster;
      return need("d", op_.d, is_wide(special) ? 'q' : predicate ? 'p' : 'r');
    }
    case OpCode::frame_address:
    case OpCode::stacksave: return need("d", op_.d, 'q');
    case OpCode::activemask:
    case OpCode::movmatrix: return need("d", op_.d, 'r');
    case OpCode::alloca_:
    case OpCode::malloc_: return need("d", op_.d, 'q'), need("a", op_.a, 'q');
    case OpCode::isspacep: return need("d", op_.d, 'p'), need("a", op_.a, 'q');
    case OpCode::mbarrier_pending: return need("d", op_.d, 'r'), need("a", op_.a, 'q');
    case OpCode::vprintf:
      return need("d", op_.d, 'r'), need("a", op_.a, 'q'), need("b", op_.b, 'q');
    case OpCode::assertfail:
      for (unsigned i = 0; i < 4; ++i) need("list", f_.extra[op_.imm + i], i == 2 ? 'r' : 'q');
      return;
    case OpCode::mma: return mma(f_.mmas[op_.imm]);
    case OpCode::check_written:
      return need("a", op_.a, 'p'), may("guard", op_.c, 'p'); // d and b: of any width
    case OpCode::check_base:
    case OpCode::check_divisor: {
      char letter = op_.imm == 64 ? 'q' : 'r';
      need("d", op_.d, letter), need("a", op_.a, letter), need("b", op_.b, letter);
      return may("guard", op_.c, 'p');
    }
    default: return warp_or_barrier();
    }
  }

  void warp_or_barrier() {
    switch (op_.code) {
    case OpCode::meet:
      may("mask", op_.a, 'r');
      return may("deposit", op_.b, op_.imm >> 32 & 1 ? 'q' : '*');
    case OpCode::shfl:
      need("d", op_.d, 'r'), need("a", op_.a, 'r'), need("b", op_.b, 'r'), need("c", op_.c, 'r');
      need("mask", f_.extra[(op_.imm >> 8) + 1], 'r');
      return may("p", f_.extra[op_.imm >> 8], 'p');
    case OpCode::vote: return need("d", op_.d, op_.imm == 3 ? 'r' : 'p'), need("b", op_.b, 'r');
    case OpCode::redux: return need("d", op_.d, 'r'), need("b", op_.b, 'r');
    case OpCode::match: return need("d", op_.d, 'r'), need("b", op_.b, 'r'), may("p", op_.c, 'p');
    case OpCode::elect: return may("d", op_.d, 'r'), need("b", op_.b, 'r'), may("p", op_.c, 'p');
    case OpCode::bar: {
      need("a", op_.a, 'r'), may("b", op_.b, 'r');
      if (op_.imm < 2) return;
      return need("d", op_.d, op_.imm == 2 ? 'r' : 'p'), need("c", op_.c, 'p');
    }
    default: return; // jump, join, call, ret, exit, trap, unsupported, fences, groups of copies
    }
  }

  void mma(const VirtualMma& m) {
    bool f64 = m.shape.a_type == ptx::Type::f64;
    for (const auto* list : {&m.a, &m.b, &m.c, &m.d})
      for (uint32_t id : *list) need("fragment", id, f64 ? 'q' : 'r');
  }

  const VirtualFunction& f_;
  const VirtualOp& op_;
  std::string problem_;
};

} // namespace

std::string width_problem(const VirtualFunction& f, const VirtualOp& op) {
  return Widths(f, op).run();
}

Result<void> verify_widths(const VirtualFunction& f) {
  for (const Block& b : f.blocks)
    for (uint32_t i = b.first; i < b.end && !b.dropped; ++i)
      if (std::string problem = width_problem(f, f.ops[i]); !problem.empty())
        return Error{ErrorCode::internal, fmt::format("op {}: {}", i, problem), {}, {}};
  return {};
}

} // namespace assay::ir
