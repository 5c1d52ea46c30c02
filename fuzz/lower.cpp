// Fuzzes lowering: whatever parses is lowered or refused, and what lowering makes passes the
// verifier. Started from the project's own PTX (fuzz/run).
#include "ir/lower.hpp"
#include "mutate.hpp"
#include "ptx/module.hpp"
#include "require.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay;
  const std::string text(reinterpret_cast<const char*>(data), size);
  Result<ptx::Module> parsed = ptx::parse(text, "fuzz.ptx");
  if (!parsed) return 0;
  const auto module = std::make_shared<const ptx::Module>(std::move(*parsed));
  for (const ptx::Function& function : module->functions) {
    auto program = ir::lower(module, function.name);
    if (!program)
      require(!program.error().message.empty());
    else
      require(ir::verify(**program).ok());
  }
  return 0;
}
