// Atomic updates whose order makes no difference, or whose result nobody reads.
#pragma once

#include "ir/program.hpp"

namespace assay::ir {

// Integer updates of one commutative kind whose old value nobody reads: any order leaves the same.
// They order nothing either: a release or acquire among them would.
inline bool commutes(const Op& op, const MemInfo& info) {
  if (op.code != OpCode::red && op.code != OpCode::atom) return false;
  const bool result = op.code == OpCode::atom && (op.d != kNoSlot || info.vector > 1);
  const AtomicOp a = info.atomic;
  return !result && !ptx::is_float(info.type) && info.semantics == Semantics::relaxed &&
         (a == AtomicOp::add || a == AtomicOp::and_ || a == AtomicOp::or_ || a == AtomicOp::xor_ ||
          a == AtomicOp::min || a == AtomicOp::max);
}

// Does an atomic update tell its thread nothing, as `red` does?
inline bool is_unread(const Op& op, const MemInfo& info) {
  return op.code == OpCode::red || (op.d == kNoSlot && info.vector <= 1 && info.bytes <= 8 &&
                                    info.semantics == Semantics::relaxed);
}

} // namespace assay::ir
