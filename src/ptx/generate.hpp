// Writes legal examples of a row of isa.def: any spelling, with operands of the right kinds. For
// the tests that generate, print and parse back every row, for the fuzzer's seeds, and for the
// comparison with ptxas. An operand "n:imm=16" stands for the immediate 16.
#pragma once

#include "ptx/isa.hpp"

#include <string>

namespace assay::ptx {

// One instruction; `operands` picks among optional and alternative operands (0 is the shortest).
std::string example(const IsaRow& row, uint64_t modifiers, uint64_t operands);
// How many operand choices there are.
uint64_t operand_choices(std::string_view pattern);
// A module around instructions, with every register that example() uses. Branch targets are the
// labels L0 and, for tables, T0; calls go to the function f0.
std::string example_module(const std::string& body, std::string_view version,
                           std::string_view target);

} // namespace assay::ptx
