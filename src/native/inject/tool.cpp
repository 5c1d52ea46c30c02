// Callbacks and bookkeeping; see tool.hpp. Facts about the interface that shape this file (driver
// 580, Compute Sanitizer API 2025.3): inside the callback of a launch call one may synchronise,
// copy and launch; the runtime passes CUkernel handles; launches inside callbacks call back in
// turn.
#include "native/inject/tool.hpp"

#include "native/inject/examination.hpp"

#include <generated_cuda_meta.h>

#include <algorithm>
#include <cstdlib>
#include <unistd.h>

namespace assay::native {

thread_local ThreadState thread_state;
Tool* tool = nullptr;

namespace {

constexpr uint64_t kMostImageBytes = uint64_t(1) << 30; // of copied cubins, over all modules

uint32_t traits_of(uint32_t flags) {
  uint32_t traits = 0;
  if (flags & SANITIZER_MEMORY_FLAG_MODULE) traits |= kModuleMemory;
  if (flags & SANITIZER_MEMORY_FLAG_MANAGED) traits |= kManaged;
  if (flags & (SANITIZER_MEMORY_FLAG_HOST_MAPPED | SANITIZER_MEMORY_FLAG_HOST_PINNED))
    traits |= kHostMapped;
  if (flags & (SANITIZER_MEMORY_FLAG_PEER | SANITIZER_MEMORY_FLAG_PEER_ATOMIC)) traits |= kPeer;
  if (flags & (SANITIZER_MEMORY_FLAG_CG_RUNTIME | SANITIZER_MEMORY_FLAG_CNP)) traits |= kRuntime;
  return traits;
}

// Calls that ask and change nothing: no callbacks, since frameworks make hundreds of them for each
// launch (PyTorch: 14 cuCtxGetDevice), and no need to hold a thread there.
constexpr uint32_t kQuestions[] = {
    SANITIZER_CBID_DRIVER_API_cuCtxGetDevice,
    SANITIZER_CBID_DRIVER_API_cuCtxGetDevice_v2,
    SANITIZER_CBID_DRIVER_API_cuCtxGetCurrent,
    SANITIZER_CBID_DRIVER_API_cuDevicePrimaryCtxGetState,
    SANITIZER_CBID_DRIVER_API_cuDeviceGet,
    SANITIZER_CBID_DRIVER_API_cuDeviceGetCount,
    SANITIZER_CBID_DRIVER_API_cuDeviceGetAttribute,
    SANITIZER_CBID_DRIVER_API_cuDriverGetVersion,
    SANITIZER_CBID_DRIVER_API_cuGetErrorName,
    SANITIZER_CBID_DRIVER_API_cuGetErrorString,
    SANITIZER_CBID_DRIVER_API_cuGetProcAddress,
    SANITIZER_CBID_DRIVER_API_cuGetProcAddress_v2,
    SANITIZER_CBID_DRIVER_API_cuKernelGetAttribute,
    SANITIZER_CBID_DRIVER_API_cuKernelGetName,
    SANITIZER_CBID_DRIVER_API_cuFuncGetAttribute,
    SANITIZER_CBID_DRIVER_API_cuFuncGetName,
    SANITIZER_CBID_DRIVER_API_cuOccupancyMaxActiveBlocksPerMultiprocessor,
    SANITIZER_CBID_DRIVER_API_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
    SANITIZER_CBID_DRIVER_API_cuStreamIsCapturing,
    SANITIZER_CBID_DRIVER_API_cuStreamIsCapturing_ptsz,
    SANITIZER_CBID_DRIVER_API_cuStreamGetCaptureInfo_v2,
    SANITIZER_CBID_DRIVER_API_cuStreamGetCaptureInfo_v2_ptsz,
    SANITIZER_CBID_DRIVER_API_cuPointerGetAttribute,
    SANITIZER_CBID_DRIVER_API_cuPointerGetAttributes,
    SANITIZER_CBID_DRIVER_API_cuThreadExchangeStreamCaptureMode,
};

bool succeeded(const Sanitizer_CallbackData& data) {
  auto* result = static_cast<const CUresult*>(data.functionReturnValue);
  return !result || *result == CUDA_SUCCESS;
}

void callback(void*, Sanitizer_CallbackDomain domain, Sanitizer_CallbackId id, const void* data) {
  try {
    switch (domain) {
    case SANITIZER_CB_DOMAIN_RESOURCE: tool->on_resource(id, data); break;
    case SANITIZER_CB_DOMAIN_LAUNCH: tool->on_launch(id, data); break;
    case SANITIZER_CB_DOMAIN_GRAPHS: tool->on_graph(id, data); break;
    case SANITIZER_CB_DOMAIN_DRIVER_API:
      tool->on_driver_call(id, *static_cast<const Sanitizer_CallbackData*>(data));
      break;
    default: break;
    }
  } catch (...) {
    // Memory ran out, most likely. The process must not see our exceptions; a launch that was being
    // examined stays without a report, and the parent says so.
  }
}

} // namespace

OwnWork::OwnWork() : outer_(thread_state.own_work) {
  thread_state.own_work = true;
  api.cuThreadExchangeStreamCaptureMode(&mode_);
}

OwnWork::~OwnWork() {
  api.cuThreadExchangeStreamCaptureMode(&mode_);
  thread_state.own_work = outer_;
}

bool Tool::start() {
  if (!channel_.open(options_)) return false;
  selector_ = std::make_unique<Selector>(options_.selection);
  std::string problem = load_sanitizer(options_.sanitizer);
  if (problem.empty()) problem = load_driver();
  Sanitizer_SubscriberHandle subscriber = nullptr;
  if (problem.empty()) {
    SanitizerResult s = api.sanitizerSubscribe(&subscriber, callback, nullptr);
    for (Sanitizer_CallbackDomain domain :
         {SANITIZER_CB_DOMAIN_RESOURCE, SANITIZER_CB_DOMAIN_DRIVER_API})
      if (s == SANITIZER_SUCCESS) s = api.sanitizerEnableDomain(1, subscriber, domain);
    for (uint32_t question : kQuestions)
      if (s == SANITIZER_SUCCESS)
        api.sanitizerEnableCallback(0, subscriber, SANITIZER_CB_DOMAIN_DRIVER_API, question);
    subscriber_ = subscriber;
    if (s != SANITIZER_SUCCESS) problem = "cannot subscribe: " + text_of(s);
  }
  char name[256] = "";
  const ssize_t length = ::readlink("/proc/self/exe", name, sizeof name - 1);
  Message hello{"hello", {}};
  hello.add("process", uint64_t(::getpid()));
  hello.add("program", length > 0 ? std::string(name, size_t(length)) : "");
  hello.add("problem", problem);
  channel_.send(hello);
  return problem.empty();
}

void Tool::debug(const std::string& text) {
  if (options_.debug) channel_.send(Message{"debug", {}}.add("text", text));
}

void Tool::add_module(const Sanitizer_ResourceModuleData& data) {
  if (thread_state.loading_own) return;
  const std::lock_guard lock(mutex_);
  ModuleImage image;
  image.context = data.context;
  if (data.pCubin && image_bytes_ + data.cubinSize <= kMostImageBytes) {
    image.bytes.assign(data.pCubin, data.cubinSize);
    image_bytes_ += data.cubinSize;
  }
  modules_[data.module] = std::move(image);
}

void Tool::add_memory(const Sanitizer_ResourceMemoryData& data) {
  const bool module = data.flags & SANITIZER_MEMORY_FLAG_MODULE;
  if (thread_state.loading_own || (thread_state.own_work && !module)) return;
  const std::lock_guard lock(mutex_);
  table_.add(
      {data.address, data.size, traits_of(data.flags), reinterpret_cast<uint64_t>(data.context)});
  if (options_.debug)
    debug("memory of " + std::to_string(data.size) + " bytes, flags " + std::to_string(data.flags) +
          ", visibility " + std::to_string(int(data.visibility)));
}

void Tool::on_resource(uint32_t id, const void* data) {
  switch (id) {
  case SANITIZER_CBID_RESOURCE_MODULE_LOADED:
    add_module(*static_cast<const Sanitizer_ResourceModuleData*>(data));
    break;
  case SANITIZER_CBID_RESOURCE_MODULE_UNLOAD_STARTING: {
    const std::lock_guard lock(mutex_);
    auto at = modules_.find(static_cast<const Sanitizer_ResourceModuleData*>(data)->module);
    if (at == modules_.end()) break;
    image_bytes_ -= at->second.bytes.size();
    modules_.erase(at);
    may_choose_.clear(); // handles may be used again
    break;
  }
  case SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_ALLOC:
  case SANITIZER_CBID_RESOURCE_HOST_MEMORY_ALLOC:
  case SANITIZER_CBID_RESOURCE_MEMORY_ALLOC_ASYNC: {
    auto memory = *static_cast<const Sanitizer_ResourceMemoryData*>(data);
    if (id == SANITIZER_CBID_RESOURCE_HOST_MEMORY_ALLOC)
      memory.flags |= SANITIZER_MEMORY_FLAG_HOST_PINNED;
    add_memory(memory);
    break;
  }
  case SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_FREE:
  case SANITIZER_CBID_RESOURCE_HOST_MEMORY_FREE:
  case SANITIZER_CBID_RESOURCE_MEMORY_FREE_ASYNC:
  case SANITIZER_CBID_RESOURCE_MEMORY_FREE_ASYNC_DONE: {
    if (thread_state.own_work) break;
    const std::lock_guard lock(mutex_);
    table_.remove(static_cast<const Sanitizer_ResourceMemoryData*>(data)->address);
    break;
  }
  case SANITIZER_CBID_RESOURCE_MEMPOOL_IMPORT_POINTER: {
    auto* memory = static_cast<const Sanitizer_ResourceMemoryData*>(data);
    add_memory(*memory);
    const std::lock_guard lock(mutex_);
    table_.mark(memory->address, kImported);
    break;
  }
  case SANITIZER_CBID_RESOURCE_STREAM_CREATED: {
    auto* stream = static_cast<const Sanitizer_ResourceStreamData*>(data);
    if (thread_state.own_work || !stream->stream) break;
    const std::lock_guard lock(mutex_);
    streams_[stream->stream] = stream->context;
    break;
  }
  case SANITIZER_CBID_RESOURCE_STREAM_DESTROY_STARTING: {
    const std::lock_guard lock(mutex_);
    streams_.erase(static_cast<const Sanitizer_ResourceStreamData*>(data)->stream);
    break;
  }
  default: break;
  }
}

void Tool::on_launch(uint32_t id, const void* data) {
  if (id != SANITIZER_CBID_LAUNCH_BEGIN || !thread_state.userdata) return;
  hand_over(*static_cast<const Sanitizer_LaunchData*>(data));
}

void Tool::on_graph(uint32_t id, const void* data) {
  if (id != SANITIZER_CBID_GRAPHS_NODE_LAUNCH_BEGIN || !thread_state.userdata) return;
  auto* node = static_cast<const Sanitizer_GraphNodeLaunchData*>(data);
  if (node->nodeType == CU_GRAPH_NODE_TYPE_KERNEL) hand_over(node->launchData);
}

void Tool::hand_over(const Sanitizer_LaunchData& launch) {
  const SanitizerResult s =
      api.sanitizerSetLaunchCallbackData(launch.hLaunch, launch.function, launch.hStream,
                                         reinterpret_cast<const void*>(thread_state.userdata));
  if (s != SANITIZER_SUCCESS) debug("launch data: " + text_of(s));
}

void Tool::on_driver_call(uint32_t call, const Sanitizer_CallbackData& data) {
  if (thread_state.own_work) return;
  if (data.callbackSite == SANITIZER_API_ENTER) {
    if (thread_state.driver_depth++ == 0) gate_.enter();
    if (Request::is_launch(call) && !thread_state.examination) before_launch(call, data);
    return;
  }
  if (Request::is_launch(call) && thread_state.examination) after_launch(data);
  note_sharing(call, data);
  note_mapping(call, data);
  note_unhandled(call, data);
  if (GraphTable::concerns(call) && succeeded(data)) {
    const OwnWork own;
    graphs_.note(call, data.functionParams);
  }
  if (thread_state.driver_depth == 0) return; // entered before we subscribed
  --thread_state.driver_depth;
  if (thread_state.driver_depth == 0) gate_.leave();
}

void Tool::before_launch(uint32_t call, const Sanitizer_CallbackData& data) {
  uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = ++launches_;
    auto known = may_choose_.find(Request::handle_of(call, data.functionParams));
    if (known != may_choose_.end() && !known->second) return;
  }
  if (unquiet_ >= options_.settings.most_unquiet) return;
  const OwnWork own;
  auto request = std::make_unique<Request>();
  if (!read_launch(*request, call, data)) return;
  // What is captured into a graph does not run yet: the graph is examined when it is launched.
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  if (api.cuStreamIsCapturing(request->stream, &capture) != CUDA_SUCCESS ||
      capture != CU_STREAM_CAPTURE_STATUS_NONE)
    return;
  {
    const std::lock_guard lock(mutex_);
    const Choice choice = selector_->choose(request->launch);
    // A handle of a graph may be used again at any time.
    if (!request->launch.graph) may_choose_[request->handle] = choice != Choice::other_name;
    if (choice != Choice::examine) return;
  }
  auto examination = std::make_unique<Examination>(*this, std::move(request), number, data.context);
  // Until its end or until a reason against it is found; in the latter case it has reported.
  if (examination->begin()) thread_state.examination = examination.release();
}

