// Where an operation comes from, for reports: source file and line from .loc with the chain of
// inlining, and the line of the PTX text. Source: PTX ISA 9.0, section 11.5 (debugging directives).
#pragma once

#include "ir/program.hpp"

#include <string>
#include <vector>

namespace assay::ir {

struct SourceFrame {
  std::string file; // as .file says; empty: unknown
  uint32_t line = 0, column = 0;
  std::string function; // demangled where it was mangled; empty: unknown
};

struct SourcePlace {
  // The innermost place first, then the places of the calls into which it was inlined. Empty when
  // the module has no line information.
  std::vector<SourceFrame> frames;
  std::string ptx_file;
  uint32_t ptx_line = 0, ptx_column = 0;
  std::string function;    // PTX function that holds the operation, demangled
  std::string instruction; // as PTX text; empty for operations that lowering inserted

  bool has_source() const { return !frames.empty() && frames[0].line != 0; }
  std::string text() const; // "file:line" of the innermost place, else of the PTX
};

SourcePlace place(const Program& program, uint32_t op);

// The frames of an instruction of the module, innermost first.
std::vector<SourceFrame> frames(const ptx::Module& module, const ptx::Instruction& instruction);

// "k<float, 4>(float*, int)" of a C++ name; other names unchanged.
std::string demangle(const std::string& name);

// The mangled name of the kernel that `wanted` means: its mangled name, its demangled signature,
// that without parameters or return type ("k<float, 4>"), or its plain name ("k") where one kernel
// alone has it. An empty name means the only kernel. Otherwise a usage error that lists the
// kernels.
Result<std::string> find_entry(const ptx::Module& module, const std::string& wanted);

} // namespace assay::ir
