// Loading NVRTC. It keeps memory and threads' state of its own after a compilation, so the library
// stays in the process once it has been loaded (RTLD_NODELETE).
#include "compile/nvrtc.hpp"

#include <fmt/format.h>

#include <dlfcn.h>

namespace assay::compile {
namespace {

template <class F> bool bind(void* handle, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(handle, name));
  return function != nullptr;
}

std::string path_of(void* function) {
  Dl_info info{};
  return dladdr(function, &info) && info.dli_fname ? info.dli_fname : "";
}

// NVRTC opens its companion by bare name when it compiles, and the packages' folder is on no search
// path; a library that is loaded already is found by that name.
void load_builtins(const std::string& library) {
  for (const std::string& file : builtins_beside(library))
    if (dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE)) return;
}

// Null, and why in `problem`, when this file is not a usable NVRTC.
std::unique_ptr<Nvrtc> try_load(const std::string& candidate, std::string& problem) {
  auto n = std::make_unique<Nvrtc>();
  n->handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!n->handle) {
    const char* why = dlerror();
    problem = why ? why : candidate + ": cannot be loaded";
    return nullptr;
  }
  void* h = n->handle;
  const bool complete =
      bind(h, "nvrtcGetErrorString", n->error_string) && bind(h, "nvrtcVersion", n->version) &&
      bind(h, "nvrtcCreateProgram", n->create) && bind(h, "nvrtcDestroyProgram", n->destroy) &&
      bind(h, "nvrtcAddNameExpression", n->add_name) &&
      bind(h, "nvrtcCompileProgram", n->compile) &&
      bind(h, "nvrtcGetProgramLogSize", n->log_size) && bind(h, "nvrtcGetProgramLog", n->log) &&
      bind(h, "nvrtcGetPTXSize", n->ptx_size) && bind(h, "nvrtcGetPTX", n->ptx) &&
      bind(h, "nvrtcGetLoweredName", n->lowered_name);
  if (!complete || n->version(&n->major, &n->minor) != 0) {
    problem = candidate + ": is not NVRTC";
    return nullptr;
  }
  n->path = path_of(reinterpret_cast<void*>(n->compile));
  load_builtins(n->path);
  return n;
}

} // namespace

Nvrtc::~Nvrtc() {
  if (handle) dlclose(handle);
}

std::string Nvrtc::name() const { return fmt::format("NVRTC {}.{}", major, minor); }

Result<std::unique_ptr<Nvrtc>> load_nvrtc(const Surroundings& surroundings) {
  std::string problem;
  for (const std::string& candidate : nvrtc_candidates(surroundings))
    if (auto nvrtc = try_load(candidate, problem)) return nvrtc;
  Error error = environment_error("no NVRTC is installed, so CUDA sources cannot be compiled");
  const std::string folder = surroundings.project.empty() ? "" : surroundings.project + "/";
  error.notes.push_back(fmt::format("install it with: {}setup/nvrtc", folder));
  if (!surroundings.assay_nvrtc.empty())
    error.notes.push_back(fmt::format("ASSAY_NVRTC is set: {}", problem));
  return error;
}

} // namespace assay::compile
