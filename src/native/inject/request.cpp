// Launch calls of the driver; see request.hpp.
#include "native/inject/request.hpp"

#include <generated_cuda_meta.h>

#include <algorithm>
#include <cstring>

namespace assay::native {

bool Request::is_launch(uint32_t call) {
  switch (call) {
  case SANITIZER_CBID_DRIVER_API_cuLaunchKernel:
  case SANITIZER_CBID_DRIVER_API_cuLaunchKernel_ptsz:
  case SANITIZER_CBID_DRIVER_API_cuLaunchKernelEx:
  case SANITIZER_CBID_DRIVER_API_cuLaunchKernelEx_ptsz:
  case SANITIZER_CBID_DRIVER_API_cuLaunchCooperativeKernel:
  case SANITIZER_CBID_DRIVER_API_cuLaunchCooperativeKernel_ptsz:
  case SANITIZER_CBID_DRIVER_API_cuGraphLaunch:
  case SANITIZER_CBID_DRIVER_API_cuGraphLaunch_ptsz: return true;
  default: return false;
  }
}

CUfunction Request::handle_of(uint32_t call, const void* parameters) {
  const bool extended = call == SANITIZER_CBID_DRIVER_API_cuLaunchKernelEx ||
                        call == SANITIZER_CBID_DRIVER_API_cuLaunchKernelEx_ptsz;
  // The handle is the first parameter of the other calls.
  return extended ? static_cast<const cuLaunchKernelEx_params*>(parameters)->f
                  : static_cast<const cuLaunchKernel_params*>(parameters)->f;
}

void Request::take(CUfunction f, const unsigned* grid, const unsigned* block, unsigned shared,
                   CUstream s, bool per_thread, void** parameters, void** extra) {
  handle = f;
  launch.code = reinterpret_cast<uint64_t>(f);
  launch.grid = {grid[0], grid[1], grid[2]};
  launch.block = {block[0], block[1], block[2]};
  launch.shared_bytes = shared;
  // The default stream has a different meaning in each half of the interface; name it outright.
  stream = s ? s : per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
  parameters_ = parameters;
  extra_ = extra;
}

void Request::take_attributes(const CUlaunchConfig& config) {
  attributes_.assign(config.attrs, config.attrs + config.numAttrs);
  for (const CUlaunchAttribute& attribute : attributes_) {
    const CUlaunchAttributeValue& value = attribute.value;
    switch (attribute.id) {
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      launch.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
      break;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: launch.cooperative = value.cooperative != 0; break;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
      launch.programmatic =
          launch.programmatic || value.programmaticStreamSerializationAllowed != 0;
      break;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT: launch.programmatic = true; break;
    default: break;
    }
  }
}

bool Request::read(uint32_t call, const void* parameters) {
  switch (call) {
  case SANITIZER_CBID_DRIVER_API_cuLaunchKernel:
  case SANITIZER_CBID_DRIVER_API_cuLaunchKernel_ptsz: {
    auto* p = static_cast<const cuLaunchKernel_params*>(parameters);
    take(p->f, &p->gridDimX, &p->blockDimX, p->sharedMemBytes, p->hStream,
         call == SANITIZER_CBID_DRIVER_API_cuLaunchKernel_ptsz, p->kernelParams, p->extra);
    return true;
  }
  case SANITIZER_CBID_DRIVER_API_cuLaunchKernelEx:
  case SANITIZER_CBID_DRIVER_API_cuLaunchKernelEx_ptsz: {
    auto* p = static_cast<const cuLaunchKernelEx_params*>(parameters);
    if (!p->config) return false;
    kind_ = Kind::extended;
    take(p->f, &p->config->gridDimX, &p->config->blockDimX, p->config->sharedMemBytes,
         p->config->hStream, call == SANITIZER_CBID_DRIVER_API_cuLaunchKernelEx_ptsz,
         p->kernelParams, p->extra);
    take_attributes(*p->config);
    return true;
  }
  case SANITIZER_CBID_DRIVER_API_cuLaunchCooperativeKernel:
  case SANITIZER_CBID_DRIVER_API_cuLaunchCooperativeKernel_ptsz: {
    auto* p = static_cast<const cuLaunchCooperativeKernel_params*>(parameters);
    kind_ = Kind::cooperative;
    take(p->f, &p->gridDimX, &p->blockDimX, p->sharedMemBytes, p->hStream,
         call == SANITIZER_CBID_DRIVER_API_cuLaunchCooperativeKernel_ptsz, p->kernelParams,
         nullptr);
    launch.cooperative = true;
    return true;
  }
  default: return false;
  }
}

void Request::read_graph(CUgraphExec graph, CUstream s, bool per_thread,
                         std::shared_ptr<const GraphFacts> facts) {
  kind_ = Kind::graph;
  graph_ = graph;
  handle = reinterpret_cast<CUfunction>(graph);
  stream = s ? s : per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
  launch = facts->launch;
  kernels = facts->kernels;
  arguments = facts->arguments;
  parameters_known = true;
  facts_ = std::move(facts);
}

std::string Request::make_graph_anew() {
  if (!facts_->copy || !api.cuGraphInstantiateWithFlags || !api.cuGraphExecDestroy)
    return "the graph could not be copied";
  const CUresult r = api.cuGraphInstantiateWithFlags(&anew_, facts_->copy.get(), 0);
  if (r != CUDA_SUCCESS) anew_ = nullptr;
  return r == CUDA_SUCCESS ? "" : "the graph could not be made anew: " + text_of(r);
}

void Request::use_own_graph() {
  if (anew_) api.cuGraphExecDestroy(anew_);
  anew_ = nullptr;
}

bool Request::take_node(const CUDA_KERNEL_NODE_PARAMS& node) {
  const CUfunction f = node.func ? node.func : reinterpret_cast<CUfunction>(node.kern);
  take(f, &node.gridDimX, &node.blockDimX, node.sharedMemBytes, nullptr, false, node.kernelParams,
       node.extra);
  return find_name(nullptr) && resolve().empty() && parameters_known;
}

std::vector<CUmodule> Request::modules() const {
  std::vector<CUmodule> out;
  for (const KernelCode& kernel : kernels)
    if (std::find(out.begin(), out.end(), kernel.module) == out.end()) out.push_back(kernel.module);
  return out;
}

bool Request::read_arguments() {
  if (api.cuFuncGetParamInfo) {
    for (size_t i = 0;; ++i) {
      size_t offset = 0, size = 0;
      if (api.cuFuncGetParamInfo(function, i, &offset, &size) != CUDA_SUCCESS) break;
      launch.parameters.push_back({offset, size});
    }
  }
  if (extra_) { // one buffer with everything
    const void* buffer = nullptr;
    size_t size = 0;
    for (void** at = extra_; *at != CU_LAUNCH_PARAM_END; at += 2) {
      if (*at == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = at[1];
      if (*at == CU_LAUNCH_PARAM_BUFFER_SIZE) size = *static_cast<size_t*>(at[1]);
    }
    if (!buffer) return size == 0;
    arguments.assign(static_cast<const uint8_t*>(buffer),
                     static_cast<const uint8_t*>(buffer) + size);
    return true;
  }
  if (!api.cuFuncGetParamInfo) return parameters_ == nullptr;
  for (size_t i = 0; i < launch.parameters.size(); ++i) {
    const Parameter& p = launch.parameters[i];
    if (!parameters_ || !parameters_[i]) return false;
    if (arguments.size() < p.offset + p.size) arguments.resize(p.offset + p.size);
    std::memcpy(&arguments[p.offset], parameters_[i], p.size);
  }
  return true;
}

bool Request::find_name(const char* symbol_of_callback) {
  // The driver's own answer first: for cuLaunchKernelEx the callback gave one letter.
  const char* name = nullptr;
  if (api.cuFuncGetName && api.cuFuncGetName(&name, handle) == CUDA_SUCCESS && name)
    launch.symbol = name;
  else if (api.cuKernelGetName &&
           api.cuKernelGetName(&name, reinterpret_cast<CUkernel>(handle)) == CUDA_SUCCESS && name)
    launch.symbol = name;
  else if (symbol_of_callback)
    launch.symbol = symbol_of_callback;
  launch.name = demangled(launch.symbol);
  return !launch.symbol.empty();
}

void Request::find_cluster() {
  if (launch.cluster.count() != 1) return; // the launch says it
  int size[3] = {};                        // __cluster_dims__ in the source
  for (int i = 0; i < 3; ++i)
    if (api.cuFuncGetAttribute(&size[i],
                               CUfunction_attribute(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH + i),
                               function) != CUDA_SUCCESS)
      return;
  if (size[0] > 0 && size[1] > 0 && size[2] > 0)
    launch.cluster = {uint32_t(size[0]), uint32_t(size[1]), uint32_t(size[2])};
}

std::string Request::resolve() {
  if (kind_ == Kind::graph) return facts_->problem;
  function = handle;
  if (api.cuFuncGetModule(&module, function) != CUDA_SUCCESS || !module) {
    // The runtime passes kernels of libraries (CUkernel) in the place of functions.
    if (!api.cuKernelGetFunction ||
        api.cuKernelGetFunction(&function, reinterpret_cast<CUkernel>(handle)) != CUDA_SUCCESS ||
        api.cuFuncGetModule(&module, function) != CUDA_SUCCESS || !module)
      return "its module is not known";
  }
  find_cluster();
  parameters_known = read_arguments();
  kernels = {{function, module, launch.symbol, launch.grid.count(), launch.block.count(),
              launch.shared_bytes}};
  return "";
}

CUresult Request::repeat() const {
  if (kind_ == Kind::graph) return api.cuGraphLaunch(anew_ ? anew_ : graph_, stream);
  // The arguments as they were at the first call: the caller's may have changed since.
  std::vector<void*> pointers;
  size_t size = arguments.size();
  uint8_t* bytes = const_cast<uint8_t*>(arguments.data());
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, bytes, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  void **by_pointer = nullptr, **by_buffer = nullptr;
  if (extra_) {
    by_buffer = extra;
  } else {
    for (const Parameter& p : launch.parameters) pointers.push_back(bytes + p.offset);
    by_pointer = pointers.data();
  }
  const Launch& l = launch;
  switch (kind_) {
  case Kind::plain:
    return api.cuLaunchKernel(handle, l.grid.x, l.grid.y, l.grid.z, l.block.x, l.block.y, l.block.z,
                              l.shared_bytes, stream, by_pointer, by_buffer);
  case Kind::cooperative:
    return api.cuLaunchCooperativeKernel(handle, l.grid.x, l.grid.y, l.grid.z, l.block.x, l.block.y,
                                         l.block.z, l.shared_bytes, stream, by_pointer);
  default: break;
  }
  CUlaunchConfig config{};
  config.gridDimX = l.grid.x;
  config.gridDimY = l.grid.y;
  config.gridDimZ = l.grid.z;
  config.blockDimX = l.block.x;
  config.blockDimY = l.block.y;
  config.blockDimZ = l.block.z;
  config.sharedMemBytes = l.shared_bytes;
  config.hStream = stream;
  config.attrs = const_cast<CUlaunchAttribute*>(attributes_.data());
  config.numAttrs = unsigned(attributes_.size());
  return api.cuLaunchKernelEx(&config, handle, by_pointer, by_buffer);
}

} // namespace assay::native
