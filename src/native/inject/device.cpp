// Helpers and patches in one context; see device.hpp.
#include "native/inject/device.hpp"

#include <thread>

namespace assay::native {
namespace {

struct PatchRow {
  Sanitizer_InstructionId instruction;
  const char* function; // in patches.cu
  const char* name;     // for the report
};

constexpr PatchRow kPatches[] = {
    {SANITIZER_INSTRUCTION_BLOCK_ENTER, "assay_enter", "beginnings of blocks"},
    {SANITIZER_INSTRUCTION_GLOBAL_MEMORY_ACCESS, "assay_global", "global accesses"},
    {SANITIZER_INSTRUCTION_SHARED_MEMORY_ACCESS, "assay_shared", "shared accesses"},
    {SANITIZER_INSTRUCTION_LOCAL_MEMORY_ACCESS, "assay_local", "local accesses"},
    {SANITIZER_INSTRUCTION_REMOTE_SHARED_MEMORY_ACCESS, "assay_remote", "remote shared accesses"},
    {SANITIZER_INSTRUCTION_MATRIX_MEMORY_ACCESS, "assay_matrix", "matrix accesses"},
    {SANITIZER_INSTRUCTION_MEMCPY_ASYNC, "assay_async_copy", "asynchronous copies"},
    {SANITIZER_INSTRUCTION_BULK_COPY_GLOBAL_TO_SHARED, "assay_bulk_load", "bulk loads"},
    {SANITIZER_INSTRUCTION_BULK_COPY_SHARED_TO_GLOBAL, "assay_bulk_store", "bulk stores"},
    {SANITIZER_INSTRUCTION_BULK_REDUCTION_SHARED_TO_GLOBAL, "assay_bulk_store", "bulk reductions"},
    {SANITIZER_INSTRUCTION_BULK_COPY_SHARED_TO_SHARED, "assay_bulk_shared", "bulk shared copies"},
    {SANITIZER_INSTRUCTION_WARPGROUP_MMA_ASYNC, "assay_mma", "warpgroup matrix products"},
    {SANITIZER_INSTRUCTION_ASYNC_STORE, "assay_async_store", "asynchronous stores"},
    {SANITIZER_INSTRUCTION_ASYNC_REDUCTION, "assay_async_reduction", "asynchronous reductions"},
    {SANITIZER_INSTRUCTION_BARRIER, "assay_barrier", "barriers"},
    {SANITIZER_INSTRUCTION_CUDA_BARRIER, "assay_mbarrier", "barriers in memory"},
};

constexpr uint32_t kFlags = 1024; // multiprocessors that the scrub can tell apart

} // namespace

CUresult Buffer::on_device(size_t size) {
  reset();
  const CUresult result = api.cuMemAlloc(&address_, size ? size : 1);
  if (result == CUDA_SUCCESS) size_ = size;
  return result;
}

CUresult Buffer::on_host(size_t size) {
  reset();
  void* pointer = nullptr;
  const CUresult result = api.cuMemAllocHost(&pointer, size ? size : 1);
  if (result != CUDA_SUCCESS) return result;
  address_ = reinterpret_cast<CUdeviceptr>(pointer);
  size_ = size;
  host_ = true;
  return result;
}

void Buffer::reset() {
  if (address_ && host_) api.cuMemFreeHost(reinterpret_cast<void*>(address_));
  if (address_ && !host_) api.cuMemFree(address_);
  address_ = 0;
  size_ = 0;
  host_ = false;
}

std::string Device::open(CUcontext context) {
  context_ = context;
  CUdevice device = 0;
  CUresult r = api.cuCtxGetDevice(&device);
  int value = 0;
  auto attribute = [&](CUdevice_attribute which) {
    if (r == CUDA_SUCCESS) r = api.cuDeviceGetAttribute(&value, which, device);
    return uint32_t(value);
  };
  processors_ = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  shared_bytes_ = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  cache_bytes_ = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  char name[256] = "";
  if (r == CUDA_SUCCESS) r = api.cuDeviceGetName(name, sizeof name, device);
  card_ = name;
  if (r == CUDA_SUCCESS) r = api.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING);
  if (r == CUDA_SUCCESS) r = api.cuModuleLoadData(&helpers_, helpers_image());
  auto find = [&](CUfunction& function, const char* kernel) {
    if (r == CUDA_SUCCESS) r = api.cuModuleGetFunction(&function, helpers_, kernel);
  };
  find(scrub_, "assay_scrub");
  find(compare_, "assay_compare");
  find(find_, "assay_find_addresses");
  find(flush_, "assay_flush");
  find(press_, "assay_press");
  for (CUfunction function : {scrub_, press_})
    if (r == CUDA_SUCCESS)
      r = api.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                 int(shared_bytes_));
  if (r == CUDA_SUCCESS) r = api.cuMemAlloc(&scrub_memory_, (kFlags + 1) * sizeof(uint32_t));
  if (r != CUDA_SUCCESS) return "cannot prepare the context: " + text_of(r);
  const SanitizerResult s = api.sanitizerAddPatches(patches_image(), context);
  return s == SANITIZER_SUCCESS ? "" : "cannot load the patches: " + text_of(s);
}

