// One function between translation and slot assignment: operations over virtual registers, cut into
// blocks. Internal to ir. Operand conventions are those of ops_core.def with virtual register ids
// in place of slots, labels or blocks in place of op indices, and indices into this function's own
// lists in place of the program's.
#pragma once

#include "ir/program.hpp"

#include <compare>
#include <vector>

namespace assay::ir {

// What a constant stands for whose value is our choice and another machine's differs.
struct Named {
  enum class What : uint8_t { nothing, variable, parameters, function, cache_policy };
  What what = What::nothing;
  const ptx::Variable* variable = nullptr;
  auto operator<=>(const Named&) const = default;
};

struct VirtualRegister {
  uint8_t bits = 32; // 1, 16, 32, 64, 128
  bool temp = false; // lives within one PTX instruction
  bool constant = false;
  Constant::Source source = Constant::Source::value; // constants
  uint64_t value = 0;                                // constants
  Named named = {};                                  // constants
  uint32_t slots() const { return bits <= 32 ? 1 : bits / 32; }
};

struct VirtualOp {
  OpCode code = OpCode::count;
  uint16_t flags = 0;
  uint32_t d = kNoIndex, a = kNoIndex, b = kNoIndex, c = kNoIndex, guard = kNoIndex;
  uint64_t imm = 0;
  const ptx::Instruction* instruction = nullptr;
};

struct VirtualMem {
  MemInfo info; // its slots are unused
  uint32_t regs[8] = {kNoIndex, kNoIndex, kNoIndex, kNoIndex,
                      kNoIndex, kNoIndex, kNoIndex, kNoIndex};
  uint32_t src_size = kNoIndex, ignore_src = kNoIndex;
};

struct VirtualMma {
  MmaInfo shape; // its lists are unused
  std::vector<uint32_t> a, b, c, d;
};

struct Block {
  uint32_t first = 0, end = 0;      // ops [first, end); the last one is a terminator
  uint32_t instructions = 0;        // PTX instructions, for the terminator's length
  std::vector<uint32_t> successors; // a branch: taken first, then the next block
  uint32_t reconverge = kNoIndex;   // block where the paths of its branch meet again
  bool join = false;                // some branch reconverges here
  bool dropped = false;             // unreachable
};

struct FrameVariable { // a .local or .param variable
  uint32_t offset = 0; // in the frame
  const ptx::Variable* variable = nullptr;
};

struct VirtualFunction {
  const ptx::Function* source = nullptr;
  bool is_kernel = false;
  std::vector<VirtualRegister> registers;
  std::vector<VirtualOp> ops;
  std::vector<Block> blocks; // in layout order; [0] is the entry
  std::vector<VirtualMem> mems;
  std::vector<uint32_t> extra;
  std::vector<std::vector<uint32_t>> tables; // of brx: labels, after resolve_labels() blocks
  std::vector<VirtualMma> mmas;
  std::vector<uint32_t> label_block; // label id → block
  uint32_t local_bytes = 0;
  std::vector<FrameVariable> frame; // parameters of calls lie behind local_bytes
  std::vector<uint32_t> callees;    // function indices, direct calls
  bool calls_indirectly = false;
};

bool is_terminator(OpCode code);
bool is_memory(OpCode code);   // Op::c is an index into mem
bool is_mbarrier(OpCode code); // of an object in shared memory: no registers but d, a, b
bool is_pure(OpCode code);
bool may_be_guarded(OpCode code);

// How the slots d, a, b, c of a code are used: a bit set of the letters.
struct OperandRoles {
  bool d = false, a = false, b = false, c = false; // registers
  bool c_defined = false;                          // c is written, not read (match, elect)
};
extern const OperandRoles* const kOperandRoles; // indexed by code
inline const OperandRoles& roles(OpCode code) { return kOperandRoles[uint16_t(code)]; }

// Calls visit(reference to id, is_definition) for every register operand that is there.
template <class Function, class Operation, class Visit>
void visit_operands(Function& f, Operation& op, Visit visit) {
  const OperandRoles& r = roles(op.code);
  auto some = [&](auto& id, bool definition) {
    if (id != kNoIndex) visit(id, definition);
  };
  if (op.flags & kGuarded) some(op.guard, false);
  if (r.a) some(op.a, false);
  if (r.b) some(op.b, false);
  if (r.c) some(op.c, r.c_defined);
  if (is_memory(op.code)) {
    auto& m = f.mems[op.c];
    some(m.src_size, false);
    some(m.ignore_src, false);
    bool loads = op.code == OpCode::ld || op.code == OpCode::ldmatrix;
    bool atomic = op.code == OpCode::atom && m.info.vector > 1;
    for (unsigned i = 0; i < 8; ++i) some(m.regs[i], loads || (atomic && i >= m.info.vector));
  }
  if (op.code == OpCode::shfl) {
    some(f.extra[op.imm >> 8], true);
    some(f.extra[(op.imm >> 8) + 1], false);
  }
  if (op.code == OpCode::assertfail)
    for (unsigned i = 0; i < 4; ++i) some(f.extra[op.imm + i], false);
  if (op.code == OpCode::mma) {
    auto& m = f.mmas[op.imm];
    for (auto* list : {&m.a, &m.b, &m.c})
      for (auto& id : *list) some(id, false);
    for (auto& id : m.d) some(id, true);
  }
  if (r.d) some(op.d, true);
}

// Calls use(id) for every register that the op reads and def(id) for every one that it writes.
template <class Use, class Def>
void for_each_operand(const VirtualFunction& f, const VirtualOp& op, Use use, Def def) {
  visit_operands(f, op, [&](const uint32_t& id, bool definition) {
    if (definition)
      def(id);
    else
      use(id);
  });
}

} // namespace assay::ir
