// CUDA C++ to PTX, in this process. NVRTC is loaded at run time (search.hpp says where it is looked
// for); `nvcc` serves when it is the only compiler there, and for sources with host code in them.
// Nothing of either is needed to build Assay.
//
// A source is named by its folder and its path below it, so that the command line, the hash of a
// stamp (stamp.hpp) and the `.file` lines of the PTX are the same on every machine.
#pragma once

#include "base/result.hpp"

#include <map>
#include <string>
#include <vector>

namespace assay::compile {

struct CompileRequest {
  std::string directory;            // the case's folder; empty means the working directory
  std::string file;                 // the source, relative to `directory`
  std::string arch = "sm_90";       // sm_NN, sm_NNa
  std::vector<std::string> flags;   // -D -I -G --std=…; relative -I paths start at `directory`
  std::vector<std::string> entries; // kernels to keep; a template is instantiated: `k<float, 4>`
};

struct CompiledPtx {
  std::string ptx;                          // `.file` paths relative to the request's directory
  std::string compiler;                     // `NVRTC 13.0`, `nvcc`
  std::string log;                          // warnings
  std::map<std::string, std::string> names; // entry as requested → mangled name (templates, NVRTC)
};

// The flags that every compilation gets, then the request's: what both compilers understand.
std::vector<std::string> compile_flags(const CompileRequest& request);

// The folder and the absolute path of the source.
std::string source_directory(const CompileRequest& request);
std::string source_path(const CompileRequest& request);

// Errors: `usage` with the compiler's message, `environment` when there is no compiler.
Result<CompiledPtx> compile_cuda(const CompileRequest& request);

// A compiler's log as an error: the first complaint with its place, the whole log as a note.
Error log_error(const CompileRequest& request, const std::string& log);

// Whether a source was refused for what belongs to the host: a function, a launch, a header.
bool asks_for_host(const Error& refused);

// A name as compilers write it into `.file`, but for '"', which NVRTC 13.0 leaves as it is.
std::string escaped(const std::string& name);

// `.file` lines with paths below `directory` made relative, and paths below one of `headers` made
// to start with `cuda/`, so that no path of this machine stays in the PTX.
std::string relative_files(const std::string& ptx, const std::string& directory,
                           const std::vector<std::string>& headers);

} // namespace assay::compile
