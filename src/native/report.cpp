// Reports as messages and as a table; see report.hpp.
#include "native/report.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace assay::native {
namespace {

std::string extent_field(const Extent3& e) {
  return std::to_string(e.x) + " " + std::to_string(e.y) + " " + std::to_string(e.z);
}

Extent3 extent_of(const std::string& text) {
  Extent3 e;
  if (std::sscanf(text.c_str(), "%u %u %u", &e.x, &e.y, &e.z) != 3) return {};
  return e;
}

Verdict verdict_of(const std::string& text) {
  return text == "pass" ? Verdict::pass : text == "fail" ? Verdict::fail : Verdict::unknown;
}

std::string shortened(const std::string& text, size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

std::string padded(std::string text, size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

} // namespace

Message to_message(const KernelReport& r) {
  Message m{"kernel", {}};
  m.add("process", r.process).add("number", r.number);
  m.add("symbol", r.launch.symbol).add("name", r.launch.name);
  m.add("grid", extent_field(r.launch.grid)).add("block", extent_field(r.launch.block));
  m.add("cluster", extent_field(r.launch.cluster)).add("shared", r.launch.shared_bytes);
  m.add("verdict", verdict_name(r.verdict)).add("kind", r.kind).add("reason", r.reason);
  m.add("plain", r.plain_runs).add("perturbed", r.perturbed_runs);
  m.add("differing", r.differing_bytes).add("snapshot", r.snapshot_bytes);
  m.add("changed", r.changed_bytes).add("accesses", r.accesses);
  m.add("place", r.place).add("ms", std::to_string(r.milliseconds));
  for (const std::string& pair : r.pairs) m.add("pair", pair);
  for (const std::string& note : r.notes) m.add("note", note);
  for (const auto& [name, value] : r.figures) m.add("figure." + name, value);
  return m;
}

KernelReport kernel_report(const Message& m) {
  KernelReport r;
  r.process = m.number("process");
  r.number = m.number("number");
  r.launch.symbol = m.get("symbol");
  r.launch.name = m.get("name");
  r.launch.grid = extent_of(m.get("grid"));
  r.launch.block = extent_of(m.get("block"));
  r.launch.cluster = extent_of(m.get("cluster"));
  r.launch.shared_bytes = uint32_t(m.number("shared"));
  r.verdict = verdict_of(m.get("verdict"));
  r.kind = m.get("kind");
  r.reason = m.get("reason");
  r.plain_runs = m.number("plain");
  r.perturbed_runs = m.number("perturbed");
  r.differing_bytes = m.number("differing");
  r.snapshot_bytes = m.number("snapshot");
  r.changed_bytes = m.number("changed");
  r.accesses = m.number("accesses");
  r.place = m.get("place");
  r.milliseconds = std::strtod(m.get("ms").c_str(), nullptr);
  r.pairs = m.all("pair");
  r.notes = m.all("note");
  for (const auto& [name, value] : m.fields)
    if (name.rfind("figure.", 0) == 0) r.figures.emplace_back(name.substr(7), value);
  return r;
}

std::string closing_line(const std::vector<KernelReport>& reports) {
  uint64_t counts[3] = {};
  for (const KernelReport& r : reports) ++counts[size_t(r.verdict)];
  return std::to_string(reports.size()) + (reports.size() == 1 ? " launch" : " launches") +
         " examined: " + std::to_string(counts[size_t(Verdict::pass)]) + " pass, " +
         std::to_string(counts[size_t(Verdict::fail)]) + " fail, " +
         std::to_string(counts[size_t(Verdict::unknown)]) + " unknown";
}

std::string table(const std::vector<KernelReport>& reports) {
  size_t width = 6;
  for (const KernelReport& r : reports)
    width = std::max(width, shortened(r.launch.name, 48).size());
  std::string out = padded("kernel", width) + "  " + padded("grid x block", 16) + "  " +
                    padded("verdict", 7) + "  " + padded("ms", 8) + "  why\n";
  for (const KernelReport& r : reports) {
    char time[32];
    std::snprintf(time, sizeof time, "%.1f", r.milliseconds);
    out += padded(shortened(r.launch.name, 48), width) + "  " +
           padded(text_of(r.launch.grid) + " x " + text_of(r.launch.block), 16) + "  " +
           padded(verdict_name(r.verdict), 7) + "  " + padded(time, 8) + "  " +
           (r.kind.empty() ? "" : r.kind + ": ") + r.reason + "\n";
    if (!r.place.empty()) out += "    first difference: " + r.place + "\n";
    for (const std::string& pair : r.pairs) out += "    conflict: " + pair + "\n";
    for (const std::string& note : r.notes) out += "    note: " + note + "\n";
  }
  return out;
}

int exit_code(const std::vector<KernelReport>& reports, const Exit& program) {
  bool unknown = reports.empty();
  for (const KernelReport& r : reports) {
    if (r.verdict == Verdict::fail) return 1;
    unknown = unknown || r.verdict == Verdict::unknown;
  }
  const int own = program.exited ? program.code : 128 + program.code;
  return own != 0 ? own : unknown ? 3 : 0;
}

} // namespace assay::native