bool Tool::read_launch(Request& request, uint32_t call, const Sanitizer_CallbackData& data) {
  if (!GraphTable::is_launch(call))
    return request.read(call, data.functionParams) && (request.find_name(data.symbolName), true);
  auto* p = static_cast<const cuGraphLaunch_params*>(data.functionParams);
  std::shared_ptr<const GraphFacts> facts = graphs_.find(p->hGraph);
  if (!facts) return false;
  request.read_graph(p->hGraph, p->hStream, call == SANITIZER_CBID_DRIVER_API_cuGraphLaunch_ptsz,
                     std::move(facts));
  return true;
}

void Tool::after_launch(const Sanitizer_CallbackData& data) {
  std::unique_ptr<Examination> examination(thread_state.examination);
  thread_state.examination = nullptr;
  const OwnWork own;
  auto* result = static_cast<const CUresult*>(data.functionReturnValue);
  examination->finish(result ? *result : CUDA_SUCCESS);
}

void Tool::note_sharing(uint32_t call, const Sanitizer_CallbackData& data) {
  const std::lock_guard lock(mutex_);
  switch (call) {
  case SANITIZER_CBID_DRIVER_API_cuIpcGetMemHandle:
    table_.mark(static_cast<const cuIpcGetMemHandle_params*>(data.functionParams)->dptr, kExported);
    break;
  case SANITIZER_CBID_DRIVER_API_cuIpcOpenMemHandle:
  case SANITIZER_CBID_DRIVER_API_cuIpcOpenMemHandle_v2: {
    auto* p = static_cast<const cuIpcOpenMemHandle_v2_params*>(data.functionParams);
    if (!p->pdptr || !*p->pdptr) break;
    // Its size is the other process's affair: what the callbacks did not tell is one page.
    if (!table_.find(*p->pdptr)) table_.add({*p->pdptr, 2u << 20, 0, 0});
    table_.mark(*p->pdptr, kImported);
    break;
  }
  case SANITIZER_CBID_DRIVER_API_cuMemExportToShareableHandle:
  case SANITIZER_CBID_DRIVER_API_cuMemImportFromShareableHandle:
  case SANITIZER_CBID_DRIVER_API_cuMulticastCreate: shares_handles_ = true; break;
  default: break;
  }
}

