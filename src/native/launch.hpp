// One launch of a kernel as the native backend knows it, and when two launches count as the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace assay::native {

struct Extent3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
  bool operator==(const Extent3&) const = default;
};

struct Parameter {
  uint64_t offset = 0, size = 0; // in the kernel's parameter space
};

struct Launch {
  std::string symbol; // as the compiler wrote it
  std::string name;   // as people write it
  Extent3 grid, block, cluster;
  uint32_t shared_bytes = 0; // dynamic
  uint64_t code = 0;         // tells functions of one name apart, in one process
  std::vector<Parameter> parameters;
  bool cooperative = false;  // all blocks are resident together
  bool programmatic = false; // may begin before the launch in front of it has ended
  bool graph = false;        // a whole CUDA graph; grid and block are sums over its kernels
};

// Launches with the same key do the same thing to other data: one of them is examined.
std::string key_of(const Launch& launch);

// The name that a graph goes by: the same for graphs of the same kernels.
std::string graph_symbol(const std::string& kernels, size_t argument_bytes);

std::string text_of(const Extent3& extent); // "4", "4x2", "4x2x3"
// "_Z1kPf" as "k(float*)"; what is no mangled name as it is.
std::string demangled(const std::string& symbol);
// The name without template arguments, parameters and namespaces: what --kernel-name also matches.
std::string base_name(const std::string& name);

} // namespace assay::native