bool Device::wait(CUstream stream, std::chrono::milliseconds limit, CUresult& result) {
  const auto begin = std::chrono::steady_clock::now();
  for (uint32_t round = 0;; ++round) {
    result = api.cuStreamQuery(stream);
    if (result != CUDA_ERROR_NOT_READY) return true;
    if (std::chrono::steady_clock::now() - begin > limit) return false;
    if (round > 200)
      std::this_thread::sleep_for(std::chrono::microseconds(round > 2000 ? 500 : 20));
  }
}

CUresult Device::finish() const {
  CUresult result = CUDA_SUCCESS;
  if (!wait(stream_, std::chrono::minutes(2), result)) return CUDA_ERROR_LAUNCH_TIMEOUT;
  return result;
}

std::string Device::patch(CUmodule module) {
  missing_.clear();
  for (const PatchRow& row : kPatches)
    if (api.sanitizerPatchInstructions(row.instruction, module, row.function) != SANITIZER_SUCCESS)
      missing_.push_back(row.name);
  const SanitizerResult s = api.sanitizerPatchModule(module);
  return s == SANITIZER_SUCCESS ? "" : "its module cannot be patched: " + text_of(s);
}

std::string Device::unpatch(CUmodule module) {
  const SanitizerResult s = api.sanitizerUnpatchModule(module);
  return s == SANITIZER_SUCCESS ? "" : text_of(s);
}

CUresult Device::scrub(uint32_t pattern, uint32_t& reached) {
  reached = 0;
  CUresult r = api.cuMemsetD8Async(scrub_memory_, 0, (kFlags + 1) * sizeof(uint32_t), stream_);
  CUdeviceptr seen = scrub_memory_, begun = scrub_memory_ + kFlags * sizeof(uint32_t);
  uint32_t size = kFlags;
  void* parameters[] = {&pattern, &seen, &size, &begun};
  if (r == CUDA_SUCCESS)
    r = api.cuLaunchKernel(scrub_, processors_, 1, 1, 256, 1, 1, shared_bytes_, stream_, parameters,
                           nullptr);
  std::vector<uint32_t> flags(kFlags);
  if (r == CUDA_SUCCESS)
    r = api.cuMemcpyDtoHAsync(flags.data(), seen, kFlags * sizeof(uint32_t), stream_);
  if (r == CUDA_SUCCESS) r = finish();
  for (uint32_t flag : flags) reached += flag != 0;
  return r;
}

