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

  Result<void> run() {
    if (Result<void> done = open(); !done) return done;
    if (Result<void> done = fill(); !done) return done;
    for (const GpuLaunch& launch : job_.launches)
      if (Result<void> done = start(launch); !done) return done;
    return {};
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

  Result<void> fill() {
    for (const GpuBuffer& buffer : job_.buffers) {
      Address address = 0;
      int code = cu_.cuMemAlloc(&address, buffer.bytes ? buffer.bytes : 1);
      if (code == 0)
        code = cu_.cuMemsetD8(address, kUninitialised, buffer.bytes ? buffer.bytes : 1);
      if (code == 0 && !buffer.data.empty())
        code = cu_.cuMemcpyHtoD(address, buffer.data.data(), buffer.data.size());
      if (code != 0) return environment_error("no device memory: " + cu_.name(code));
      addresses_.push_back(address);
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
    if (l.cluster[0] * l.cluster[1] * l.cluster[2] == 1)
      return cu_.cuLaunchKernel(function, l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1],
                                l.block[2], l.shared, nullptr, parameters, nullptr);
    Attribute cluster{};
    cluster.id = kClusterDimension;
    std::memcpy(cluster.value, l.cluster, sizeof l.cluster);
    Config config{};
    std::memcpy(config.grid, l.grid, sizeof l.grid);
    std::memcpy(config.block, l.block, sizeof l.block);
    config.shared = l.shared;
    config.attributes = &cluster;
    config.count = 1;
    return cu_.cuLaunchKernelEx(&config, function, parameters, nullptr);
  }

  const Driver& cu_;
  const GpuJob& job_;
  Handle module_ = nullptr;
  std::vector<Address> addresses_;
};

} // namespace

Result<void> run_on_gpu(const GpuJob& job) {
  Driver driver;
  if (Result<void> loaded = driver.load(); !loaded) return loaded;
  return Job(driver, job).run();
}

} // namespace assay::native
