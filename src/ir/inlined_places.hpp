// The calls into which an instruction was inlined, as LLVM's PTX back end tells it (Triton, Gluon,
// clang): not by `inlined_at` of .loc, as nvcc does, but in the module's DWARF.
// Source: DWARF 2.0.0 sections 2.3, 3.3.8 and 7.5; PTX ISA 9.0, section 11.5.3 (.section).
#pragma once

#include "ir/source.hpp"

namespace assay::ir {

// The call sites, innermost first; empty where the module has no such sections, or says something
// else than expected in them.
std::vector<SourceFrame> inlined_calls(const ptx::Module& module,
                                       const ptx::Instruction& instruction);

} // namespace assay::ir