// Memory that is mapped piece by piece: known from the moment at which it is accessible. A piece
// that lies on another device, or in the host's memory, is not private.
void Tool::note_mapping(uint32_t call, const Sanitizer_CallbackData& data) {
  switch (call) {
  case SANITIZER_CBID_DRIVER_API_cuMemMap: {
    auto* p = static_cast<const cuMemMap_params*>(data.functionParams);
    if (!succeeded(data)) return;
    Allocation piece{p->ptr, p->size, kMapped, 0};
    CUmemAllocationProp properties{};
    const OwnWork own;
    CUdevice device = 0;
    if (api.cuMemGetAllocationPropertiesFromHandle &&
        api.cuMemGetAllocationPropertiesFromHandle(&properties, p->handle) == CUDA_SUCCESS &&
        api.cuCtxGetDevice(&device) == CUDA_SUCCESS) {
      if (properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        piece.traits |= kHostMapped;
      else if (properties.location.id != device)
        piece.traits |= kPeer;
    }
    const std::lock_guard lock(mutex_);
    mapped_.push_back(piece);
    return;
  }
  case SANITIZER_CBID_DRIVER_API_cuMemSetAccess: {
    auto* p = static_cast<const cuMemSetAccess_params*>(data.functionParams);
    if (!succeeded(data)) return;
    const std::lock_guard lock(mutex_);
    for (size_t i = mapped_.size(); i-- > 0;) {
      if (mapped_[i].address < p->ptr || mapped_[i].end() > p->ptr + p->size) continue;
      table_.add(mapped_[i]);
      mapped_.erase(mapped_.begin() + ptrdiff_t(i));
    }
    return;
  }
  case SANITIZER_CBID_DRIVER_API_cuMemUnmap: {
    auto* p = static_cast<const cuMemUnmap_params*>(data.functionParams);
    if (!succeeded(data)) return;
    const std::lock_guard lock(mutex_);
    table_.unmap(p->ptr, p->ptr + p->size);
    std::erase_if(mapped_, [&](const Allocation& piece) {
      return piece.address >= p->ptr && piece.end() <= p->ptr + p->size;
    });
    return;
  }
  default: return;
  }
}

// Launches that this version does not look at: one line for each kind, once.
void Tool::note_unhandled(uint32_t call, const Sanitizer_CallbackData& data) {
  switch (call) {
  case SANITIZER_CBID_DRIVER_API_cuLaunchCooperativeKernelMultiDevice:
  case SANITIZER_CBID_DRIVER_API_cuLaunch:
  case SANITIZER_CBID_DRIVER_API_cuLaunchGrid:
  case SANITIZER_CBID_DRIVER_API_cuLaunchGridAsync: break;
  default: return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (!remarked_.insert(data.functionName).second) return;
  }
  channel_.remark(std::string("launches by ") + data.functionName + " are not examined: unknown");
}

void Tool::watch_launches(bool on) {
  for (Sanitizer_CallbackDomain domain : {SANITIZER_CB_DOMAIN_LAUNCH, SANITIZER_CB_DOMAIN_GRAPHS})
    if (api.sanitizerEnableDomain(on, subscriber_, domain) != SANITIZER_SUCCESS)
      debug("callbacks of launches could not be switched");
}

void Tool::gave_up() {
  if (++unquiet_ == options_.settings.most_unquiet)
    channel_.remark("process " + std::to_string(::getpid()) + ": after " +
                    std::to_string(options_.settings.most_unquiet) +
                    " waits that took too long, nothing more is examined");
}

void Tool::leave_patched(CUmodule module) {
  const std::lock_guard lock(mutex_);
  left_patched_.insert(module);
}

bool Tool::left_patched(CUmodule module) {
  const std::lock_guard lock(mutex_);
  return left_patched_.count(module) != 0;
}

Device* Tool::device(CUcontext context, std::string& problem) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Device>& device = devices_[context];
  if (device) return device.get();
  auto fresh = std::make_unique<Device>();
  thread_state.loading_own = true;
  mutex_.unlock(); // loading calls back
  problem = fresh->open(context);
  mutex_.lock();
  thread_state.loading_own = false;
  if (!problem.empty()) return nullptr;
  devices_[context] = std::move(fresh);
  return devices_[context].get();
}

