// Look-up of functions; see api.hpp.
#include "native/inject/api.hpp"

#include <dlfcn.h>

namespace assay::native {

Api api;

std::string load_sanitizer(const std::string& path) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* why = ::dlerror();
    return std::string("cannot load ") + path + ": " + (why ? why : "unknown error");
  }
#define X(member, symbol)                                                                          \
  api.member = reinterpret_cast<decltype(api.member)>(::dlsym(library, symbol));                   \
  if (!api.member) return path + " lacks " symbol;
  ASSAY_SANITIZER_FUNCTIONS(X)
#undef X
  return "";
}

std::string load_driver() {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return "libcuda.so.1 cannot be loaded";
#define X(member, symbol)                                                                          \
  api.member = reinterpret_cast<decltype(api.member)>(::dlsym(library, symbol));                   \
  if (!api.member) return "the driver lacks " symbol;
  ASSAY_DRIVER_FUNCTIONS(X)
#undef X
#define X(member, symbol)                                                                          \
  api.member = reinterpret_cast<decltype(api.member)>(::dlsym(library, symbol));
  ASSAY_OPTIONAL_DRIVER_FUNCTIONS(X)
#undef X
  return "";
}

std::string text_of(CUresult result) {
  const char* name = nullptr;
  if (api.cuGetErrorName && api.cuGetErrorName(result, &name) == CUDA_SUCCESS && name) return name;
  return "CUDA error " + std::to_string(int(result));
}

std::string text_of(SanitizerResult result) {
  const char* name = nullptr;
  if (api.sanitizerGetResultString &&
      api.sanitizerGetResultString(result, &name) == SANITIZER_SUCCESS && name)
    return name;
  return "sanitizer error " + std::to_string(int(result));
}

} // namespace assay::native
