// Where NVRTC, nvcc and the CUDA headers are looked for. Nothing is downloaded and nothing
// configured: the first library that loads wins.
#pragma once

#include <string>
#include <vector>

namespace assay::compile {

// What of the surroundings decides the search; tests make their own.
struct Surroundings {
  std::string assay_nvrtc;               // $ASSAY_NVRTC: a library or the folder that holds it
  std::string project;                   // the project's folder, which may hold .venv
  std::vector<std::string> environments; // Python environments: $VIRTUAL_ENV, $CONDA_PREFIX
  std::vector<std::string> toolkits;     // $CUDA_HOME, $CUDA_PATH, /usr/local/cuda*
  std::string home;                      // $HOME, for packages of `pip install --user`
  std::vector<std::string> path;         // $PATH, for nvcc

  static Surroundings of_this_process();
};

// Files to try, best first; bare names at the end leave the search to the loader.
std::vector<std::string> nvrtc_candidates(const Surroundings& surroundings);

// Folders with CUDA's headers that belong to this library, CCCL's included.
std::vector<std::string> header_directories(const std::string& library);

// NVRTC's companion libraries (libnvrtc-builtins) in the folder of this library.
std::vector<std::string> builtins_beside(const std::string& library);

// The path of nvcc, or empty.
std::string find_nvcc(const Surroundings& surroundings);

} // namespace assay::compile
