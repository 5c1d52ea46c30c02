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

constexpr const char* kBaselineSchema = "assay/baseline/2";

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

// "a.cu:4 b.cu:9": which occurrence of a text it is, in one state of the sources.
std::string lines_of(const report::Finding& finding) {
  std::set<std::string> lines;
  for (const report::Location& at : finding.locations)
    lines.insert(fmt::format("{}:{}", at.file, at.line));
  std::string out;
  for (const std::string& line : lines) out += line + " ";
  return out;
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
  const nlohmann::json judged = root.value("cases", nlohmann::json());
  if (!judged.is_array()) return wrong("it has no cases");
  for (const nlohmann::json& one : judged)
    if (one.is_string()) judged_before_.insert(one.get<std::string>());
  for (const nlohmann::json& one : list) {
    if (!one.is_object() || text_of(one, "fingerprint").empty())
      return wrong("a finding has no fingerprint");
    Known known;
    known.kind = text_of(one, "kind");
    known.subject = text_of(one, "case");
    known.message = text_of(one, "message");
    auto count = one.find("count");
    if (count == one.end() || !count->is_number_unsigned()) return wrong("a finding has no count");
    known.count = count->get<uint64_t>();
    judged_before_.insert(known.subject);
    baseline_[text_of(one, "fingerprint")][known.subject] = known;
  }
  return {};
}

std::string Acceptance::rule_for(const report::Finding& finding, const std::string& kernel) {
  std::string out;
  for (size_t i = 0; i < rules_.size(); ++i) {
    if (!matches(rules_[i], finding, kernel)) continue;
    ++used_[i];
    if (out.empty())
      out = fmt::format("{} ({}:{})", rules_[i].reason, rules_[i].span.file, rules_[i].span.line);
  }
  return out;
}

uint64_t Acceptance::allowed(const std::string& fingerprint, const std::string& subject) const {
  auto at = baseline_.find(fingerprint);
  if (at == baseline_.end()) return 0;
  auto own = at->second.find(subject);
  if (own != at->second.end()) return own->second.count;
  if (judged_before_.count(subject)) return 0;
  uint64_t most = 0;
  for (const auto& [other, known] : at->second) most = std::max(most, known.count);
  return most;
}

void Acceptance::apply(report::Verdict& verdict) {
  const bool wanted =
      !rules_.empty() || !session_.baseline.empty() || !session_.write_baseline.empty();
  if (!wanted) return;
  std::lock_guard lock(mutex_);
  report::Sources sources;
  bool fails = false, accepted = false;
  // The lines at which each fingerprint occurs. One line that a compiler copied is one occurrence.
  std::map<std::string, std::set<std::string>> all, counted;
  for (report::Finding& finding : verdict.findings) {
    finding.fingerprint = report::fingerprint(finding, sources);
    const std::string& fingerprint = finding.fingerprint;
    const std::string lines = lines_of(finding);
    finding.suppressed = rule_for(finding, verdict.kernel);
    if (finding.suppressed.empty()) all[fingerprint].insert(lines);
    const uint64_t known = allowed(fingerprint, verdict.subject);
    if (finding.suppressed.empty()) {
      std::set<std::string>& met = counted[fingerprint];
      if (met.count(lines) || met.size() < known) {
        met.insert(lines);
        if (known) finding.suppressed = "known from the baseline " + session_.baseline;
      } else if (known) {
        finding.details.push_back(fmt::format("beyond the baseline {}, which has {} of this text",
                                              session_.baseline,
                                              known == 1 ? "one" : std::to_string(known)));
      }
    }
    const bool error = finding.severity == report::Severity::error;
    accepted |= error && !finding.suppressed.empty();
    fails |= error && finding.suppressed.empty();
    // A new baseline takes over what the old one knew, and leaves to suppressions what is theirs.
    if (all[fingerprint].empty()) continue;
    Known entry{finding.kind, finding.space, verdict.subject, finding.message, {}, {}, 0};
    for (const report::Location& at : finding.locations) {
      entry.functions.push_back(at.function);
      entry.lines.push_back(sources.code(at));
    }
    entry.count = all[fingerprint].size();
    found_[fingerprint][verdict.subject] = std::move(entry);
  }
  for (const auto& [fingerprint, lines] : all) seen_[fingerprint][verdict.subject] = lines.size();
  judged_.insert(verdict.subject);
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
  for (const auto& [fingerprint, cases] : baseline_)
    for (const auto& [subject, known] : cases) {
      auto at = seen_.find(fingerprint);
      const bool gone = at == seen_.end() || !at->second.count(subject);
      const uint64_t left = gone ? 0 : at->second.at(subject);
      if (left >= known.count || !settled_.count(subject)) continue;
      out.push_back(fmt::format(
          "fixed since the baseline: {} in {}: {}{}", known.kind, subject, known.message,
          left ? fmt::format(" (of {} with this text, {} left)", known.count, left) : ""));
    }
  return out;
}

Result<void> Acceptance::write(std::vector<std::string>& remarks) const {
  if (session_.write_baseline.empty()) return {};
  if (judged_.empty()) { // an empty one would say that all had been sound
    remarks.push_back(fmt::format("nothing could be judged: no baseline is written to {}",
                                  session_.write_baseline));
    return {};
  }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  uint64_t total = 0;
  for (const auto& [fingerprint, cases] : found_)
    for (const auto& [subject, known] : cases) {
      total += known.count;
      list.push_back({{"fingerprint", fingerprint},
                      {"kind", known.kind},
                      {"space", known.space},
                      {"case", subject},
                      {"count", known.count},
                      {"functions", known.functions},
                      {"lines", known.lines},
                      {"message", known.message}});
    }
  nlohmann::ordered_json out = {
      {"schema", kBaselineSchema}, {"cases", judged_}, {"findings", list}};
  std::string text =
      out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  if (Result<void> done = write_file(session_.write_baseline, text); !done) return done;
  remarks.push_back(fmt::format("baseline of {} finding{} written to {}", total,
                                total == 1 ? "" : "s", session_.write_baseline));
  return {};
}

} // namespace assay::cli
