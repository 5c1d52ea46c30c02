// The CUDA driver without its headers: users build this without CUDA. Declarations follow
// cuda.h 13.0 (driver API: context, module, memory, execution control); these functions are frozen
// by name.
#include "native/gpu.hpp"

#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <thread>

namespace assay::native {
namespace {

using Handle = void*;
using Address = unsigned long long;

// CUlaunchAttribute: an id, padding, a union of 64 bytes; of cluster dimensions the first three
// words.
struct Attribute {
  int id;
  char padding[4];
  uint32_t value[16];
};
struct Config { // CUlaunchConfig
  uint32_t grid[3], block[3], shared;
  Handle stream;
  Attribute* attributes;
  uint32_t count;
};

constexpr uint8_t kOther = 0x5a;         // the same, for a second run
constexpr int kCooperative = 2;          // CU_LAUNCH_ATTRIBUTE_COOPERATIVE
constexpr int kClusterDimension = 4;     // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
constexpr int kMaxDynamicShared = 8;     // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr int kNotReady = 600;           // CUDA_ERROR_NOT_READY
constexpr int kErrorLog = 5;             // CU_JIT_ERROR_LOG_BUFFER
constexpr int kErrorLogSize = 6;         // CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
constexpr int kLineInfo = 13;            // CU_JIT_GENERATE_LINE_INFO
constexpr uint8_t kUninitialised = 0xa5; // what memory holds that nobody has written

#define FUNCTIONS(X)                                                                               \
  X(cuInit, "cuInit", (unsigned))                                                                  \
  X(cuGetErrorName, "cuGetErrorName", (int, const char**))                                         \
  X(cuDeviceGet, "cuDeviceGet", (int*, int))                                                       \
  X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (Handle*, int))                          \
  X(cuCtxSetCurrent, "cuCtxSetCurrent", (Handle))                                                  \
  X(cuStreamQuery, "cuStreamQuery", (Handle))                                                      \
  X(cuModuleLoadDataEx, "cuModuleLoadDataEx", (Handle*, const void*, unsigned, int*, void**))      \
  X(cuModuleGetFunction, "cuModuleGetFunction", (Handle*, Handle, const char*))                    \
  X(cuFuncSetAttribute, "cuFuncSetAttribute", (Handle, int, int))                                  \
  X(cuMemAlloc, "cuMemAlloc_v2", (Address*, size_t))                                               \
  X(cuMemcpyHtoD, "cuMemcpyHtoD_v2", (Address, const void*, size_t))                               \
  X(cuMemcpyDtoH, "cuMemcpyDtoH_v2", (void*, Address, size_t))                                     \
  X(cuMemsetD8, "cuMemsetD8_v2", (Address, unsigned char, size_t))                                 \
  X(cuLaunchKernel, "cuLaunchKernel",                                                              \
    (Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**, \
     void**))                                                                                      \
  X(cuLaunchKernelEx, "cuLaunchKernelEx", (const Config*, Handle, void**, void**))

struct Driver {
#define X(member, symbol, parameters) int(*member) parameters = nullptr;
  FUNCTIONS(X)
#undef X

  Result<void> load() {
    void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return environment_error("libcuda.so.1 was not found: no NVIDIA driver is installed here");
#define X(member, symbol, parameters)                                                              \
  member = reinterpret_cast<int(*) parameters>(::dlsym(library, symbol));                          \
  if (!member) return environment_error("this CUDA driver lacks " symbol);
    FUNCTIONS(X)
#undef X
    return {};
  }

  std::string name(int code) const {
    const char* text = nullptr;
    if (cuGetErrorName(code, &text) == 0 && text) return text;
    return "CUDA error " + std::to_string(code);
  }
};

class Job {
public:
  Job(const Driver& driver, const GpuJob& job) : cu_(driver), job_(job) {}

