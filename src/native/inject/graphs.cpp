// Reading of graphs; see graphs.hpp. Node types and their parameters: CUDA driver API 13.0, "Graph
// Management".
#include "native/inject/graphs.hpp"

#include "native/inject/request.hpp"

#include <generated_cuda_meta.h>

#include <algorithm>
#include <cstring>

namespace assay::native {
namespace {

// Calls that change parameters of one node; the executable graph is their first parameter.
constexpr uint32_t kSetters[] = {
    SANITIZER_CBID_DRIVER_API_cuGraphExecKernelNodeSetParams,
    SANITIZER_CBID_DRIVER_API_cuGraphExecKernelNodeSetParams_v2,
    SANITIZER_CBID_DRIVER_API_cuGraphExecMemcpyNodeSetParams,
    SANITIZER_CBID_DRIVER_API_cuGraphExecMemsetNodeSetParams,
    SANITIZER_CBID_DRIVER_API_cuGraphExecHostNodeSetParams,
    SANITIZER_CBID_DRIVER_API_cuGraphExecChildGraphNodeSetParams,
    SANITIZER_CBID_DRIVER_API_cuGraphExecNodeSetParams,
    SANITIZER_CBID_DRIVER_API_cuGraphExecEventWaitNodeSetEvent,
    SANITIZER_CBID_DRIVER_API_cuGraphExecExternalSemaphoresSignalNodeSetParams,
    SANITIZER_CBID_DRIVER_API_cuGraphExecExternalSemaphoresWaitNodeSetParams,
    SANITIZER_CBID_DRIVER_API_cuGraphExecBatchMemOpNodeSetParams,
    SANITIZER_CBID_DRIVER_API_cuGraphNodeSetEnabled,
};
// Calls that make, change or destroy an executable graph as a whole.
constexpr uint32_t kMakers[] = {
    SANITIZER_CBID_DRIVER_API_cuGraphInstantiate,
    SANITIZER_CBID_DRIVER_API_cuGraphInstantiate_v2,
    SANITIZER_CBID_DRIVER_API_cuGraphInstantiateWithFlags,
    SANITIZER_CBID_DRIVER_API_cuGraphInstantiateWithParams,
    SANITIZER_CBID_DRIVER_API_cuGraphInstantiateWithParams_ptsz,
    SANITIZER_CBID_DRIVER_API_cuGraphExecUpdate,
    SANITIZER_CBID_DRIVER_API_cuGraphExecUpdate_v2,
    SANITIZER_CBID_DRIVER_API_cuGraphExecDestroy,
};

bool among(uint32_t call, const uint32_t* begin, const uint32_t* end) {
  return std::find(begin, end, call) != end;
}

void append_word(std::vector<uint8_t>& bytes, uint64_t word) {
  const size_t at = (bytes.size() + 7) / 8 * 8;
  bytes.resize(at + 8);
  std::memcpy(&bytes[at], &word, 8);
}

class Reader {
public:
  explicit Reader(GraphFacts& facts) : facts_(facts) {}
  const std::string& kinds() const { return kinds_; } // of its nodes, a letter each

  void read(CUgraph graph) {
    size_t count = 0;
    if (!api.cuGraphGetNodes || api.cuGraphGetNodes(graph, nullptr, &count) != CUDA_SUCCESS)
      return refuse("its nodes are not known");
    std::vector<CUgraphNode> nodes(count);
    if (count && api.cuGraphGetNodes(graph, nodes.data(), &count) != CUDA_SUCCESS)
      return refuse("its nodes are not known");
    for (CUgraphNode node : nodes) take(node);
  }

private:
  void refuse(const std::string& why) {
    if (facts_.problem.empty()) facts_.problem = why;
  }

  void take(CUgraphNode node) {
    CUgraphNodeType type;
    if (api.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS)
      return refuse("a node of unknown kind");
    kinds_ += char('a' + int(type));
    switch (type) {
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return;
    case CU_GRAPH_NODE_TYPE_KERNEL: return kernel(node);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return copy(node);
    case CU_GRAPH_NODE_TYPE_MEMSET: return fill(node);
    case CU_GRAPH_NODE_TYPE_GRAPH: {
      CUgraph child = nullptr;
      if (api.cuGraphChildGraphNodeGetGraph(node, &child) != CUDA_SUCCESS)
        return refuse("a graph within it is not known");
      return read(child);
    }
    case CU_GRAPH_NODE_TYPE_HOST: return refuse("talks to others: it calls a host function");
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return refuse("talks to others: it waits for an event from outside");
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return refuse("it allocates memory");
    default: return refuse("a kind of node that is not replayed (" + std::to_string(type) + ")");
    }
  }

  void kernel(CUgraphNode node) {
    CUDA_KERNEL_NODE_PARAMS p{};
    if (api.cuGraphKernelNodeGetParams(node, &p) != CUDA_SUCCESS)
      return refuse("the parameters of a kernel are not known");
    Request request; // reads names, modules and arguments as for any launch
    if (!request.take_node(p)) return refuse("a kernel of it is not known");
    const Launch& l = request.launch;
    facts_.kernels.push_back({request.function, request.module, l.symbol, l.grid.count(),
                              l.block.count(), l.shared_bytes});
    for (size_t at = 0; at + 4 <= request.arguments.size(); at += 4) {
      // Words at any multiple of four bytes; what follows must not look like half of one.
      uint64_t word = 0;
      std::memcpy(&word, &request.arguments[at],
                  std::min<size_t>(8, request.arguments.size() - at));
      append_word(facts_.arguments, word);
    }
  }

