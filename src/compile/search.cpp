// Candidate paths of NVRTC. Two layouts exist in Python packages: CUDA 13's
// nvidia/cu13/{lib,include}, and CUDA 12's nvidia/cuda_nvrtc/lib with the headers in sibling
// packages. A toolkit has lib64 and include.
#include "compile/search.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace assay::compile {
namespace fs = std::filesystem;
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Entries of a folder whose names start with `prefix`, sorted, newest version first.
std::vector<std::string> entries(const fs::path& folder, const std::string& prefix) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (fs::directory_iterator it(folder, ignored), end; !ignored && it != end;
       it.increment(ignored))
    if (it->path().filename().string().rfind(prefix, 0) == 0) found.push_back(it->path().string());
  std::sort(found.rbegin(), found.rend());
  return found;
}

void add_libraries(const fs::path& folder, std::vector<std::string>& out) {
  for (const std::string& file : entries(folder, "libnvrtc.so")) out.push_back(file);
}

void add_site_packages(const fs::path& folder, std::vector<std::string>& out) {
  for (const std::string& toolkit : entries(folder / "nvidia", "cu"))
    add_libraries(fs::path(toolkit) / "lib", out);
}

void add_python(const fs::path& prefix, std::vector<std::string>& out) {
  for (const char* lib : {"lib", "local/lib"})
    for (const std::string& python : entries(prefix / lib, "python3"))
      for (const char* packages : {"site-packages", "dist-packages"})
        add_site_packages(fs::path(python) / packages, out);
}

// The project's folder, seen from a program below it: the folder that holds setup/nvrtc.
std::string project_above(fs::path folder) {
  std::error_code ignored;
  for (; folder.has_relative_path(); folder = folder.parent_path())
    if (fs::exists(folder / "setup" / "nvrtc", ignored)) return folder.string();
  return "";
}

} // namespace

Surroundings Surroundings::of_this_process() {
  Surroundings s;
  std::error_code ignored;
  s.assay_nvrtc = variable("ASSAY_NVRTC");
  s.project = project_above(fs::read_symlink("/proc/self/exe", ignored).parent_path());
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (std::string value = variable(name); !value.empty()) s.environments.push_back(value);
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (std::string value = variable(name); !value.empty()) s.toolkits.push_back(value);
  for (const std::string& toolkit : entries("/usr/local", "cuda")) s.toolkits.push_back(toolkit);
  s.home = variable("HOME");
  std::istringstream path(variable("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) s.path.push_back(folder);
  return s;
}

std::vector<std::string> nvrtc_candidates(const Surroundings& s) {
  std::vector<std::string> out;
  if (!s.assay_nvrtc.empty()) { // a choice, not a hint: nothing else is tried
    std::error_code ignored;
    if (fs::is_directory(s.assay_nvrtc, ignored))
      add_libraries(s.assay_nvrtc, out);
    else
      out.push_back(s.assay_nvrtc);
    return out;
  }
  if (!s.project.empty()) add_python(fs::path(s.project) / ".venv", out);
  for (const std::string& environment : s.environments) add_python(environment, out);
  for (const std::string& toolkit : s.toolkits)
    for (const char* lib : {"lib64", "lib", "targets/x86_64-linux/lib"})
      add_libraries(fs::path(toolkit) / lib, out);
  if (!s.home.empty()) add_python(fs::path(s.home) / ".local", out);
  add_python("/usr", out);
  add_python("/usr/local", out);
  add_site_packages("/usr/lib/python3/dist-packages", out);
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}) out.push_back(name);
  return out;
}

std::vector<std::string> header_directories(const std::string& library) {
  std::vector<std::string> out;
  const fs::path prefix = fs::path(library).parent_path().parent_path();
  const fs::path nvidia = prefix.parent_path();
  for (const fs::path& folder :
       {prefix / "include", prefix / "include/cccl", nvidia / "cuda_runtime/include",
        nvidia / "cuda_cccl/include", nvidia / "cuda_cccl/include/cccl"}) {
    std::error_code ignored;
    const bool cuda = fs::exists(folder / "cuda_runtime.h", ignored);
    const bool cccl = fs::exists(folder / "cub/cub.cuh", ignored);
    if (cuda || cccl) out.push_back(folder.string());
  }
  return out;
}

std::vector<std::string> builtins_beside(const std::string& library) {
  return entries(fs::path(library).parent_path(), "libnvrtc-builtins.so");
}

std::string find_nvcc(const Surroundings& s) {
  std::vector<std::string> folders = s.path;
  for (const std::string& toolkit : s.toolkits) folders.push_back(toolkit + "/bin");
  for (const std::string& folder : folders) {
    std::error_code ignored;
    const fs::path nvcc = fs::path(folder) / "nvcc";
    if (!folder.empty() && fs::is_regular_file(nvcc, ignored)) return nvcc.string();
  }
  return "";
}

} // namespace assay::compile
