// A kernel's source as PTX: read from a .ptx file, from the PTX committed beside a .cu file when it
// still belongs to it, or compiled now.
#pragma once

#include "base/result.hpp"
#include "ptx/module.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay::cases {

struct KernelRequest {
  std::string directory;           // the case's folder, or that of the file
  std::string file;                // relative to it
  std::optional<std::string> arch; // none: that of the PTX beside the source, else sm_90
  std::vector<std::string> flags;
  std::vector<std::string> entries; // as asked for; templates among them must be instantiated
};

struct Kernel {
  std::string source;    // as seen from the working directory
  std::string directory; // where relative `.file` paths of the PTX start
  std::string ptx_file;  // empty when the PTX was compiled just now
  std::string ptx;
  std::string compiler; // "NVRTC 13.0" when it was compiled just now
  std::shared_ptr<const ptx::Module> module;
  std::map<std::string, std::string> names; // entry as asked for → mangled, from the compiler
};

// Errors: usage (unreadable, broken source or PTX), environment (a .cu file and no compiler),
// unsupported `stale PTX` (the PTX beside it is older and there is no compiler).
Result<Kernel> load_kernel(const KernelRequest& request);

// Compiles a .cu file anew and writes the stamped PTX beside it; returns its path.
Result<std::string> refresh_ptx(const KernelRequest& request);

// The PTX name of the entry that `wanted` names: mangled, demangled, with or without parameters,
// "k<float, 4>". Without `wanted` the only entry. An error lists the entries.
Result<std::string> find_entry(const Kernel& kernel, const std::optional<std::string>& wanted,
                               const Span& span);

// "k<float>" of "_Z1kIfEvPKT_" or of "void k<float>(float const*)".
std::string short_name(const std::string& name);

} // namespace assay::cases
