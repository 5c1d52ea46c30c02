// Fuzzes case files: no TOML text crashes the reader or the expressions over shape symbols, and
// every refusal says something. Nothing is executed. Started from the project's own case files
// (fuzz/run).
#include "cases/case_file.hpp"
#include "require.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay::cases;
  const std::string text(reinterpret_cast<const char*>(data), size);
  assay::Result<CaseFile> file = parse_case_file(text, "fuzz.toml");
  if (!file) {
    require(!file.error().message.empty());
    return 0;
  }
  for (size_t variant = 0; variant <= file->variants.size(); ++variant) {
    const Symbols* chosen = variant ? &file->variants[variant - 1] : nullptr;
    assay::Result<Symbols> symbols = symbols_of(*file, chosen, {});
    if (!symbols) continue;
    auto groups = instantiate(*file, *symbols);
    require(groups.ok() || !groups.error().message.empty());
  }
  return 0;
}
