// PTX ISA 9.0, sections 9.7.14 (bar, barrier, bar.warp.sync, membar, fence, vote, match,
// activemask, redux, elect) and 9.7.9 (shfl). Every warp-synchronous operation is preceded by a
// `meet`.
#include "ir/function_lowering.hpp"

#include <fmt/format.h>

namespace assay::ir {

using ptx::Operand;
using ptx::Type;

void FunctionLowering::meet(Value mask, Value deposit, const ptx::Instruction& in, bool wide) {
  emit(OpCode::meet, {}, mask, deposit, {}, uint64_t(meet_key(in)) | uint64_t(wide) << 32);
}

namespace {
// d|p: the second part, or null.
const Operand& first_of(const Operand& op) {
  return op.kind == Operand::Kind::pair ? op.elements[0] : op;
}
const Operand* second_of(const Operand& op) {
  if (op.kind != Operand::Kind::pair || op.elements[1].kind == Operand::Kind::sink) return nullptr;
  return &op.elements[1];
}
} // namespace

// shfl.sync.mode.b32 d{|p}, a, b, c, membermask
Result<void> FunctionLowering::lower_shfl(const ptx::Instruction& in) {
  Modifiers mods(in);
  if (!mods.has(".sync") || in.operands.size() != 5)
    return not_executed(in); // shfl without .sync ended with sm_70
  uint64_t mode = mods.has(".up") ? 0 : mods.has(".down") ? 1 : mods.has(".bfly") ? 2 : 3;
  auto d = dest(first_of(in.operands[0]), Type::b32);
  if (!d) return d.error();
  Value p;
  if (const Operand* second = second_of(in.operands[0])) {
    auto r = dest(*second, Type::pred);
    if (!r) return r.error();
    p = *r;
  }
  Value v[4];
  for (size_t i = 0; i < 4; ++i) {
    auto r = source(in.operands[i + 1], Type::b32);
    if (!r) return r.error();
    v[i] = *r;
  }
  meet(v[3], v[0], in);
  f_.extra.push_back(p.id);
  f_.extra.push_back(v[3].id);
  emit(OpCode::shfl, *d, v[0], v[1], v[2], mode | (f_.extra.size() - 2) << 8);
  return {};
}

// vote.sync.mode.pred p, {!}a, membermask and vote.sync.ballot.b32 d, {!}a, membermask
Result<void> FunctionLowering::lower_vote(const ptx::Instruction& in) {
  Modifiers mods(in);
  if (!mods.has(".sync") || in.operands.size() != 3) return not_executed(in);
  uint64_t mode = mods.has(".all") ? 0 : mods.has(".any") ? 1 : mods.has(".uni") ? 2 : 3;
  auto d = dest(in.operands[0], mode == 3 ? Type::b32 : Type::pred);
  if (!d) return d.error();
  Operand plain = in.operands[1];
  plain.negated = false;
  auto value = source(plain, Type::pred);
  if (!value) return value.error();
  auto mask = source(in.operands[2], Type::b32);
  if (!mask) return mask.error();
  meet(*mask, *value, in);
  emit(OpCode::vote, *d, {}, *mask, {}, mode, in.operands[1].negated ? kNegate : 0);
  return {};
}

// match.any.sync.type d, a, membermask and match.all.sync.type d{|p}, a, membermask
Result<void> FunctionLowering::lower_match(const ptx::Instruction& in) {
  Modifiers mods(in);
  if (in.operands.size() != 3) return not_executed(in);
  bool wide = mods.has(".b64");
  auto d = dest(first_of(in.operands[0]), Type::b32);
  if (!d) return d.error();
  Value p;
  if (const Operand* second = second_of(in.operands[0])) {
    auto r = dest(*second, Type::pred);
    if (!r) return r.error();
    p = *r;
  }
  auto value = source(in.operands[1], wide ? Type::b64 : Type::b32);
  if (!value) return value.error();
  auto mask = source(in.operands[2], Type::b32);
  if (!mask) return mask.error();
  meet(*mask, *value, in, wide);
  emit(OpCode::match, *d, {}, *mask, p, uint64_t(mods.has(".all")) | uint64_t(wide) << 1);
  return {};
}

// redux.sync.op.type d, a, membermask
Result<void> FunctionLowering::lower_redux(const ptx::Instruction& in) {
  Modifiers mods(in);
  static constexpr std::string_view kOps[] = {".add", ".min", ".max", ".and", ".or", ".xor"};
  uint64_t imm = 8;
  for (uint64_t i = 0; i < 6; ++i)
    if (mods.has(kOps[i])) imm = i;
  if (imm == 8 || in.operands.size() != 3) return not_executed(in);
  Type type = mods.last_type();
  imm |= uint64_t(type == Type::s32) << 4 | uint64_t(type == Type::f32) << 5 |
         uint64_t(mods.has(".abs")) << 6 | uint64_t(mods.has(".NaN")) << 7;
  auto d = dest(in.operands[0], type);
  if (!d) return d.error();
  auto value = source(in.operands[1], type);
  if (!value) return value.error();
  auto mask = source(in.operands[2], Type::b32);
  if (!mask) return mask.error();
  meet(*mask, *value, in);
  emit(OpCode::redux, *d, {}, *mask, {}, imm);
  return {};
}

// elect.sync d|p, membermask
Result<void> FunctionLowering::lower_elect(const ptx::Instruction& in) {
  if (in.operands.size() != 2) return not_executed(in);
  Value d, p;
  if (const Operand& op = first_of(in.operands[0]); op.kind != Operand::Kind::sink) {
    auto r = dest(op, Type::b32);
    if (!r) return r.error();
    d = *r;
  }
  if (const Operand* second = second_of(in.operands[0])) {
    auto r = dest(*second, Type::pred);
    if (!r) return r.error();
    p = *r;
  }
  auto mask = source(in.operands[1], Type::b32);
  if (!mask) return mask.error();
  meet(*mask, {}, in);
  emit(OpCode::elect, d, {}, *mask, p);
  return {};
}

Result<void> FunctionLowering::lower_activemask(const ptx::Instruction& in) {
  auto d = dest(in.operands.at(0), Type::b32);
  if (!d) return d.error();
  emit(OpCode::activemask, *d);
  return {};
}

Result<void> FunctionLowering::lower_bar_warp_sync(const ptx::Instruction& in) {
  auto mask = source(in.operands.at(0), Type::b32);
  if (!mask) return mask.error();
  meet(*mask, {}, in);
  emit(OpCode::bar_warp_sync, {}, *mask);
  return {};
}

// bar{.cta}.sync a{, b}; .arrive a, b; .red.popc.u32 d, a{, b}, {!}c; .red.and/or.pred p, a{, b},
// {!}c. `bar` is `barrier.cta` with .aligned.
Result<void> FunctionLowering::lower_bar(const ptx::Instruction& in) {
  Modifiers mods(in);
  if (mods.has(".warp")) return lower_bar_warp_sync(in);
  if (mods.has(".cluster")) return not_executed(in);
  uint64_t kind = mods.has(".arrive") ? 1 : 0;
  if (mods.has(".red")) kind = mods.has(".popc") ? 2 : mods.has(".and") ? 3 : 4;
  uint16_t flags = in.opcode == "bar" || mods.has(".aligned") ? kAligned : 0;
  size_t at = 0;
  Value d, c, values[2];
  size_t last = in.operands.size();
  if (kind >= 2) {
    if (last < 3) return not_executed(in);
    auto r = dest(in.operands[at++], kind == 2 ? Type::u32 : Type::pred);
    if (!r) return r.error();
    d = *r;
    Operand plain = in.operands[--last];
    flags |= plain.negated ? kNegate : 0;
    plain.negated = false;
    auto p = source(plain, Type::pred);
    if (!p) return p.error();
    c = *p;
  }
  if (at >= last || last - at > 2) return not_executed(in);
  for (size_t i = 0; at < last; ++at, ++i) {
    auto r = source(in.operands[at], Type::u32);
    if (!r) return r.error();
    values[i] = *r;
  }
  emit(OpCode::bar, d, values[0], values[1], c, kind, flags);
  return {};
}

namespace {
// Which proxies a proxy fence joins: imm of fence_proxy.
uint64_t proxy_of(const Modifiers& mods) {
  if (mods.has(".alias")) return 0;
  if (mods.has(".async.global")) return 2;
  if (mods.has_prefix(".async.shared")) return 3;
  if (mods.has(".async")) {
    if (mods.has(".global")) return 2;
    return mods.has_prefix(".shared") ? 3 : 1;
  }
  return 4; // tensormap
}
} // namespace

// fence{.sem}.scope: without .sem it is .acq_rel. fence.proxy.… orders proxies only.
Result<void> FunctionLowering::lower_fence(const ptx::Instruction& in) {
  Modifiers mods(in);
  if (mods.has(".proxy") || mods.has_prefix(".proxy::")) {
    if (mods.has_prefix(".tensormap")) return not_executed(in);
    emit(OpCode::fence_proxy, {}, {}, {}, {}, proxy_of(mods));
    return {};
  }
  // Makes initialisations known to other CTAs of the cluster, not to other threads of the own.
  if (mods.has_prefix(".mbarrier_init")) return {};
  if (mods.has_prefix(".sync_restrict")) return not_executed(in);
  Semantics semantics = mods.has(".sc")        ? Semantics::sc
                        : mods.has(".acquire") ? Semantics::acquire
                        : mods.has(".release") ? Semantics::release
                                               : Semantics::acq_rel;
  if (mods.scope() == Scope::none) return not_executed(in);
  emit(OpCode::fence, {}, {}, {}, {}, uint64_t(semantics) | uint64_t(mods.scope()) << 8);
  return {};
}

// membar.cta, .gl and .sys are fence.sc at scope cta, gpu and sys.
Result<void> FunctionLowering::lower_membar(const ptx::Instruction& in) {
  Modifiers mods(in);
  if (mods.has(".proxy")) return lower_fence(in);
  if (mods.scope() == Scope::none) return not_executed(in);
  emit(OpCode::fence, {}, {}, {}, {}, uint64_t(Semantics::sc) | uint64_t(mods.scope()) << 8);
  return {};
}

} // namespace assay::ir
