// Printing verdicts as JSON; see json.hpp. Keys keep the order of the documentation.
#include "report/json.hpp"

#include <nlohmann/json.hpp>

namespace assay::report {
namespace {

using Json = nlohmann::ordered_json;

Json triple(const uint32_t (&v)[3]) { return Json::array({v[0], v[1], v[2]}); }

template <class T> Json optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const Location& location) {
  Json out;
  out["file"] = location.file;
  out["line"] = location.line;
  out["function"] = location.function;
  out["thread"] = nullptr;
  if (location.thread)
    out["thread"] = Json{{"block", triple(location.thread->block)},
                         {"thread", triple(location.thread->thread)}};
  if (!location.launch.empty()) out["launch"] = location.launch;
  out["operation"] = location.operation;
  out["address"] = nullptr;
  if (!location.buffer.empty())
    out["address"] = Json{{"buffer", location.buffer}, {"offset", location.offset}};
  out["ptx_line"] = location.ptx_line;
  return out;
}

Json to_json(const std::vector<Location>& locations) {
  Json out = Json::array();
  for (const Location& location : locations) out.push_back(to_json(location));
  return out;
}

Json to_json(const Finding& finding) {
  Json out;
  out["kind"] = finding.kind;
  out["severity"] = finding.severity == Severity::error ? "error" : "warning";
  out["message"] = finding.message;
  out["locations"] = to_json(finding.locations);
  out["space"] = finding.space;
  out["missing_edge"] = finding.missing_edge;
  out["differing"] = Json::array();
  for (const Differing& d : finding.differing)
    out["differing"].push_back(
        Json{{"buffer", d.buffer}, {"offset", d.offset}, {"a", d.a}, {"b", d.b}});
  out["replay"] = finding.replay;
  if (!finding.replay_other.empty()) out["replay_other"] = finding.replay_other;
  out["details"] = finding.details;
  out["help"] = finding.help;
  if (!finding.fingerprint.empty()) out["fingerprint"] = finding.fingerprint;
  if (!finding.suppressed.empty()) out["suppressed"] = finding.suppressed;
  return out;
}

Json to_json(const Coverage& coverage) {
  Json out;
  out["schedules"] = coverage.schedules;
  out["proved_for_this_input"] = coverage.proved;
  out["not_proved"] = coverage.not_proved;
  out["not_reached"] = coverage.not_reached;
  out["values_compared"] = coverage.values_compared;
  return out;
}

Json to_json(const Verdict& verdict) {
  Json out;
  out["schema"] = kSchema;
  out["case"] = verdict.subject;
  out["kernel"] = verdict.kernel;
  out["verdict"] = verdict.verdict;
  out["reason"] = verdict.reason;
  out["deterministic"] = optional(verdict.deterministic);
  out["race_free"] = optional(verdict.race_free);
  out["findings"] = Json::array();
  for (const Finding& finding : verdict.findings) out["findings"].push_back(to_json(finding));
  out["notes"] = Json::array();
  for (const Note& note : verdict.notes)
    out["notes"].push_back(Json{
        {"kind", note.kind}, {"message", note.message}, {"locations", to_json(note.locations)}});
  out["coverage"] = to_json(verdict.coverage);
  out["seed"] = verdict.seed;
  if (!verdict.remarks.empty()) out["remarks"] = verdict.remarks;
  if (verdict.expectation.empty()) return out;
  out["expectation"] = verdict.expectation;
  out["expectation_differences"] = verdict.expectation_differences;
  return out;
}

const char* name(Row::State state) {
  switch (state) {
  case Row::State::passed: return "passed";
  case Row::State::failed: return "failed";
  case Row::State::unknown: return "unknown";
  case Row::State::skipped: return "skipped";
  case Row::State::broken: return "broken";
  }
  return "";
}

std::string text(const Json& json) {
  // Bytes that are no UTF-8 (file names, messages of tools) become replacement characters.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

std::string print_json(const Verdict& verdict) { return text(to_json(verdict)); }

std::string print_json(const std::vector<Verdict>& verdicts, const std::vector<Row>& rows,
                       const std::vector<std::string>& remarks) {
  Json out;
  out["schema"] = kSchema;
  out["cases"] = Json::array();
  for (const Row& row : rows)
    out["cases"].push_back(
        Json{{"case", row.subject}, {"state", name(row.state)}, {"text", row.text}});
  out["verdicts"] = Json::array();
  for (const Verdict& verdict : verdicts) out["verdicts"].push_back(to_json(verdict));
  uint64_t counts[3] = {0, 0, 0};
  for (const Row& row : rows)
    ++counts[row.state == Row::State::passed ? 0 : row.state == Row::State::skipped ? 2 : 1];
  out["passed"] = counts[0];
  out["failed"] = counts[1];
  out["skipped"] = counts[2];
  if (!remarks.empty()) out["remarks"] = remarks;
  return text(out);
}

} // namespace assay::report
