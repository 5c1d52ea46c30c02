// Where an operation of a program stands in the user's sources, and who executes it, in words.
#pragma once

#include "cases/case.hpp"
#include "report/verdict.hpp"

namespace assay::cli {

// The source line of an operation: of the user's own files where inlined headers stand between.
report::Location place_of(const cases::Case& subject, uint32_t launch, uint32_t pc);
// The same with the thread, the operation and the address.
report::Location place_of(const cases::Case& subject, const vgpu::Place& place);

// Of an instruction of the case's module, whether or not a program has it.
report::Location place_of(const cases::Case& subject, const ptx::Instruction& instruction);

// "thread (1,0,0) of block (0,0,0)"; an asynchronous copy is called so.
std::string who(const report::Location& location);
// "defect.cu:12"
std::string where(const report::Location& location);

} // namespace assay::cli