std::vector<Allocation> Tool::allocations(CUcontext context) {
  const std::lock_guard lock(mutex_);
  std::vector<Allocation> out;
  for (Allocation allocation : table_.all()) {
    if (allocation.context && allocation.context != reinterpret_cast<uint64_t>(context)) continue;
    if (shares_handles_ && !(allocation.traits & kModuleMemory)) allocation.traits |= kExported;
    out.push_back(allocation);
  }
  return out;
}

std::string Tool::image(CUmodule module) {
  const std::lock_guard lock(mutex_);
  auto at = modules_.find(module);
  return at == modules_.end() ? std::string() : at->second.bytes;
}

std::string Tool::quiesce(CUstream also) {
  std::vector<CUstream> streams = {CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, also};
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [stream, context] : streams_) streams.push_back(stream);
  }
  const auto limit = std::chrono::seconds(options_.settings.limit_seconds);
  const auto end = std::chrono::steady_clock::now() + limit;
  for (CUstream stream : streams) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (api.cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS ||
        status != CU_STREAM_CAPTURE_STATUS_NONE)
      return "a stream is being captured into a graph";
    CUresult result = CUDA_SUCCESS;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::max(end - std::chrono::steady_clock::now(), std::chrono::steady_clock::duration(0)));
    if (!Device::wait(stream, left, result)) {
      gave_up();
      return "talks to others: a stream still had work after " +
             std::to_string(options_.settings.limit_seconds) + " s";
    }
    if (result != CUDA_SUCCESS) return "a stream reports " + text_of(result);
  }
  return "";
}

} // namespace assay::native
