// The table of instruction forms (isa.def): one row per form, as in the syntax boxes of the PTX
// manual. The parser validates against it; printer tests, the fuzzer and the coverage page read it.
//
// Grammar of a row's modifiers:   .word      this modifier
//                                 {a|b}      optionally one of the alternatives
//                                 (a|b)      one of the alternatives
//                                 NAME       a set of alternatives from isa_sets.def
// Modifiers may stand in any order, as ptxas has it, but types keep theirs; see match_modifiers.
//
// Grammar of a row's operands: items separated by ", "; {…} optional part; (x/y) alternatives:
//   d  d:TYPE    a scalar; TYPE is a PTX type of the register, or pred, imm, label, sym, list;
//                without it, the last type among the instruction's modifiers
//   !c           may be negated with ! (predicates) or - (video)
//   d|p          a pair; d{|p} with an optional second part; p alone may be "_"
//   [a]          an address; [a, <c:s32*2>] has parts
//   <d>          a vector of as many elements as the modifier .vN says (a scalar without one)
//   <d:b32*4>    a vector of 4; *1 also takes a bare scalar; *? takes any number
//   <c:mix*4>    a layer index of u32, then coordinates of the last type
//   policy       stands exactly where the modifiers have .L2::cache_hint
//   n:imm=16     an immediate; examples use 16
#pragma once

#include "base/result.hpp"
#include "ptx/module.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::ptx {

struct IsaRow {
  std::string_view section;   // of the PTX ISA 9.0 manual, "9.7.1.1"
  std::string_view opcode;    // up to the first dot
  std::string_view modifiers; // pattern
  std::string_view operands;  // pattern
  uint16_t ptx;               // first version: 10 * major + minor; 60 also for what is older
  uint16_t until;             // last version that has it
  std::string_view sm;        // targets: "70" sm_70 and later, "90a" that one only,
                              // "100f" its family, "89@81" since version 8.1; by blanks
};

std::span<const IsaRow> isa_rows();
// The rows of one opcode, in table order; empty for an unknown one.
std::span<const IsaRow* const> isa_rows(std::string_view opcode);
inline uint32_t isa_index(const IsaRow& row) { return uint32_t(&row - isa_rows().data()); }

bool modifiers_match(std::string_view pattern, std::span<const std::string> modifiers);
// The same for modifiers in any order: those that are no types may move. Returns them in the
// pattern's order, or nothing. Words that belong to the opcode's name (mul.lo, cp.async.bulk)
// stay in front unless `whole_name` is false.
std::optional<std::vector<std::string>>
match_reordered(const IsaRow& row, std::span<const std::string> modifiers, bool whole_name = true);
bool operands_match(std::string_view pattern, std::span<const std::string> modifiers,
                    std::span<const Operand> operands);
// Whether "sm_90a" is among a row's targets.
bool target_allows(std::string_view sm, std::string_view target, uint32_t version);

// What a spelling needs beyond its row: the row's own version and targets, or those of a modifier
// that came later (isa_words.def).
struct Requirement {
  uint32_t version = 0;
  std::string_view sm;
  std::string_view word; // the modifier that asks for it; empty for the row
};
// The first requirement that (version, target) does not meet; word "" and version 0 when all are.
// `unmet` is false then.
struct Availability {
  bool unmet = false;
  bool withdrawn = false; // a later version dropped the form
  Requirement requirement;
};
Availability availability(const IsaRow& row, std::span<const std::string> modifiers,
                          uint32_t version, std::string_view target);

// How many spellings a modifier pattern has, and the one with this number.
uint64_t variant_count(std::string_view pattern);
std::vector<std::string> variant(std::string_view pattern, uint64_t index);

// The alternatives behind a set's name; empty for an unknown name.
std::string_view isa_set(std::string_view name);

// Why `instruction` (with row == nullptr) matches no row: the message names the first thing wrong,
// the notes the nearest known form.
Error explain_unknown(const Instruction& instruction, const Module& module);

// The nearest spelling that a pattern allows, and its edit distance.
struct Nearest {
  uint32_t distance = UINT32_MAX;
  std::string text;
};
Nearest nearest_variant(std::string_view pattern, std::span<const std::string> modifiers);
uint32_t edit_distance(std::string_view a, std::string_view b);

} // namespace assay::ptx
