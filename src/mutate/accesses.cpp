// Faults of the accesses themselves: a write goes to another thread's address, an atomic operation
// is made plain, or is taken apart into a strong load and a strong store. PTX ISA 9.0, sections
// 9.7.9.11 (st), 9.7.13.5 (atom) and 9.7.13.7 (red).
#include "mutate/kinds.hpp"

#include <fmt/format.h>

namespace assay::mutate {
namespace {

using ptx::Type;

uint32_t access_bytes(const Instruction& i) {
  uint32_t bytes = ptx::bits(type_of(i)) / 8;
  for (uint32_t n : {2u, 4u, 8u})
    if (has(i, fmt::format(".v{}", n))) bytes *= n;
  return bytes;
}

// What an atomic operation makes of the old value: instructions that leave it in %assay_new.
std::vector<Instruction> operation(const Instruction& atom, const std::vector<Operand>& values) {
  const std::string type = fmt::format(".{}", ptx::spelling(type_of(atom)));
  const Operand old = register_operand("%assay_old"), fresh = register_operand("%assay_new"),
                p = register_operand("%assay_p");
  auto unguarded = [&](std::string opcode, std::vector<std::string> modifiers,
                       std::vector<Operand> operands) {
    Instruction i = make(atom, std::move(opcode), std::move(modifiers), std::move(operands));
    i.guard.clear();
    i.guard_negated = false;
    return i;
  };
  const std::string op = first_of(
      atom, {".add", ".min", ".max", ".and", ".or", ".xor", ".exch", ".cas", ".inc", ".dec"});
  if (op == ".exch") return {unguarded("mov", {type}, {fresh, values[0]})};
  if (op == ".cas")
    return {unguarded("setp", {".eq", type}, {p, old, values[0]}),
            unguarded("selp", {type}, {fresh, values[1], old, p})};
  if (op == ".inc") // old >= limit ? 0 : old + 1
    return {unguarded("add", {type}, {fresh, old, integer_operand(1)}),
            unguarded("setp", {".ge", type}, {p, old, values[0]}),
            unguarded("selp", {type}, {fresh, integer_operand(0), fresh, p})};
  if (op == ".dec") // old == 0 or old > limit ? limit : old − 1
    return {unguarded("add", {type}, {fresh, old, integer_operand(-1)}),
            unguarded("setp", {".ge", type}, {p, fresh, values[0]}),
            unguarded("selp", {type}, {fresh, values[0], fresh, p})};
  if (op.empty()) return {};
  return {unguarded(op.substr(1), {type}, {fresh, old, values[0]})};
}

// `load` and `store` are the orders that the two accesses have: none for weak ones.
void take_apart(const Site& site, const char* kind, const std::vector<std::string>& order,
                Faults& out) {
  const Instruction& i = site.instruction();
  if (i.opcode != "atom" && i.opcode != "red") return;
  const Type type = type_of(i);
  const bool wide = ptx::bits(type) == 64, half = ptx::bits(type) == 16;
  if (type == Type::none || ptx::bits(type) > 64 || has(i, ".v2") || has(i, ".v4") || has(i, ".v8"))
    return;
  const size_t first = i.opcode == "atom" ? 1 : 0; // red has no result
  if (i.operands.size() < first + 2) return;
  const Operand& address = i.operands[first];
  const std::vector<Operand> values(i.operands.begin() + long(first) + 1, i.operands.end());
  std::vector<std::string> how = order;
  if (std::string space = first_of(i, {".global", ".shared", ".shared::cta"}); !space.empty())
    how.push_back(space);
  // Packed types are loaded as bits.
  how.push_back(half ? ".b16" : wide ? ".b64" : ".b32");
  std::vector<Instruction> all = {make(i, "ld", how, {register_operand("%assay_old"), address})};
  std::vector<Instruction> middle = operation(i, values);
  if (middle.empty()) return;
  all.insert(all.end(), middle.begin(), middle.end());
  all.push_back(make(i, "st", how, {address, register_operand("%assay_new")}));
  if (first && i.operands[0].kind == Operand::Kind::reg)
    all.push_back(make(i, "mov",
                       {half   ? ".b16"
                        : wide ? ".b64"
                               : ".b32"},
                       {i.operands[0], register_operand("%assay_old")}));
  Type bits = half ? Type::b16 : wide ? Type::b64 : Type::b32;
  std::string text =
      fmt::format("ld{0}, {1}, st{0}", order.empty() ? "" : order[0], middle[0].opcode);
  add_replaced(site, kind,
               block({{"%assay_old", bits}, {"%assay_new", bits}, {"%assay_p", Type::pred}}, all),
               text, out);
}

} // namespace

// Every second thread of a warp, or every second warp, writes one element lower: where neighbours
// write neighbouring elements, to the element of the neighbour.
void write_aliased(const Site& site, Faults& out) {
  const Instruction& i = site.instruction();
  if (i.opcode != "st" || !accesses_memory(i) || i.operands.size() != 2) return;
  const Operand& address = i.operands[0];
  if (address.kind != Operand::Kind::address || address.elements.size() != 1) return;
  const Operand& base = address.elements[0];
  const uint32_t width = base.kind == Operand::Kind::reg ? register_bits(site, base.name) : 0;
  const uint32_t bytes = access_bytes(i);
  if ((width != 32 && width != 64) || !bytes) return;
  const Operand odd = register_operand("%assay_odd"), to = register_operand("%assay_address");
  Operand tid = register_operand("%tid.x");
  tid.kind = Operand::Kind::special;
  for (uint32_t bit : {0u, 5u}) {
    std::vector<Instruction> all = {
        make(i, "mov", {".u32"}, {odd, tid}),
        make(i, "shr", {".u32"}, {odd, odd, integer_operand(bit)}),
        make(i, "and", {".b32"}, {odd, odd, integer_operand(1)}),
        make(i, "mul", {width == 64 ? ".wide" : ".lo", ".u32"}, {to, odd, integer_operand(bytes)}),
        make(i, "sub", {width == 64 ? ".s64" : ".s32"}, {to, base, to})};
    for (Instruction& each : all) each.guard.clear(), each.guard_negated = false;
    all.push_back(i);
    all.back().operands[0].elements[0] = to;
    Type type = width == 64 ? Type::b64 : Type::b32;
    add_replaced(site, "write-aliased",
                 block({{"%assay_odd", Type::b32}, {"%assay_address", type}}, all),
                 fmt::format("odd {} write {} bytes lower", bit ? "warps" : "threads", bytes), out);
  }
}

void atomic_made_plain(const Site& site, Faults& out) {
  take_apart(site, "atomic-made-plain", {}, out);
}

void atomic_taken_apart(const Site& site, Faults& out) {
  take_apart(site, "atomic-taken-apart", {".relaxed", ".gpu"}, out);
}

} // namespace assay::mutate