CUresult Device::scrub_as(uint64_t threads, uint32_t shared_bytes, uint32_t pattern) {
  if (shared_bytes == 0 || shared_bytes > shared_bytes_) return CUDA_SUCCESS;
  int blocks = 0;
  CUresult r =
      api.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scrub_, int(threads), shared_bytes);
  CUdeviceptr seen = scrub_memory_, begun = scrub_memory_ + kFlags * sizeof(uint32_t);
  uint32_t size = kFlags;
  void* parameters[] = {&pattern, &seen, &size, &begun};
  if (r == CUDA_SUCCESS)
    r = api.cuMemsetD8Async(scrub_memory_, 0, (kFlags + 1) * sizeof(uint32_t), stream_);
  if (r == CUDA_SUCCESS)
    r = api.cuLaunchKernel(scrub_, processors_ * unsigned(blocks > 0 ? blocks : 1), 1, 1,
                           unsigned(threads), 1, 1, shared_bytes, stream_, parameters, nullptr);
  return r == CUDA_SUCCESS ? finish() : r;
}

const char* Device::pressure_name(Pressure kind) {
  switch (kind) {
  case Pressure::cold_cache: return "cold cache";
  case Pressure::memory_traffic: return "memory traffic of others";
  default: return "half of the multiprocessors";
  }
}

CUresult Device::press(Pressure kind, uint64_t nanoseconds, uint32_t seed) {
  // Twice what the second-level cache holds.
  const uint64_t bytes = uint64_t(cache_bytes_) * 2 & ~uint64_t(15);
  CUresult r = CUDA_SUCCESS;
  if (kind != Pressure::fewer_processors && pressure_memory_.size() < bytes)
    r = pressure_memory_.on_device(bytes);
  CUdeviceptr words = pressure_memory_.at();
  uint64_t count = kind == Pressure::fewer_processors ? 0 : bytes / 16;
  void* flush[] = {&words, &count, &seed};
  void* press[] = {&words, &count, &nanoseconds};
  if (r != CUDA_SUCCESS) return r;
  switch (kind) {
  case Pressure::cold_cache:
    r = api.cuLaunchKernel(flush_, processors_ * 2, 1, 1, 512, 1, 1, 0, stream_, flush, nullptr);
    return r == CUDA_SUCCESS ? finish() : r;
  case Pressure::memory_traffic:
    return api.cuLaunchKernel(press_, processors_ / 2 + 1, 1, 1, 256, 1, 1, 0, stream_, press,
                              nullptr);
  default:
    // With all the shared memory of a multiprocessor, a block shares it with nobody that needs any.
    return api.cuLaunchKernel(press_, processors_ / 2 + 1, 1, 1, 1024, 1, 1, shared_bytes_, stream_,
                              press, nullptr);
  }
}

CUresult Device::compare(CUdeviceptr memory, uint64_t size, CUdeviceptr expected,
                         CUdeviceptr changed, CUdeviceptr result) const {
  uint32_t chunk = 64 * 1024;
  const uint64_t chunks = (size + chunk - 1) / chunk, most = uint64_t(processors_) * 4;
  void* parameters[] = {&memory, &size, &expected, &chunk, &changed, &result};
  return api.cuLaunchKernel(compare_, unsigned(chunks < most ? chunks : most), 1, 1, 512, 1, 1, 0,
                            stream_, parameters, nullptr);
}

CUresult Device::find_addresses(CUdeviceptr words, uint64_t bytes, CUdeviceptr ranges,
                                uint32_t count, CUdeviceptr hit) const {
  uint64_t number = bytes / 8;
  if (number == 0) return CUDA_SUCCESS;
  const uint64_t blocks = (number + 511) / 512, most = uint64_t(processors_) * 8;
  void* parameters[] = {&words, &number, &ranges, &count, &hit};
  return api.cuLaunchKernel(find_, unsigned(blocks < most ? blocks : most), 1, 1, 512, 1, 1, 0,
                            stream_, parameters, nullptr);
}

} // namespace assay::native
