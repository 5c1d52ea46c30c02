// isa_examples SAMPLES [SEED]: one line per sampled spelling of every row of isa.def:
// row number, the targets that have it at PTX ISA 9.0, the oldest of them with its versions, text.
// isa_oracle.py asks ptxas about them.
#include "base/random.hpp"
#include "ptx/generate.hpp"

#include <cstdlib>
#include <fmt/format.h>

using namespace assay;

namespace {

struct Target {
  const char* name;
  uint32_t version; // the first that knows it
};
// Suffixed ones first, so that the first one that has a form has most of its modifiers.
constexpr Target kTargets[] = {{"sm_90a", 80},  {"sm_100a", 86}, {"sm_120a", 87}, {"sm_103a", 88},
                               {"sm_110a", 90}, {"sm_75", 63},   {"sm_80", 70},   {"sm_86", 71},
                               {"sm_89", 78},   {"sm_90", 78},   {"sm_100", 86},  {"sm_100f", 88},
                               {"sm_103", 88},  {"sm_103f", 88}, {"sm_110", 90},  {"sm_110f", 90},
                               {"sm_120", 87},  {"sm_120f", 88}, {"sm_121a", 88}};
constexpr uint32_t kVersions[] = {63, 64, 65, 70, 71, 72, 73, 74, 75, 76, 77,
                                  78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90};

bool available(const ptx::IsaRow& row, const std::vector<std::string>& modifiers, uint32_t version,
               const char* target) {
  for (const ptx::IsaRow* other : ptx::isa_rows(row.opcode)) // rows overlap
    if ((other == &row ||
         (ptx::modifiers_match(other->modifiers, modifiers) && other->operands == row.operands)) &&
        !ptx::availability(*other, modifiers, version, target).unmet)
      return true;
  return false;
}

std::string targets_of(const ptx::IsaRow& row, const std::vector<std::string>& modifiers) {
  std::string result;
  for (const Target& target : kTargets)
    if (available(row, modifiers, 90, target.name))
      result += std::string(result.empty() ? "" : " ") + target.name;
  return result;
}

// The oldest target that has the form, and the versions that have it there.
std::string versions_of(const ptx::IsaRow& row, const std::vector<std::string>& modifiers) {
  const Target* oldest = nullptr;
  for (const Target& target : kTargets)
    if (available(row, modifiers, 90, target.name) && (!oldest || target.version < oldest->version))
      oldest = &target;
  if (!oldest) return "-";
  std::string result = oldest->name;
  for (uint32_t version : kVersions)
    if (version >= oldest->version && available(row, modifiers, version, oldest->name))
      result += fmt::format(" {}.{}", version / 10, version % 10);
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
      std::vector<std::string> words = ptx::variant(row.modifiers, modifiers % variants);
      fmt::print("{}\t{}\t{}\t{}\n", ptx::isa_index(row), targets_of(row, words),
                 versions_of(row, words), ptx::example(row, modifiers % variants, operands));
    }
  }
}
