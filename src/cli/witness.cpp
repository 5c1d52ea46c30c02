// Traces as witnesses; see witness.hpp.
#include "cli/witness.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/places.hpp"
#include "ir/source.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace assay::cli {
namespace {

std::string line_of(const std::vector<std::string>& lines, uint32_t number) {
  return number >= 1 && number <= lines.size() ? std::string(trim(lines[number - 1])) : "";
}

schedule::Trace::Site site_of(const cases::Case& subject, const vgpu::Place& place,
                              const report::Location& at) {
  schedule::Trace::Site out;
  out.operation = "-";
  out.cta = place.agent.cta;
  out.warp = place.agent.warp;
  out.lane = place.lane;
  out.line = at.line;
  out.ptx_line = at.ptx_line;
  out.file = at.file;
  const ir::Program& program = *subject.job.launches[place.launch].program;
  if (place.pc < program.sites.size()) out.instruction = ir::place(program, place.pc).instruction;
  Result<std::string> text = at.source.empty() ? usage_error("") : read_file(at.source);
  if (!text) return out;
  const std::vector<std::string> lines = split_lines(*text);
  out.text = line_of(lines, at.line);
  out.above = line_of(lines, at.line - 1);
  out.below = line_of(lines, at.line + 1);
  return out;
}

const char* operation_of(const race::Side& side) {
  if (side.agent.warp >= race::kCopyAgent) return "copy";
  return side.info.atomic ? "update" : side.info.write ? "write" : "read";
}

template <class Locations>
std::vector<std::pair<std::string, uint32_t>> lines_at(const Locations& list) {
  std::vector<std::pair<std::string, uint32_t>> lines;
  for (const auto& at : list) lines.emplace_back(at.file, at.line);
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return lines;
}

} // namespace

std::string job_words(const Judgement& judgement) {
  std::string out = quote(judgement.prepared.path);
  // Of the launch options those that shape the job; the schedule is the trace's.
  static const std::vector<std::string> skipped = {"--out",    "--want",  "--show",    "--schedule",
                                                   "--budget", "--check", "--fail-on", "--seed"};
  const std::vector<std::string>& typed = judgement.session.typed;
  for (size_t i = 0; i < typed.size(); ++i) {
    std::string name = typed[i].substr(0, typed[i].find('='));
    if (std::find(skipped.begin(), skipped.end(), name) != skipped.end()) {
      if (name == typed[i]) ++i;
      continue;
    }
    out += " " + quote(typed[i]);
  }
  if (judgement.subject.seed != 1) out += fmt::format(" --seed {}", judgement.subject.seed);
  if (judgement.variant)
    for (const auto& [name, value] : judgement.prepared.file->variants[judgement.variant - 1])
      out += fmt::format(" --set {}={}", name, value);
  return out;
}

std::string write_trace(const Session& session, const schedule::Trace& trace) {
  if (session.trace_directory.empty()) return ""; // a mutant's traces would fit no kernel
  std::string text = trace.text();
  std::string path = session.trace_directory + "/" +
                     hash128(text.data(), text.size()).hex().substr(0, 16) + ".trace";
  if (!write_file(path, text)) return "";
  return fmt::format("{} replay {} {}", session.program, quote(path), trace.command);
}

std::string write_witness(const Judgement& judgement, schedule::Trace trace,
                          const explore::Finding& found, const std::vector<report::Location>& at) {
  trace.finding = found.kind;
  trace.command = job_words(judgement);
  for (size_t i = 0; i < std::min(found.places.size(), at.size()); ++i) {
    trace.sites.push_back(site_of(judgement.subject, found.places[i], at[i]));
    if (found.is_conflict && i < 2)
      trace.sites.back().operation = operation_of(i ? found.conflict.second : found.conflict.first);
  }
  return write_trace(judgement.session, trace);
}

std::string Goal::text() const {
  std::vector<std::string> places;
  for (const auto& [file, line] : lines)
    places.push_back(fmt::format("{}:{}", std::filesystem::path(file).filename().string(), line));
  return places.empty() ? kind : fmt::format("{} at {}", kind, join(places, " and "));
}

Goal goal_of(const schedule::Trace& trace) { return {trace.finding, lines_at(trace.sites)}; }

const explore::Finding* find_goal(const Goal& goal, const Judgement& judgement,
                                  const explore::Report& explored) {
  for (const explore::Finding& found : explored.findings) {
    if (found.kind != goal.kind) continue;
    std::vector<report::Location> at;
    for (const vgpu::Place& place : found.places) at.push_back(place_of(judgement.subject, place));
    if (lines_at(at) == goal.lines) return &found;
  }
  return nullptr;
}

Result<Target> target_of(const std::string& command) {
  Result<std::vector<cases::Token>> tokens = cases::tokenize(command, {});
  if (!tokens) return tokens.error();
  Target out;
  std::vector<cases::Token> rest;
  Result<cases::Options> options = cases::parse_options(*tokens, "", &rest);
  if (!options) return options.error();
  if (rest.size() != 1) return usage_error("the trace does not say what it was made of: name it");
  out.path = rest[0].text;
  out.options = std::move(*options);
  bool first = true; // the target stands in front
  for (const cases::Token& token : *tokens) {
    if (!first) out.typed.push_back(token.text);
    first = false;
  }
  return out;
}

} // namespace assay::cli
