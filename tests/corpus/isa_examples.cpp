// isa_examples SAMPLES [SEED]: one line per sampled spelling of every row of isa.def:
// row number, the targets of ptxas that have it at PTX ISA 9.0, instruction. isa_oracle.py asks
// ptxas about them.
#include "base/random.hpp"
#include "ptx/generate.hpp"

#include <cstdlib>
#include <fmt/format.h>

using namespace assay;

namespace {

std::string targets_of(const ptx::IsaRow& row, const std::vector<std::string>& modifiers) {
  std::string result;
  for (const char* target : {"sm_90a", "sm_100a", "sm_120a", "sm_103a", "sm_110a", "sm_80", "sm_75",
                             "sm_86", "sm_89", "sm_90", "sm_100", "sm_100f", "sm_120", "sm_120f"})
    if (!ptx::availability(row, modifiers, 90, target).unmet)
      result += std::string(result.empty() ? "" : " ") + target;
  return result;
}

} // namespace

int main(int argc, char** argv) {
  const uint64_t samples = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 8;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  for (const ptx::IsaRow& row : ptx::isa_rows()) {
    const uint64_t variants = ptx::variant_count(row.modifiers);
    const uint64_t choices = ptx::operand_choices(row.operands);
    Random random(seed, ptx::isa_index(row));
    for (uint64_t i = 0; i < samples; ++i) {
      uint64_t modifiers = variants <= samples ? i : random.next() % variants;
      uint64_t operands = variants <= samples && choices == 1 ? 0 : random.next() % choices;
      if (variants <= samples && i >= variants && choices == 1) break;
      std::string targets = targets_of(row, ptx::variant(row.modifiers, modifiers % variants));
      if (!targets.empty())
        fmt::print("{}\t{}\t{}\n", ptx::isa_index(row), targets,
                   ptx::example(row, modifiers % variants, operands));
    }
  }
}
