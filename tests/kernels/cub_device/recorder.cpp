// Which kernels a host library launches, with which arguments, found out without a GPU: stands in
// for the CUDA runtime, answers its questions about the device (one of sm_80 with few
// multiprocessors) and prints every launch.
//
//   recorder PARAMETERS BUFFERS      PARAMETERS: a file with lines "kernel size size …"; calls
//                                    dispatch(temp, bytes, buffers) of the program it is linked
//                                    with
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

// Buffer i has addresses from (i + 1) << 40; the last one is the temporary storage.
extern "C" void dispatch(void* temp, size_t* bytes, void* const* buffers);

namespace {
constexpr int kMultiprocessors = 4, kBlocksEach = 2;

std::map<const void*, std::string>& names() {
  static std::map<const void*, std::string> all;
  return all;
}
std::map<std::string, std::vector<size_t>> parameters;

struct Call {
  dim3 grid, block;
  size_t shared;
} pending;

void print(const void* function, const Call& call, void** arguments) {
  const std::string& name = names()[function];
  std::printf("launch %s %u,%u,%u %u,%u,%u %zu", name.c_str(), call.grid.x, call.grid.y,
              call.grid.z, call.block.x, call.block.y, call.block.z, call.shared);
  size_t i = 0;
  for (size_t size : parameters[name]) {
    std::printf(" ");
    for (size_t k = 0; k < size; ++k) std::printf("%02x", static_cast<uint8_t*>(arguments[i])[k]);
    ++i;
  }
  std::printf("\n");
}
} // namespace

extern "C" {
void** __cudaRegisterFatBinary(void*) {
  static void* handle;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}
char __cudaInitModule(void**) { return 1; }
void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*) {
  names()[host] = name;
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void*) {
  pending = {grid, block, shared};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  *grid = pending.grid, *block = pending.block, *shared = pending.shared;
  std::memset(stream, 0, sizeof(void*));
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             size_t shared, cudaStream_t) {
  print(function, {grid, block, shared}, arguments);
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared, cudaStream_t) {
  print(kernel, {grid, block, shared}, arguments);
  return cudaSuccess;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  print(function, {config->gridDim, config->blockDim, config->dynamicSmemBytes}, arguments);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t) {
  std::printf("memset %llx %d %zu\n", (unsigned long long)(uintptr_t)to, value, bytes);
  return cudaSuccess;
}
// CUB copies only where there is nothing to do or a buffer is its own result; no case here gets
// there.
cudaError_t cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t) {
  return cudaErrorNotSupported;
}
cudaError_t cudaMemcpy(void*, const void*, size_t, cudaMemcpyKind) { return cudaErrorNotSupported; }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
  switch (which) {
  case cudaDevAttrMultiProcessorCount: *value = kMultiprocessors; break;
  case cudaDevAttrComputeCapabilityMajor: *value = 8; break;
  case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
  case cudaDevAttrMaxGridDimX: *value = 0x7fffffff; break;
  case cudaDevAttrMaxSharedMemoryPerBlock: *value = 49152; break;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = 166912; break;
  case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
  case cudaDevAttrWarpSize: *value = 32; break;
  default: *value = 0;
  }
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* out, const void*) {
  std::memset(out, 0, sizeof *out);
  out->ptxVersion = out->binaryVersion = 80;
  out->maxThreadsPerBlock = 1024;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int,
                                                                   size_t, unsigned) {
  *blocks = kBlocksEach;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, size_t) {
  *blocks = kBlocksEach;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return ""; }
const char* cudaGetErrorName(cudaError_t) { return ""; }
}

int main(int, char** argv) {
  std::ifstream file(argv[1]);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    for (size_t size; words >> size;) parameters[name].push_back(size);
  }
  const int count = std::atoi(argv[2]);
  std::vector<void*> buffers;
  for (int i = 0; i < count; ++i)
    buffers.push_back(reinterpret_cast<void*>(uintptr_t(i + 1) << 40));
  size_t bytes = 0;
  dispatch(nullptr, &bytes, buffers.data());
  std::printf("temp %zu\n", bytes);
  dispatch(reinterpret_cast<void*>(uintptr_t(count + 1) << 40), &bytes, buffers.data());
}
