// Small answers that several commands need: an exploration's options, exit codes, values as text;
// see judge.hpp.
#include "cli/judge.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace assay::cli {

explore::Options explore_options(const cases::Prepared& prepared, const Session& session) {
  explore::Options out;
  out.seed = prepared.options.seed.value_or(1);
  out.tear_vectors = prepared.options.vector_atomicity.value_or("access") == "element";
  if (prepared.options.schedule && *prepared.options.schedule != "all")
    out.policies = {*prepared.options.schedule}, out.directed = false; // that one alone
  if (prepared.options.budget && prepared.options.budget->steps)
    out.step_budget = prepared.options.budget->steps;
  if (prepared.options.budget) out.seconds = prepared.options.budget->seconds;
  out.detect = prepared.options.check.value_or("all") == "all";
  out.threads = session.threads;
  out.level = session.level;
  return out;
}

int exit_code(const report::Verdict& verdict) {
  return report::passes(verdict) ? kPass : verdict.verdict == "fail" ? kFail : kUnknown;
}

std::string value_text(const std::optional<inputs::DType>& type, const uint8_t* bytes,
                       size_t available) {
  size_t size = type ? inputs::bytes(*type) : std::min<size_t>(available, 4);
  if (size == 0 || size > available) return "";
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, size);
  std::string pattern = fmt::format("0x{:0{}x}", bits, 2 * size);
  if (!type || inputs::format(*type).kind == 'b') return pattern;
  std::string value = inputs::print_value(*type, bits);
  return value.starts_with("0x") ? pattern : fmt::format("{} ({})", value, pattern);
}

} // namespace assay::cli
