// PTX ISA 9.0, section 9.7.9.25 (asynchronous copy): cp.async and its groups. Bulk and tensor
// copies are not executed.
#include "ir/function_lowering.hpp"

namespace assay::ir {

using ptx::Operand;
using ptx::Space;
using ptx::Type;

Result<void> FunctionLowering::lower_cp(const ptx::Instruction& in) {
  Modifiers mods(in);
  if (!mods.has(".async") || mods.has(".bulk") || mods.has_prefix(".reduce"))
    return not_executed(in);
  if (mods.has(".mbarrier")) return lower_cp_arrive(in);
  bool commit = mods.has(".commit_group"), wait = mods.has(".wait_group"),
       wait_all = mods.has(".wait_all");
  if (!commit && !wait && !wait_all) return lower_cp_copy(in);
  uint64_t groups = wait_all ? kNoIndex : 0;
  if (wait) {
    if (in.operands.empty() || in.operands[0].kind != Operand::Kind::integer)
      return not_executed(in);
    groups = in.operands[0].bits;
  }
  uint32_t over = guard_.valid() ? branch_around() : kNoIndex;
  emit(commit ? OpCode::cp_async_commit : OpCode::cp_async_wait, {}, {}, {}, {}, groups);
  if (over != kNoIndex) place_label(over);
  return {};
}

// cp.async.{ca|cg}.shared.global [dst], [src], size{, src-size}{, cache-policy}
// cp.async.{ca|cg}.shared.global [dst], [src], size{, ignore-src}{, cache-policy}
Result<void> FunctionLowering::lower_cp_copy(const ptx::Instruction& in) {
  if (in.operands.size() < 3 || in.operands[2].kind != Operand::Kind::integer)
    return not_executed(in);
  auto to = address(in.operands[0]);
  if (!to) return to.error();
  auto from = address(in.operands[1]);
  if (!from) return from.error();
  uint64_t size = in.operands[2].bits;
  if (size != 4 && size != 8 && size != 16)
    return unsupported("cp.async of a size other than 4, 8 and 16");
  VirtualMem m;
  m.info.space = Space::global;
  m.info.type = Type::b8;
  m.info.cp_bytes = m.info.bytes = uint8_t(in.operands[2].bits);
  m.info.address64 = to->wide;
  m.info.address64_2 = from->wide;
  m.info.offset2 = int32_t(from->offset);
  Value source_base = from->base;
  if (!source_base.valid()) {
    source_base = constant(uint64_t(from->offset), 64);
    m.info.offset2 = 0;
    m.info.address64_2 = true;
  }
  size_t end = in.operands.size() - (Modifiers(in).has(".L2::cache_hint") ? 1 : 0);
  if (end > 3) {
    const Operand& extra = in.operands[3];
    bool ignore = register_bits(extra) == 1;
    auto v = source(extra, ignore ? Type::pred : Type::u32);
    if (!v) return v.error();
    (ignore ? m.ignore_src : m.src_size) = v->id;
  }
  VirtualOp op;
  op.a = to->base.id;
  op.b = source_base.id;
  op.imm = uint64_t(to->offset);
  access(OpCode::cp_async, op, m);
  return {};
}

} // namespace assay::ir