  Result<std::vector<std::string>> run() {
    using Memory = std::vector<std::vector<uint8_t>>;
    if (Result<void> done = open(); !done) return done.error();
    Result<Memory> first = pass(kUninitialised);
    if (!first) return first.error();
    Memory second;
    if (looks_unwritten(job_.buffers, *first)) {
      Result<Memory> again = pass(kOther);
      if (!again) return again.error();
      second = std::move(*again);
    }
    return findings_in(job_.buffers, *first, second);
  }

private:
  Result<void> open() {
    int device = 0;
    Handle context = nullptr;
    int code = cu_.cuInit(0);
    if (code == 0) code = cu_.cuDeviceGet(&device, 0);
    if (code == 0) code = cu_.cuDevicePrimaryCtxRetain(&context, device);
    if (code == 0) code = cu_.cuCtxSetCurrent(context);
    if (code != 0) return environment_error("no GPU can be used: " + cu_.name(code));
    char log[4096] = "";
    int options[] = {kErrorLog, kErrorLogSize, kLineInfo};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log), reinterpret_cast<void*>(1)};
    code = cu_.cuModuleLoadDataEx(&module_, job_.ptx.c_str(), 3, options, values);
    if (code != 0) return unsupported("PTX for this GPU: " + cu_.name(code) + " " + log);
    return {};
  }

  // All launches over fresh buffers, and what they left in those that are looked at.
  Result<std::vector<std::vector<uint8_t>>> pass(uint8_t pattern) {
    if (Result<void> done = fill(pattern); !done) return done.error();
    for (const GpuLaunch& launch : job_.launches)
      if (Result<void> done = start(launch); !done) return done.error();
    std::vector<std::vector<uint8_t>> out(job_.buffers.size());
    for (size_t i = 0; i < out.size(); ++i) {
      const GpuBuffer& buffer = job_.buffers[i];
      if (!(buffer.output || buffer.input) || buffer.bytes == 0) continue;
      out[i].resize(buffer.bytes);
      const int code = cu_.cuMemcpyDtoH(out[i].data(), addresses_[i], buffer.bytes);
      if (code != 0) return environment_error("cannot read the results: " + cu_.name(code));
    }
    return out;
  }

  Result<void> fill(uint8_t pattern) {
    for (size_t i = 0; i < job_.buffers.size(); ++i) {
      const GpuBuffer& buffer = job_.buffers[i];
      const uint64_t bytes = buffer.bytes ? buffer.bytes : 1;
      int code = 0;
      if (i >= addresses_.size()) { // else it is there from the pass before
        Address fresh = 0;
        code = cu_.cuMemAlloc(&fresh, bytes);
        addresses_.push_back(fresh);
      }
      const Address address = addresses_[i];
      if (code == 0) code = cu_.cuMemsetD8(address, pattern, bytes);
      if (code == 0 && !buffer.data.empty())
        code = cu_.cuMemcpyHtoD(address, buffer.data.data(), buffer.data.size());
      if (code != 0) return environment_error("no device memory: " + cu_.name(code));
    }
    return {};
  }

  Result<void> start(const GpuLaunch& launch) {
    Handle function = nullptr;
    int code = cu_.cuModuleGetFunction(&function, module_, launch.symbol.c_str());
    if (code == 0 && launch.shared > 48 * 1024)
      code = cu_.cuFuncSetAttribute(function, kMaxDynamicShared, int(launch.shared));
    std::vector<std::vector<uint8_t>> bytes;
    std::vector<void*> parameters;
    for (const GpuArgument& argument : launch.arguments) {
      bytes.push_back(argument.bytes);
      for (const GpuPointer& pointer : argument.pointers) {
        const Address value = addresses_[pointer.buffer] + pointer.addend;
        std::memcpy(&bytes.back()[pointer.offset], &value, 8);
      }
    }
    for (std::vector<uint8_t>& one : bytes) parameters.push_back(one.data());
    if (code == 0) code = call(function, launch, parameters.data());
    if (code != 0) return unsupported("launch of " + launch.symbol + ": " + cu_.name(code));
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(job_.limit_seconds);
    while ((code = cu_.cuStreamQuery(nullptr)) == kNotReady) {
      if (std::chrono::steady_clock::now() > end)
        return usage_error(launch.symbol + " had not ended after " +
                           std::to_string(job_.limit_seconds) + " s");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (code != 0) return usage_error(launch.symbol + " ended with " + cu_.name(code));
    return {};
  }

  int call(Handle function, const GpuLaunch& l, void** parameters) const {
    const bool clustered = l.cluster[0] * l.cluster[1] * l.cluster[2] != 1;
    if (!clustered && !l.cooperative)
      return cu_.cuLaunchKernel(function, l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1],
                                l.block[2], l.shared, nullptr, parameters, nullptr);
    Attribute attributes[2]{};
    uint32_t count = 0;
    if (clustered) {
      attributes[count].id = kClusterDimension;
      std::memcpy(attributes[count++].value, l.cluster, sizeof l.cluster);
    }
    if (l.cooperative) {
      attributes[count].id = kCooperative;
      attributes[count++].value[0] = 1;
    }
    Config config{};
    std::memcpy(config.grid, l.grid, sizeof l.grid);
    std::memcpy(config.block, l.block, sizeof l.block);
    config.shared = l.shared;
    config.attributes = attributes;
    config.count = count;
    return cu_.cuLaunchKernelEx(&config, function, parameters, nullptr);
  }

  const Driver& cu_;
  const GpuJob& job_;
  Handle module_ = nullptr;
  std::vector<Address> addresses_;
};

} // namespace

namespace {

bool unwritten(const GpuBuffer& buffer, const std::vector<uint8_t>& left, size_t at,
               uint8_t pattern) {
  return at >= buffer.data.size() && left[at] == pattern;
}

} // namespace

bool looks_unwritten(const std::vector<GpuBuffer>& buffers,
                     const std::vector<std::vector<uint8_t>>& first) {
  for (size_t i = 0; i < buffers.size(); ++i)
    for (size_t at = 0; buffers[i].output && at < first[i].size(); ++at)
      if (unwritten(buffers[i], first[i], at, kUninitialised)) return true;
  return false;
}

std::vector<std::string> findings_in(const std::vector<GpuBuffer>& buffers,
                                     const std::vector<std::vector<uint8_t>>& first,
                                     const std::vector<std::vector<uint8_t>>& second) {
  std::vector<std::string> out;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const GpuBuffer& buffer = buffers[i];
    uint64_t missing = 0, changed = 0, lowest = 0;
    for (size_t at = first[i].size(); at-- > 0;) {
      if (buffer.output && i < second.size() && unwritten(buffer, first[i], at, kUninitialised) &&
          unwritten(buffer, second[i], at, kOther)) {
        ++missing;
        lowest = at;
      }
      if (buffer.input && at < buffer.data.size() && first[i][at] != buffer.data[at]) ++changed;
    }
    if (missing)
      out.push_back("unwritten-output: " + std::to_string(missing) + " of the " +
                    std::to_string(buffer.bytes) + " bytes of the output " + buffer.name +
                    " were never written; the first is byte " + std::to_string(lowest));
    if (changed)
      out.push_back("input-modified: " + std::to_string(changed) + " bytes of the input " +
                    buffer.name + " were changed");
  }
  return out;
}

Result<std::vector<std::string>> run_on_gpu(const GpuJob& job) {
  Driver driver;
  if (Result<void> loaded = driver.load(); !loaded) return loaded.error();
  return Job(driver, job).run();
}

} // namespace assay::native
