// SARIF; see sarif.hpp. Source: Static Analysis Results Interchange Format (SARIF) Version 2.1.0,
// OASIS Standard; section numbers below are its.
#include "report/sarif.hpp"

#include "report/fingerprint.hpp"
#include "report/kinds.hpp"
#include "report/timeline.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>

namespace assay::report {

namespace {

using Json = nlohmann::ordered_json;

Json message(const std::string& text) { return Json{{"text", text}}; }

// 3.10: a path as a URI reference: what RFC 3986 leaves out of paths, percent-encoded.
std::string uri(const std::string& path) {
  const std::string plain = "-._~/!$&'()*+,;=@";
  std::string out;
  for (char c : path)
    out += std::isalnum(uint8_t(c)) || plain.find(c) != std::string::npos
               ? std::string(1, c)
               : fmt::format("%{:02X}", uint8_t(c));
  return path.starts_with("/") ? "file://" + out : out;
}

Json rules() {
  Json out = Json::array();
  for (const Kind& kind : kinds()) {
    std::string help(kind.fix), markdown = std::string(kind.meaning) + "\n\n";
    if (!kind.example.empty()) markdown += fmt::format("```cuda\n{}\n```\n\n", kind.example);
    out.push_back({{"id", kind.name},
                   {"shortDescription", message(std::string(kind.title))},
                   {"fullDescription", message(std::string(kind.meaning))},
                   {"help", {{"text", help}, {"markdown", markdown + "**Usual fix.** " + help}}},
                   {"defaultConfiguration", {{"level", kind.note ? "note" : "error"}}}});
  }
  return out;
}

// A result of one of the rules; -1 (3.27.6) for what the table of kinds does not have.
int rule_index(const std::string& kind) {
  const std::vector<Kind>& all = kinds();
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].name == kind) return int(i);
  return -1;
}

Json location(const Location& at, const std::string& text, Sources& sources) {
  Json physical{{"artifactLocation", {{"uri", uri(at.file)}}}};
  if (at.line) {
    Json region{{"startLine", at.line}};
    if (at.column) region["startColumn"] = at.column;
    if (std::string line = sources.line(at); !line.empty()) region["snippet"] = message(line);
    physical["region"] = region;
  }
  Json out{{"physicalLocation", physical}};
  if (!at.function.empty())
    out["logicalLocations"] = Json::array({{{"name", at.function}, {"kind", "function"}}});
  if (!text.empty()) out["message"] = message(text);
  return out;
}

void flows_of(const Timeline& t, Sources& sources, Json& flows) {
  for (int side = 0; side < 2; ++side) {
    Json locations = Json::array();
    int order = 0;
    for (const TimelineStep& step : t.steps) {
      ++order;
      if (!(step.sides >> side & 1) || step.place.file.empty()) continue;
      std::string text = step_text(step, sources);
      if (step.waits) text += "; expected: " + step.expected;
      locations.push_back({{"location", location(step.place, text, sources)},
                           {"executionOrder", order},
                           {"importance", step.access || step.waits ? "essential" : "important"}});
    }
    if (!locations.empty()) flows.push_back({{"id", t.lanes[side]}, {"locations", locations}});
  }
}

// 3.36: one thread flow for each lane, in the order of the execution.
Json code_flows(const Finding& finding, Sources& sources) {
  const Timeline& t = finding.timeline;
  if (t.steps.empty()) return nullptr;
  Json flows = Json::array();
  flows_of(t, sources, flows);
  for (const Timeline& more : finding.more_lanes) flows_of(more, sources, flows);
  if (flows.empty()) return nullptr;
  Json flow{{"threadFlows", flows}};
  if (!t.missing.empty()) flow["message"] = message("missing: " + t.missing);
  return Json::array({flow});
}

Json places(const std::vector<Location>& locations, size_t from, size_t most, Sources& sources) {
  Json out = Json::array();
  for (size_t i = from; i < locations.size() && out.size() < most; ++i)
    if (!locations[i].file.empty()) {
      Json one = location(locations[i], describe(locations[i]), sources);
      if (from) one["id"] = i;
      out.push_back(one);
    }
  return out;
}

Json result(const Finding& finding, const Verdict& verdict, Sources& sources) {
  std::string text = finding.message;
  if (!finding.help.empty()) text += "\n" + finding.help;
  Json out{{"ruleId", finding.kind},
           {"ruleIndex", rule_index(finding.kind)},
           {"level", finding.severity == Severity::error ? "error" : "warning"},
           {"message", message(text)},
           {"locations", places(finding.locations, 0, 1, sources)}};
  if (Json related = places(finding.locations, 1, 16, sources); !related.empty())
    out["relatedLocations"] = related;
  if (Json flows = code_flows(finding, sources); !flows.is_null()) out["codeFlows"] = flows;
  out["partialFingerprints"] = {{"assayFinding/v1", fingerprint(finding, sources)}};
  if (!finding.suppressed.empty())
    out["suppressions"] =
        Json::array({{{"kind", "external"}, {"justification", finding.suppressed}}});
  Json properties{{"case", verdict.subject}};
  if (!finding.space.empty()) properties["space"] = finding.space;
  if (!finding.missing_edge.empty()) properties["missingEdge"] = finding.missing_edge;
  if (!finding.replay.empty()) properties["replay"] = finding.replay;
  out["properties"] = properties;
  return out;
}

Json result(const Note& note, const Verdict& verdict, Sources& sources) {
  return {{"ruleId", note.kind},
          {"ruleIndex", rule_index(note.kind)},
          {"level", "note"},
          {"message", message(note.message)},
          {"locations", places(note.locations, 0, 1, sources)},
          {"properties", {{"case", verdict.subject}}}};
}

} // namespace

std::string print_sarif(const Document& document) {
  Sources sources;
  Json results = Json::array(), notifications = Json::array();
  bool ran = true;
  auto notify = [&](const std::string& what, const std::string& text, bool broken) {
    notifications.push_back(
        {{"level", broken ? "error" : "warning"}, {"message", message(what + ": " + text)}});
    ran &= !broken;
  };
  for (const CaseResult& one : document.cases) {
    if (one.verdicts.empty())
      notify(one.row.subject, one.row.text, one.row.state == Row::State::broken);
    for (const Verdict& verdict : one.verdicts) {
      for (const Finding& f : verdict.findings) results.push_back(result(f, verdict, sources));
      for (const Note& note : verdict.notes) results.push_back(result(note, verdict, sources));
      // Unknown is no pass: whoever reads only results must not take silence for one.
      if (verdict.verdict == "unknown")
        notify(verdict.subject, "unknown: " + verdict.reason, false);
      for (const std::string& remark : verdict.remarks) notify(verdict.subject, remark, false);
    }
  }
  Json invocation{{"executionSuccessful", ran}};
  if (!notifications.empty()) invocation["toolExecutionNotifications"] = notifications;
  Json driver{{"name", "Assay"}, {"version", document.version}, {"rules", rules()}};
  Json out{{"$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
                       "sarif-schema-2.1.0.json"},
           {"version", "2.1.0"},
           {"runs", Json::array({{{"tool", {{"driver", driver}}},
                                  {"invocations", Json::array({invocation})},
                                  {"columnKind", "utf16CodeUnits"},
                                  {"results", results}}})}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace assay::report
