// From one VirtualFunction to operations of the program; see link.hpp.
#include "ir/link.hpp"
#include "base/check.hpp"

namespace assay::ir {
namespace {

class Linker {
public:
  Linker(const VirtualFunction& f, const SlotAssignment& slots, Program& program)
      : f_(f), slots_(slots), p_(program) {}

  void run() {
    place_blocks();
    Function& function = p_.functions.emplace_back();
    function.name = f_.source->name;
    function.entry = uint32_t(p_.ops.size());
    function.slots = slots_.slots;
    function.local_bytes = f_.local_bytes;
    function.constants = slots_.constants;
    function.undefined = slots_.undefined;
    for (const Block& b : f_.blocks) {
      if (b.dropped) continue;
      if (b.join) append({.code = OpCode::join}, f_.ops[b.first].instruction, false);
      for (uint32_t i = b.first; i < b.end; ++i) translate(f_.ops[i], b);
    }
  }

private:
  // The op index at which each block will start.
  void place_blocks() {
    auto at = uint32_t(p_.ops.size());
    start_.assign(f_.blocks.size(), kNoIndex);
    for (size_t b = 0; b < f_.blocks.size(); ++b) {
      const Block& block = f_.blocks[b];
      if (block.dropped) continue;
      start_[b] = at;
      at += block.end - block.first + (block.join ? 1 : 0);
    }
  }

  Slot slot(uint32_t id) const { return id == kNoIndex ? kNoSlot : slots_.slot[id]; }
  uint32_t block_start(uint64_t b) const { return b == kNoIndex ? kNoIndex : start_[b]; }

  void append(const Op& op, const ptx::Instruction* in, bool own) {
    p_.ops.push_back(op);
    Site site;
    if (in) {
      site.instruction = own ? in : nullptr;
      site.loc = in->loc;
      site.ptx_line = in->position.line;
    }
    p_.sites.push_back(site);
  }

  void translate(const VirtualOp& v, const Block& block) {
    Op op;
    op.code = v.code;
    op.flags = v.flags;
    op.d = slot(v.d);
    op.a = slot(v.a);
    op.b = slot(v.b);
    op.guard = slot(v.guard);
    op.imm = v.imm;
    if (is_memory(v.code)) {
      op.c = Slot(memory(f_.mems[v.c]));
      Slot first = slot(f_.mems[v.c].regs[0]);
      if (v.code == OpCode::ld) op.d = first;
      if (v.code == OpCode::st) op.b = first;
    } else {
      op.c = slot(v.c);
    }
    if (is_terminator(v.code)) op.length = uint16_t(block.instructions);
    switch (v.code) {
    case OpCode::jump: op.imm = block_start(v.imm); break;
    case OpCode::branch:
      op.imm = uint64_t(block_start(v.imm)) | uint64_t(block_start(block.reconverge)) << 32;
      break;
    case OpCode::brx: op.imm = table(f_.tables[v.imm], block); break;
    case OpCode::shfl:
      op.imm = (v.imm & 0xff) | uint64_t(extra(f_.extra, v.imm >> 8, 2)) << 8;
      break;
    case OpCode::assertfail: op.imm = extra(f_.extra, v.imm, 4); break;
    case OpCode::mma: op.imm = mma(f_.mmas[v.imm]); break;
    default: break;
    }
    append(op, v.instruction, true);
  }

  size_t memory(const VirtualMem& m) {
    MemInfo info = m.info;
    for (unsigned i = 0; i < 8; ++i) info.regs[i] = slot(m.regs[i]);
    info.src_size = slot(m.src_size);
    info.ignore_src = slot(m.ignore_src);
    p_.mem.push_back(info);
    return p_.mem.size() - 1;
  }

  size_t extra(const std::vector<uint32_t>& from, size_t at, size_t count) {
    for (size_t i = 0; i < count; ++i) p_.extra.push_back(slot(from[at + i]));
    return p_.extra.size() - count;
  }

  size_t table(const std::vector<uint32_t>& blocks, const Block& block) {
    BranchTable t;
    for (uint32_t b : blocks) t.targets.push_back(start_[b]);
    t.reconverge = block_start(block.reconverge);
    p_.tables.push_back(std::move(t));
    return p_.tables.size() - 1;
  }

  size_t mma(const VirtualMma& m) {
    MmaInfo info = m.shape;
    auto fill = [&](const std::vector<uint32_t>& ids, std::vector<Slot>& out) {
      for (uint32_t id : ids) out.push_back(slot(id));
    };
    fill(m.a, info.a);
    fill(m.b, info.b);
    fill(m.c, info.c);
    fill(m.d, info.d);
    p_.mmas.push_back(std::move(info));
    return p_.mmas.size() - 1;
  }

  const VirtualFunction& f_;
  const SlotAssignment& slots_;
  Program& p_;
  std::vector<uint32_t> start_;
};

} // namespace

void link_function(const VirtualFunction& f, const SlotAssignment& slots, Program& program) {
  Linker(f, slots, program).run();
}

} // namespace assay::ir
