// The functions of the CUDA driver and of the Compute Sanitizer API that the injection library
// calls, found at run time: the driver is the one of the process, and the sanitizer's library is
// named by `assay run`. Nothing is linked, so that the library loads into any process.
#pragma once

#include <cuda.h>
#include <sanitizer.h>
#include <string>

namespace assay::native {

// Each row: member name, exported symbol.
#define ASSAY_DRIVER_FUNCTIONS(X)                                                                  \
  X(cuGetErrorName, "cuGetErrorName")                                                              \
  X(cuDriverGetVersion, "cuDriverGetVersion")                                                      \
  X(cuDeviceGetName, "cuDeviceGetName")                                                            \
  X(cuDeviceGetAttribute, "cuDeviceGetAttribute")                                                  \
  X(cuCtxGetDevice, "cuCtxGetDevice")                                                              \
  X(cuCtxGetCurrent, "cuCtxGetCurrent")                                                            \
  X(cuThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode")                        \
  X(cuStreamCreate, "cuStreamCreate")                                                              \
  X(cuStreamQuery, "cuStreamQuery")                                                                \
  X(cuStreamIsCapturing, "cuStreamIsCapturing")                                                    \
  X(cuMemGetInfo, "cuMemGetInfo_v2")                                                               \
  X(cuMemAlloc, "cuMemAlloc_v2")                                                                   \
  X(cuMemFree, "cuMemFree_v2")                                                                     \
  X(cuMemAllocHost, "cuMemAllocHost_v2")                                                           \
  X(cuMemFreeHost, "cuMemFreeHost")                                                                \
  X(cuMemcpyAsync, "cuMemcpyAsync")                                                                \
  X(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2")                                                     \
  X(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2")                                                     \
  X(cuMemsetD8Async, "cuMemsetD8Async")                                                            \
  X(cuModuleLoadData, "cuModuleLoadData")                                                          \
  X(cuModuleGetFunction, "cuModuleGetFunction")                                                    \
  X(cuModuleGetGlobal, "cuModuleGetGlobal_v2")                                                     \
  X(cuFuncGetModule, "cuFuncGetModule")                                                            \
  X(cuFuncGetAttribute, "cuFuncGetAttribute")                                                      \
  X(cuFuncSetAttribute, "cuFuncSetAttribute")                                                      \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor")    \
  X(cuLaunchKernel, "cuLaunchKernel")                                                              \
  X(cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel")
// Of newer drivers; null where there is none.
#define ASSAY_OPTIONAL_DRIVER_FUNCTIONS(X)                                                         \
  X(cuLaunchKernelEx, "cuLaunchKernelEx")                                                          \
  X(cuKernelGetFunction, "cuKernelGetFunction")                                                    \
  X(cuFuncGetName, "cuFuncGetName")                                                                \
  X(cuKernelGetName, "cuKernelGetName")                                                            \
  X(cuFuncGetParamInfo, "cuFuncGetParamInfo")                                                      \
  X(cuMemGetAllocationPropertiesFromHandle, "cuMemGetAllocationPropertiesFromHandle")              \
  X(cuGraphLaunch, "cuGraphLaunch")                                                                \
  X(cuGraphClone, "cuGraphClone")                                                                  \
  X(cuGraphDestroy, "cuGraphDestroy")                                                              \
  X(cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags")                                    \
  X(cuGraphExecDestroy, "cuGraphExecDestroy")                                                      \
  X(cuGraphGetNodes, "cuGraphGetNodes")                                                            \
  X(cuGraphNodeGetType, "cuGraphNodeGetType")                                                      \
  X(cuGraphKernelNodeGetParams, "cuGraphKernelNodeGetParams_v2")                                   \
  X(cuGraphMemcpyNodeGetParams, "cuGraphMemcpyNodeGetParams")                                      \
  X(cuGraphMemsetNodeGetParams, "cuGraphMemsetNodeGetParams")                                      \
  X(cuGraphChildGraphNodeGetGraph, "cuGraphChildGraphNodeGetGraph")
#define ASSAY_SANITIZER_FUNCTIONS(X)                                                               \
  X(sanitizerSubscribe, "sanitizerSubscribe")                                                      \
  X(sanitizerEnableCallback, "sanitizerEnableCallback")                                            \
  X(sanitizerEnableDomain, "sanitizerEnableDomain")                                                \
  X(sanitizerAddPatches, "sanitizerAddPatches")                                                    \
  X(sanitizerPatchInstructions, "sanitizerPatchInstructions")                                      \
  X(sanitizerPatchModule, "sanitizerPatchModule")                                                  \
  X(sanitizerUnpatchModule, "sanitizerUnpatchModule")                                              \
  X(sanitizerGetFunctionPcAndSize, "sanitizerGetFunctionPcAndSize")                                \
  X(sanitizerSetCallbackData, "sanitizerSetCallbackData")                                          \
  X(sanitizerSetLaunchCallbackData, "sanitizerSetLaunchCallbackData")                              \
  X(sanitizerGetResultString, "sanitizerGetResultString")

struct Api {
#define X(member, symbol) decltype(&::member) member = nullptr;
  ASSAY_DRIVER_FUNCTIONS(X)
  ASSAY_OPTIONAL_DRIVER_FUNCTIONS(X)
  ASSAY_SANITIZER_FUNCTIONS(X)
#undef X
};

// Filled by load_sanitizer and load_driver; never freed.
extern Api api;

// Empty, or what is missing.
std::string load_sanitizer(const std::string& path);
std::string load_driver();

std::string text_of(CUresult result);
std::string text_of(SanitizerResult result);

} // namespace assay::native
