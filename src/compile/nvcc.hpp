// Compilation by nvcc, for machines that have a toolkit without NVRTC.
#pragma once

#include "compile/compile.hpp"

namespace assay::compile {

// Templates must be instantiated in the source: nvcc has no name expressions.
Result<CompiledPtx> compile_with_nvcc(const std::string& nvcc, const CompileRequest& request);

} // namespace assay::compile
