// The executable form of one kernel: flat operations over packed register slots, made by lowering
// (ir/lower.hpp) from a ptx::Module and run by vgpu. Immutable and shared between threads.
//
// Register file: a frame is an array of 128-byte slots (32 lanes × 4 bytes). A value of at most 32
// bits takes one slot, 64 bits two consecutive slots read as 32 contiguous 8-byte lanes (256
// bytes), 128 bits four slots read as 32 contiguous 16-byte lanes. 8- and 16-bit values sit
// zero-extended in 32-bit lanes (so every operation that writes a 16-bit register masks to 16
// bits). Predicates are lane masks: 0 or −1 in each 32-bit lane. Constants, and what a launch or a
// CTA fixes for the kernel (parameters, tid, ctaid), live in slots too, which the executor fills
// when a frame is entered. All of a warp's state at an operation boundary is in
// its register file (and its groups): an execution can stop before any operation.
#pragma once

#include "base/hash.hpp"
#include "ir/address_space.hpp"
#include "ptx/module.hpp"

#include <memory>
#include <string>
#include <vector>

namespace assay::ir {

using Slot = uint16_t; // slot index within the frame
inline constexpr Slot kNoSlot = 0xffff;
inline constexpr uint32_t kNoIndex = 0xffffffff;

// Operation codes: those of ops_core.def, whose operand conventions stand in that file, then the
// pure ones (functions of registers, ops_pure.def).
enum class OpCode : uint16_t {
#define PURE(name, ...) name,
#define CORE(name) name,
#include "ir/ops_core.def"
#include "ir/ops_pure.def"
#undef PURE
#undef CORE
  count
};
const char* name(OpCode code);

struct Op { // 24 bytes; vgpu puts a handler pointer before it (32 bytes, two to a cache line)
  OpCode code = OpCode::count;
  uint16_t flags = 0;
  Slot d = kNoSlot, a = kNoSlot, b = kNoSlot, c = kNoSlot;
  Slot guard = kNoSlot; // predicate slot when flags has kGuarded
  uint16_t length = 0;  // terminators: PTX instructions of the straight run that ends here
  uint64_t imm = 0;
};
static_assert(sizeof(Op) == 24);

enum OpFlags : uint16_t {
  kGuarded = 1, // executes only in lanes whose `guard` holds; pure, ld, st, atom, red, cp_async
  kGuardNegated = 2,
  kNegate = 4,         // branch, vote, bar.red: the predicate operand is negated
  kBackEdge = 8,       // branch, jump, brx: a target is at or before this op
  kUniform = 16,       // branch: written .uni; lanes that disagree are an illegal-operation finding
  kAligned = 32,       // bar: .aligned form (all lanes of the warp must execute it together)
  kProvedUniform = 64, // branch: the analysis proved that all lanes of a warp agree
  kRetried = 128,      // mbarrier_wait: a lane that is told "no" asks again and does nothing else;
                       // special: nothing but such loops uses the value
  kParity = 256,       // of mbarrier operations, as ops_core.def says
  kDrop = 512,
  kNoComplete = 1024,
  kExpectTx = 2048,
  kCompleteTx = 4096,
  kNoIncrement = 8192,
};

enum class Semantics : uint8_t { weak, volatile_, relaxed, acquire, release, acq_rel, sc, mmio };
enum class Scope : uint8_t { none, cta, cluster, gpu, sys };
enum class AtomicOp : uint8_t { none, add, min, max, inc, dec, and_, or_, xor_, exch, cas };
enum class AddressPattern : uint8_t { unknown, uniform, affine }; // a hint: tested, never trusted

inline constexpr uint32_t kFixedAddresses = 32;

// What a memory operation accesses: ld, st, atom, red, cp_async, ldmatrix, stmatrix, prefetch.
struct MemInfo {
  ptx::Space space = ptx::Space::none; // none: generic. param_entry: kernel parameters.
  ptx::Type type = ptx::Type::none;    // element type
  uint8_t bytes = 4;                   // bytes of one element: 1 2 4 8 16
  uint8_t vector = 1;                  // elements of one lane's access
  uint8_t register_bits = 32; // width of each register operand (16, 32, 64, 128): loads extend to
                              // it (sign for s types, else zero)
  Semantics semantics = Semantics::weak;
  Scope scope = Scope::none;
  AtomicOp atomic = AtomicOp::none;
  bool nc = false;       // ld.global.nc, ldu
  bool noftz = false;    // atom.add.noftz
  bool frame = false;    // local space: address = the group's frame base + imm (+ slot a, if any)
  bool address64 = true; // address slot `a` holds 64-bit lanes
  AddressPattern pattern = AddressPattern::unknown;
  uint8_t fixed = 0; // ld, st: 1 to kFixedAddresses: the address register, whose value no lane
                     // changes once it has it; 0: not known
  Slot regs[8] = {kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot};
  int32_t offset2 = 0;       // cp_async: offset of the source address
  bool address64_2 = true;   // cp_async: width of the source address slot
  uint8_t cp_bytes = 0;      // cp_async: 4, 8, 16
  Slot src_size = kNoSlot;   // cp_async: source size (32-bit), or kNoSlot
  Slot ignore_src = kNoSlot; // cp_async: predicate ignore-src, or kNoSlot
  uint8_t matrices = 1;      // ldmatrix, stmatrix: 1, 2, 4
  bool trans = false;
};

struct BranchTable {
  std::vector<uint32_t> targets;  // op indices
  uint32_t reconverge = kNoIndex; // op index of the join, kNoIndex for none
};

// mma and wmma.mma: registers of each fragment in the order of the manual.
struct MmaInfo {
  uint16_t m = 0, n = 0, k = 0;
  ptx::Type a_type = ptx::Type::none, b_type = ptx::Type::none, c_type = ptx::Type::none,
            d_type = ptx::Type::none;
  bool wmma = false; // fragment layout of wmma (ours, consistent between load, mma, store)
  bool a_column = false, b_column = true;
  bool satfinite = false;
  std::vector<Slot> a, b, c, d;
};

// A register that holds one value from the entry of its frame to the end.
struct Constant {
  enum class Source : uint8_t {
    value,     // `value` in all lanes
    parameter, // of the kernel: the 4 or 8 bytes at offset `value` of the parameter block
    special, // of the kernel: the special register Special(value), which depends on the place only
  };
  Slot slot;
  bool wide; // 64-bit lanes
  uint64_t value;
  Source source = Source::value;
};

struct Function {
  std::string name;
  uint32_t entry = 0;       // op index
  uint32_t slots = 0;       // frame size in slots
  uint32_t local_bytes = 0; // local memory of one frame: [params][returns][locals]; outgoing
                            // parameters of a call start at this offset, where the callee's begin
  std::vector<Constant> constants;
  std::vector<Slot> undefined; // may be read unwritten: zero at entry; slot n times if n slots
  bool recursive = false;
};

// The place of one operation, parallel to ops.
struct Site {
  const ptx::Instruction* instruction = nullptr; // into Program::module; null for inserted ops
  uint32_t loc = 0;                              // index into module->locations (0: none)
  uint32_t ptx_line = 0;
};

struct Parameter { // of the kernel
  std::string name;
  ptx::Type type = ptx::Type::none; // scalar type, or b8 for arrays (structs)
  uint32_t offset = 0, bytes = 0, align = 0;
  bool is_array = false, is_pointer = false;
};

struct GlobalVariable { // module-scope .global and .const
  std::string name;
  uint64_t address = 0; // fixed: see address_space.hpp
  uint64_t bytes = 0;
  bool read_only = false; // .const
  bool has_init = false;  // without: .global and .const are zero-filled
  std::vector<uint8_t> init;
  ptx::Type type = ptx::Type::none;
};

struct Program {
  std::shared_ptr<const ptx::Module> module;
  Digest text;        // of the module as it is printed: whether traces are of this program
  std::string kernel; // mangled name
  std::vector<Op> ops;
  std::vector<Site> sites;         // parallel to ops
  std::vector<Function> functions; // [0] is the kernel; a function's address is
                                   // window_base(kFunctionWindow) + 16·index
  std::vector<MemInfo> mem;        // Op::c of memory operations
  std::vector<Slot> extra;         // operand lists of operations with many operands
  std::vector<BranchTable> tables;
  std::vector<MmaInfo> mmas;
  std::vector<Parameter> parameters;
  uint32_t parameter_bytes = 0;
  std::vector<GlobalVariable> globals;
  uint32_t static_shared_bytes = 0; // dynamic shared memory starts here, already aligned
  uint32_t max_ntid[3] = {0, 0, 0}; // .maxntid, 0: none
  uint32_t req_ntid[3] = {0, 0, 0}; // .reqntid
  uint32_t min_ctas_per_sm = 0, max_registers = 0;
  uint32_t register_estimate = 0; // live 32-bit registers at the worst point
  bool has_calls = false;
};

// Human-readable listing, one operation a line; for tests and debugging.
std::string print(const Program& program);

// The checks that hold after lowering: targets are in range and start blocks, slots are inside the
// frame, guards only where allowed, sites are parallel to ops. Returns the first violation.
Result<void> verify(const Program& program);

} // namespace assay::ir
