// Fuzzes the PTX parser and printer: no input crashes them, and what parses comes back the same
// from its printed form. Started from the project's own PTX (fuzz/run).
#include "ptx/module.hpp"
#include "require.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay::ptx;
  const std::string text(reinterpret_cast<const char*>(data), size);
  assay::Result<Module> module = parse(text, "fuzz.ptx");
  if (!module) {
    require(!module.error().message.empty());
    return 0;
  }
  const std::string printed = print(*module);
  assay::Result<Module> again = parse(printed, "fuzz.ptx");
  require(again.ok());
  require(print(*again) == printed);
  return 0;
}
