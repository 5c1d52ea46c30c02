// What the CUDA driver calls when CUDA_INJECTION64_PATH names this library: the one exported
// symbol.
#include "native/inject/tool.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): the driver looks for this name.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  try {
    if (assay::native::tool) return 1;
    assay::native::tool = new assay::native::Tool; // never destroyed: see tool.hpp
    assay::native::tool->start();
  } catch (...) {
    // A process that we cannot watch goes on as if we were not there.
  }
  return 1;
}
