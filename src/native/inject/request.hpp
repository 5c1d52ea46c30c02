// A launch as the process asked the driver for it, kept so that it can be asked for again.
#pragma once

#include "native/inject/graphs.hpp"

namespace assay::native {

class Request {
public:
  // False: this driver call launches nothing that could be repeated (several devices, old
  // interface).
  bool read(uint32_t call, const void* parameters);
  // A launch of a whole graph.
  void read_graph(CUgraphExec graph, CUstream s, bool per_thread,
                  std::shared_ptr<const GraphFacts> facts);
  // A kernel in a graph: all that can be known of it at once. False: something is not.
  bool take_node(const CUDA_KERNEL_NODE_PARAMS& node);
  // The kernel's name; loads nothing.
  bool find_name(const char* symbol_of_callback);
  // Function, module, parameters. Empty, or what could not be known. Loads the kernel if the driver
  // has not done so yet, which waits for running kernels: only when the device is at rest.
  std::string resolve();
  // The same launch again, with the arguments as they were.
  CUresult repeat() const;

  // Of a graph: from now on repeats are of one that is made with the kernels as they now are, or
  // again of the process's own. Empty, or why it cannot be made.
  std::string make_graph_anew();
  void use_own_graph();

  static bool is_launch(uint32_t call);
  static CUfunction handle_of(uint32_t call, const void* parameters);

  Launch launch;
  CUfunction handle = nullptr;   // as given, which may be a CUkernel
  CUfunction function = nullptr; // a function of `module`
  CUmodule module = nullptr;
  std::vector<KernelCode> kernels; // all that it starts: one, or those of the graph
  std::vector<CUmodule> modules() const;
  CUstream stream = nullptr;
  std::vector<uint8_t> arguments; // the parameter space
  bool parameters_known = false;
  bool several_devices = false;

private:
  void take(CUfunction f, const unsigned* grid, const unsigned* block, unsigned shared, CUstream s,
            bool per_thread, void** parameters, void** extra);
  void take_attributes(const CUlaunchConfig& config);
  void find_cluster();
  bool read_arguments();

  enum class Kind { plain, cooperative, extended, graph } kind_ = Kind::plain;
  CUgraphExec graph_ = nullptr, anew_ = nullptr;
  std::shared_ptr<const GraphFacts> facts_;
  void** parameters_ = nullptr; // the caller's, valid during its call
  void** extra_ = nullptr;
  std::vector<CUlaunchAttribute> attributes_;
};

} // namespace assay::native
