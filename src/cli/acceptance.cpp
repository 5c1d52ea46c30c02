// Suppressions and baselines at work; see acceptance.hpp.
#include "cli/acceptance.hpp"

#include "base/file.hpp"
#include "report/fingerprint.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::cli {
namespace {

constexpr const char* kBaselineSchema = "assay/baseline/1";

// Is `end` the path or its last components?
bool ends_in(const std::string& path, const std::string& end) {
  if (!path.ends_with(end)) return false;
  return path.size() == end.size() || end.starts_with("/") ||
         path[path.size() - end.size() - 1] == '/';
}

bool matches(const cases::Suppression& rule, const report::Finding& finding,
             const std::string& kernel) {
  if (rule.kind != finding.kind) return false;
  if (!rule.space.empty() && rule.space != finding.space) return false;
  if (!rule.fingerprint.empty() && rule.fingerprint != finding.fingerprint) return false;
  bool function = rule.function.empty() || cases::fits(rule.function, kernel);
  bool place = rule.file.empty();
  for (const report::Location& at : finding.locations) {
    function |= cases::fits(rule.function, at.function);
    place |= ends_in(at.file, rule.file) && (!rule.line || rule.line == at.line);
  }
  return function && place;
}

} // namespace

Result<std::unique_ptr<Acceptance>> Acceptance::load(const Session& session) {
  std::unique_ptr<Acceptance> out(new Acceptance(session));
  for (const std::string& file : session.suppress) {
    Result<std::vector<cases::Suppression>> rules = cases::read_suppressions(file);
    if (!rules) return rules.error();
    out->rules_.insert(out->rules_.end(), rules->begin(), rules->end());
  }
  out->used_.resize(out->rules_.size());
  if (!session.baseline.empty())
    if (Result<void> read = out->read_baseline(); !read) return read.error();
  return out;
}

Result<void> Acceptance::read_baseline() {
  Result<std::string> text = read_file(session_.baseline);
  if (!text) return text.error();
  auto wrong = [&](const char* what) {
    return usage_error(fmt::format("'{}' is no baseline: {} (--write-baseline makes one)",
                                   session_.baseline, what));
  };
  nlohmann::json root = nlohmann::json::parse(*text, nullptr, false);
  if (root.is_discarded() || !root.is_object()) return wrong("it is not JSON");
  if (root.value("schema", nlohmann::json()) != kBaselineSchema)
    return wrong("its schema is another");
  const nlohmann::json list = root.value("findings", nlohmann::json());
  if (!list.is_array()) return wrong("it has no findings");
  auto text_of = [](const nlohmann::json& one, const char* key) {
    auto at = one.find(key);
    return at != one.end() && at->is_string() ? at->get<std::string>() : std::string();
  };
  for (const nlohmann::json& one : list) {
    if (!one.is_object() || text_of(one, "fingerprint").empty())
      return wrong("a finding has no fingerprint");
    Known known;
    known.kind = text_of(one, "kind");
    known.subject = text_of(one, "case");
    known.message = text_of(one, "message");
    baseline_[text_of(one, "fingerprint")] = known;
  }
  return {};
}

std::string Acceptance::reason(const report::Finding& finding, const std::string& kernel) {
  std::string out;
  for (size_t i = 0; i < rules_.size(); ++i) {
    if (!matches(rules_[i], finding, kernel)) continue;
    ++used_[i];
    if (out.empty())
      out = fmt::format("{} ({}:{})", rules_[i].reason, rules_[i].span.file, rules_[i].span.line);
  }
  if (out.empty() && baseline_.count(finding.fingerprint))
    out = fmt::format("known from the baseline {}", session_.baseline);
  return out;
}

void Acceptance::apply(report::Verdict& verdict) {
  const bool wanted =
      !rules_.empty() || !session_.baseline.empty() || !session_.write_baseline.empty();
  if (!wanted) return;
  std::lock_guard lock(mutex_);
  report::Sources sources;
  bool fails = false, accepted = false;
  for (report::Finding& finding : verdict.findings) {
    finding.fingerprint = report::fingerprint(finding, sources);
    seen_.insert(finding.fingerprint);
    finding.suppressed = reason(finding, verdict.kernel);
    const bool error = finding.severity == report::Severity::error;
    accepted |= error && !finding.suppressed.empty();
    fails |= error && finding.suppressed.empty();
    // A new baseline takes over what the old one knew, and leaves to suppressions what is theirs.
    if (!finding.suppressed.empty() && !baseline_.count(finding.fingerprint)) continue;
    Known known{finding.kind, finding.space, verdict.subject, finding.message, {}, {}};
    for (const report::Location& at : finding.locations) {
      known.functions.push_back(at.function);
      known.lines.push_back(sources.code(at));
    }
    found_[finding.fingerprint] = std::move(known);
  }
  if (verdict.verdict != "unknown") settled_.insert(verdict.subject);
  if (verdict.verdict == "fail" && accepted && !fails)
    verdict.verdict = verdict.reason.empty() ? report::kPassSuppressed : "unknown";
}

std::vector<std::string> Acceptance::remarks() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (size_t i = 0; i < rules_.size(); ++i)
    if (!used_[i])
      out.push_back(fmt::format("unused suppression: {}:{}: no {} was found that it fits",
                                rules_[i].span.file, rules_[i].span.line, rules_[i].kind));
  for (const auto& [fingerprint, known] : baseline_)
    if (!seen_.count(fingerprint) && settled_.count(known.subject))
      out.push_back(fmt::format("fixed since the baseline: {} in {}: {}", known.kind, known.subject,
                                known.message));
  return out;
}

Result<void> Acceptance::write(std::vector<std::string>& remarks) const {
  if (session_.write_baseline.empty()) return {};
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [fingerprint, known] : found_)
    list.push_back({{"fingerprint", fingerprint},
                    {"kind", known.kind},
                    {"space", known.space},
                    {"case", known.subject},
                    {"functions", known.functions},
                    {"lines", known.lines},
                    {"message", known.message}});
  nlohmann::ordered_json out = {{"schema", kBaselineSchema}, {"findings", list}};
  std::string text =
      out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  if (Result<void> done = write_file(session_.write_baseline, text); !done) return done;
  remarks.push_back(fmt::format("baseline of {} finding{} written to {}", found_.size(),
                                found_.size() == 1 ? "" : "s", session_.write_baseline));
  return {};
}

} // namespace assay::cli
