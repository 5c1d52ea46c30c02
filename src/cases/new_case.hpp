// A first case file from a kernel's signature, for a person to adjust.
#pragma once

#include "cases/kernel.hpp"

namespace assay::cases {

struct NewCase {
  Kernel kernel;
  std::string entry; // PTX name
  std::string file;  // the source as the case file will name it
  std::string arch;
  std::vector<std::string> flags;
};

// TOML text. Types come from the mangled name, names from the source where it can be read; a
// pointer to const is an input, another pointer an output.
std::string write_case(const NewCase& request);

// Parameter names of a kernel in CUDA source text; empty when it was not found.
std::vector<std::string> parameter_names(const std::string& source, const std::string& kernel);
// "float const*", "int" of "k(float const*, int)"; empty for names without a signature.
std::vector<std::string> parameter_types(const std::string& demangled);

} // namespace assay::cases
