// CUDA graphs of the process: what each executable graph launches, read when it is instantiated,
// since the graph behind it may be gone when it is launched. A graph is replayed as a whole
// (docs/native.md).
#pragma once

#include "native/inject/api.hpp"
#include "native/launch.hpp"

#include <map>
#include <memory>
#include <mutex>

namespace assay::native {

// A kernel that a launch starts, as far as it must be patched and looked at.
struct KernelCode {
  CUfunction function = nullptr;
  CUmodule module = nullptr;
  std::string symbol;
  uint64_t blocks = 0, threads = 0; // of its grid, of a block
  uint32_t shared_bytes = 0;        // dynamic
};

struct GraphFacts {
  Launch launch;       // its name; all its blocks as one grid, of the largest block
  std::string problem; // why it cannot be replayed, or empty
  std::vector<KernelCode> kernels;
  std::vector<uint8_t> arguments; // of all kernels, and the addresses of copies and fills
  // A copy of the graph, from which one with patched kernels is made: what is fixed when a graph is
  // instantiated, registers of a kernel for one, is that of the code without patches.
  std::shared_ptr<CUgraph_st> copy;
};

GraphFacts read_graph(CUgraph graph);

class GraphTable {
public:
  // After a driver call that makes, changes or destroys executable graphs.
  void note(uint32_t call, const void* parameters);
  std::shared_ptr<const GraphFacts> find(CUgraphExec graph);

  static bool is_launch(uint32_t call);
  // Has `note` something to do after this call?
  static bool concerns(uint32_t call);

private:
  void instantiated(CUgraphExec executable, CUgraph graph);
  void changed(CUgraphExec executable, const char* how);

  std::mutex mutex_;
  std::map<CUgraphExec, std::shared_ptr<const GraphFacts>> known_;
};

} // namespace assay::native