  void copy(CUgraphNode node) {
    CUDA_MEMCPY3D p{};
    if (api.cuGraphMemcpyNodeGetParams(node, &p) != CUDA_SUCCESS)
      return refuse("the parameters of a copy are not known");
    for (CUmemorytype type : {p.srcMemoryType, p.dstMemoryType})
      if (type != CU_MEMORYTYPE_DEVICE && type != CU_MEMORYTYPE_UNIFIED)
        return refuse(type == CU_MEMORYTYPE_HOST ? "talks to others: it copies host memory"
                                                 : "it copies an array");
    append_word(facts_.arguments, p.srcDevice);
    append_word(facts_.arguments, p.dstDevice);
  }

  void fill(CUgraphNode node) {
    CUDA_MEMSET_NODE_PARAMS p{};
    if (api.cuGraphMemsetNodeGetParams(node, &p) != CUDA_SUCCESS)
      return refuse("the parameters of a fill are not known");
    append_word(facts_.arguments, p.dst);
  }

  GraphFacts& facts_;
  std::string kinds_;
};

} // namespace

GraphFacts read_graph(CUgraph graph) {
  GraphFacts facts;
  Reader reader(facts);
  reader.read(graph);
  CUgraph copy = nullptr;
  if (facts.problem.empty() && api.cuGraphClone && api.cuGraphDestroy &&
      api.cuGraphClone(&copy, graph) == CUDA_SUCCESS)
    facts.copy = {copy, [](CUgraph made) { api.cuGraphDestroy(made); }};
  Launch& launch = facts.launch;
  launch.graph = true;
  launch.grid.x = 0;
  uint64_t blocks = 0;
  std::string names = reader.kinds();
  for (const KernelCode& kernel : facts.kernels) {
    blocks += kernel.blocks;
    launch.block.x = std::max(launch.block.x, uint32_t(kernel.threads));
    names += kernel.symbol + "|" + std::to_string(kernel.blocks) + "|";
  }
  launch.grid.x = uint32_t(std::min<uint64_t>(std::max<uint64_t>(blocks, 1), ~0u));
  launch.symbol = graph_symbol(names, facts.arguments.size());
  launch.name = launch.symbol + " (" + std::to_string(facts.kernels.size()) +
                (facts.kernels.size() == 1 ? " kernel)" : " kernels)");
  return facts;
}

bool GraphTable::is_launch(uint32_t call) {
  return call == SANITIZER_CBID_DRIVER_API_cuGraphLaunch ||
         call == SANITIZER_CBID_DRIVER_API_cuGraphLaunch_ptsz;
}

void GraphTable::instantiated(CUgraphExec executable, CUgraph graph) {
  auto facts = std::make_shared<GraphFacts>(read_graph(graph));
  const std::lock_guard lock(mutex_);
  known_[executable] = std::move(facts);
}

void GraphTable::changed(CUgraphExec executable, const char* how) {
  const std::lock_guard lock(mutex_);
  auto at = known_.find(executable);
  if (at == known_.end()) return;
  auto facts = std::make_shared<GraphFacts>(*at->second);
  if (facts->problem.empty())
    facts->problem = std::string("it was changed after it was made (") + how + ")";
  at->second = std::move(facts);
}

std::shared_ptr<const GraphFacts> GraphTable::find(CUgraphExec graph) {
  const std::lock_guard lock(mutex_);
  auto at = known_.find(graph);
  return at == known_.end() ? nullptr : at->second;
}

bool GraphTable::concerns(uint32_t call) {
  return among(call, std::begin(kMakers), std::end(kMakers)) ||
         among(call, std::begin(kSetters), std::end(kSetters));
}

void GraphTable::note(uint32_t call, const void* parameters) {
  if (among(call, std::begin(kSetters), std::end(kSetters)))
    return changed(static_cast<const cuGraphExecDestroy_params*>(parameters)->hGraphExec,
                   "parameters of a node were set");
  switch (call) {
  case SANITIZER_CBID_DRIVER_API_cuGraphExecUpdate:
  case SANITIZER_CBID_DRIVER_API_cuGraphExecUpdate_v2: {
    auto* p = static_cast<const cuGraphExecUpdate_v2_params*>(parameters);
    return instantiated(p->hGraphExec, p->hGraph);
  }
  case SANITIZER_CBID_DRIVER_API_cuGraphExecDestroy: {
    const std::lock_guard lock(mutex_);
    known_.erase(static_cast<const cuGraphExecDestroy_params*>(parameters)->hGraphExec);
    return;
  }
  default: {
    // The others all begin with the same two parameters.
    auto* p = static_cast<const cuGraphInstantiateWithFlags_params*>(parameters);
    if (p->phGraphExec && *p->phGraphExec) instantiated(*p->phGraphExec, p->hGraph);
    return;
  }
  }
}

} // namespace assay::native
