// A fault of warp operations: the member mask loses a lane. PTX ISA 9.0, sections 9.7.9.6 (shfl),
// 9.7.13.2 (bar.warp.sync), 9.7.13.9 to 13 (vote, match, redux, elect): the mask is the last
// operand.
#include "mutate/kinds.hpp"

#include <fmt/format.h>

#include <bit>

namespace assay::mutate {

void mask_shrunk(const Site& site, Faults& out) {
  const Instruction& i = site.instruction();
  static const std::set<std::string> opcodes = {"shfl", "vote", "match", "redux", "elect"};
  bool masked = opcodes.count(i.opcode) || (i.opcode == "bar" && has(i, ".warp"));
  if (!masked || !has(i, ".sync") || i.operands.empty()) return;
  const Operand& mask = i.operands.back();
  Instruction smaller = i;
  if (mask.kind == Operand::Kind::integer) {
    uint32_t lanes = uint32_t(mask.bits);
    if (!lanes) return;
    for (uint32_t lost :
         {31u - uint32_t(std::countl_zero(lanes)), uint32_t(std::countr_zero(lanes))}) {
      uint32_t left = lanes & ~(1u << lost);
      if (!left) continue;
      smaller.operands.back() = integer_operand(int32_t(left));
      add_replaced(site, "mask-shrunk", smaller, out);
    }
    return;
  }
  if (mask.kind != Operand::Kind::reg) return;
  // The mask stands in a register: whatever it is, it loses lane 31, or lane 0.
  for (uint32_t lost : {31u, 0u}) {
    Instruction lose =
        make(i, "and", {".b32"},
             {register_operand("%assay_mask"), mask, integer_operand(int32_t(~(1u << lost)))});
    smaller.operands.back() = register_operand("%assay_mask");
    add_replaced(site, "mask-shrunk", block({{"%assay_mask", ptx::Type::b32}}, {lose, smaller}),
                 fmt::format("without lane {}", lost), out);
  }
}

} // namespace assay::mutate
