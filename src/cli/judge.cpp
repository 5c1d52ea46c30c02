// Verdicts from explorations; see judge.hpp.
#include "cli/judge.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/places.hpp"
#include "report/kinds.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace assay::cli {
namespace {

enum class Line : uint8_t { nondeterministic, race, value_race }; // the least that fails

Line fail_line(const Judgement& judgement) {
  std::string fallback = judgement.command == Command::check ? "race" : "nondeterministic";
  std::string line = judgement.prepared.options.fail_on.value_or(fallback);
  return line == "value-race" ? Line::value_race
         : line == "race"     ? Line::race
                              : Line::nondeterministic;
}

const char* space_name(race::Space space) {
  return space == race::Space::shared ? "shared" : space == race::Space::local ? "local" : "global";
}

// "shared memory", "global memory (x, byte 12)".
std::string memory_of(const report::Location& location, const std::string& space) {
  if (space == "global" && !location.buffer.empty())
    return fmt::format("global memory ({}, byte {})", location.buffer, location.offset);
  return fmt::format("{} memory (byte {})", space, location.offset);
}

const char* verb(const race::AccessInfo& info) {
  if (info.atomic) return "atomically updates";
  return info.write ? "writes" : "reads";
}

std::string access_text(const race::AccessInfo& info) {
  std::string how = info.nc                       ? " through the non-coherent path"
                    : info.strong && !info.atomic ? " (strong)"
                                                  : "";
  return fmt::format("{} {} byte{}{}", verb(info), info.bytes, info.bytes == 1 ? "" : "s", how);
}

// The places of a finding without their order: two findings at the same lines are the same.
std::vector<std::pair<std::string, uint32_t>>
lines_of(const std::vector<report::Location>& locations) {
  std::vector<std::pair<std::string, uint32_t>> lines;
  for (const report::Location& location : locations)
    lines.emplace_back(location.file, location.line);
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return lines;
}

class Judge {
public:
  Judge(const Judgement& judgement, const explore::Report& explored)
      : judgement_(judgement), explored_(explored), line_(fail_line(judgement)) {}

  report::Verdict run() {
    verdict_.subject = judgement_.subject.name;
    verdict_.kernel = judgement_.subject.launches.front().kernel;
    verdict_.seed = judgement_.subject.seed;
    verdict_.coverage.schedules = explored_.schedules;
    verdict_.coverage.proved = explored_.proved && judgement_.command != Command::exec;
    verdict_.coverage.not_proved = explored_.not_proved;
    verdict_.coverage.not_reached = explored_.not_reached;
    verdict_.coverage.has_reference = judgement_.prepared.has_reference;
    for (const explore::Finding& found : explored_.findings) finding(found);
    for (const explore::Finding& found : explored_.notes) note(found);
    merge_findings();
    merge_notes();
    judge_outcome(judgement_, explored_, verdict_);
    answers();
    return std::move(verdict_);
  }

private:
  void answers() {
    bool errors =
        std::any_of(verdict_.findings.begin(), verdict_.findings.end(),
                    [](const report::Finding& f) { return f.severity == report::Severity::error; });
    bool decided = explored_.unknown.empty() && explored_.first.completed &&
                   judgement_.command != Command::exec;
    // Where the outcome follows what nothing defines, there is no one outcome to speak of.
    bool one = decided && !explored_.follows_open_values;
    if (!explored_.deterministic || one) verdict_.deterministic = explored_.deterministic;
    if (!explored_.race_free || decided) verdict_.race_free = explored_.race_free;
    if (errors)
      verdict_.verdict = "fail";
    else if (!explored_.unknown.empty())
      verdict_.verdict = "unknown";
    verdict_.reason = explored_.unknown;
  }

  // Findings of one kind, space and pair of lines are one finding; the one with most evidence
  // stays.
  void merge_findings() {
    std::vector<report::Finding> kept;
    std::vector<size_t> more;
    for (report::Finding& found : verdict_.findings) {
      auto same = [&](const report::Finding& other) {
        return other.kind == found.kind && other.space == found.space &&
               other.severity == found.severity && !found.locations.empty() &&
               lines_of(other.locations) == lines_of(found.locations);
      };
      auto earlier = std::find_if(kept.begin(), kept.end(), same);
      if (earlier == kept.end()) {
        kept.push_back(std::move(found));
        more.push_back(0);
        continue;
      }
      ++more[size_t(earlier - kept.begin())];
      if (earlier->differing.empty() && !found.differing.empty()) *earlier = std::move(found);
    }
    for (size_t i = 0; i < kept.size(); ++i)
      if (more[i])
        kept[i].details.push_back(fmt::format("{} more {} of operations on these lines", more[i],
                                              more[i] == 1 ? "pair" : "pairs"));
    drop_reads_that_race(kept);
    verdict_.findings = std::move(kept);
  }

  // A read that races with the write of its bytes can come first and find them unwritten: the race
  // is the defect.
  static void drop_reads_that_race(std::vector<report::Finding>& findings) {
    auto races = [&](const report::Finding& read) {
      if (read.kind != "uninitialised-read" || read.locations.empty()) return false;
      for (report::Finding& race : findings) {
        if (race.kind != "race" || race.space != read.space) continue;
        for (const report::Location& side : race.locations)
          if (side.file == read.locations[0].file && side.line == read.locations[0].line) {
            race.details.push_back("in one order the read finds memory that nobody has written");
            return true;
          }
      }
      return false;
    };
    std::vector<bool> drop;
    for (const report::Finding& finding : findings) drop.push_back(races(finding));
    size_t at = 0;
    std::erase_if(findings, [&](const report::Finding&) { return drop[at++]; });
  }

  void merge_notes() {
    std::vector<report::Note> kept;
    for (report::Note& note : verdict_.notes) {
      bool known = std::any_of(kept.begin(), kept.end(), [&](const report::Note& other) {
        return other.kind == note.kind && other.space == note.space && !note.locations.empty() &&
               lines_of(other.locations) == lines_of(note.locations);
      });
      if (!known) kept.push_back(std::move(note));
    }
    verdict_.notes = std::move(kept);
  }

  report::Severity severity(const explore::Finding& found) const {
    if (found.kind == "race-without-consequence")
      return line_ == Line::nondeterministic ? report::Severity::warning : report::Severity::error;
    return found.severity == explore::Severity::warning ? report::Severity::warning
                                                        : report::Severity::error;
  }

  void finding(const explore::Finding& found) {
    report::Finding out;
    out.kind = found.kind;
    out.severity = severity(found);
    for (const vgpu::Place& place : found.places)
      out.locations.push_back(place_of(judgement_.subject, place));
    out.space = found.is_conflict ? space_name(found.conflict.space) : space_of(found);
    out.missing_edge = found.missing_edge;
    out.message = found.is_conflict ? conflict(found, out) : event(found, out);
    differences(found, out);
    orders(found, out);
    out.help = help(found);
    replays(found, out);
    verdict_.findings.push_back(std::move(out));
  }

  static std::string space_of(const explore::Finding& found) {
    for (const vgpu::Place& place : found.places) {
      if (!place.has_address) continue;
      bool shared = place.region.starts_with("shared"), local = place.region.starts_with("local");
      return shared ? "shared" : local ? "local" : "global";
    }
    return "";
  }

  // One sentence that names both threads, both lines, the space and the missing edge.
  std::string conflict(const explore::Finding& found, report::Finding& out) const {
    const race::Conflict& c = found.conflict;
    if (out.locations.size() < 2) return found.message;
    report::Location &a = out.locations[0], &b = out.locations[1];
    a.operation = (a.thread ? "" : "an asynchronous copy ") + access_text(c.first.info);
    b.operation = (b.thread ? "" : "an asynchronous copy ") + access_text(c.second.info);
    std::string memory = memory_of(a, out.space);
    if (c.kind == race::Conflict::Kind::same_instruction)
      return fmt::format(
          "{} and {} write different values to the same byte of {} in one instruction at {}; which "
          "value stays is undefined",
          who(a), who(b), memory, where(a));
    std::string second = who(b);
    if (a.thread && b.thread && std::equal(a.thread->block, a.thread->block + 3, b.thread->block))
      second = second.substr(0, second.find(" of block")) + " of the same block";
    std::string text = fmt::format("{} {} {} at {} and {} {} it at {}", who(a), verb(c.first.info),
                                   memory, where(a), second, verb(c.second.info), where(b));
    if (found.missed)
      return text + ", but the read need not see what was written: missing is " + out.missing_edge;
    if (found.kind == "nondeterministic")
      return text + ", and the order of the two changes the result";
    text += ", and nothing orders the two";
    return out.missing_edge.empty() || out.missing_edge.starts_with("none exists")
               ? text
               : text + ": missing is " + out.missing_edge;
  }

  std::string event(const explore::Finding& found, const report::Finding& out) const {
    if (out.locations.empty()) return found.message;
    const report::Location& at = out.locations.front();
    if (found.kind == "nondeterministic" && out.locations.size() > 1) return found.message;
    std::string text = found.message.empty() ? at.operation : found.message;
    if (text.empty()) text = std::string(kind_title(found.kind));
    if (out.locations.size() > 1) return text;
    return at.thread ? fmt::format("{} at {}: {}", who(at), where(at), text)
                     : fmt::format("{}: {}", where(at), text);
  }

  static std::string_view kind_title(const std::string& kind) {
    const report::Kind* row = report::find_kind(kind);
    return row ? row->title : "";
  }

  void differences(const explore::Finding& found, report::Finding& out) const {
    for (const explore::Difference& d : found.differing) {
      const cases::BufferInfo* info = nullptr;
      for (const cases::BufferInfo& buffer : judgement_.subject.buffers)
        if (buffer.name == d.buffer) info = &buffer;
      std::optional<inputs::DType> type = info ? info->dtype : std::nullopt;
      size_t step = type ? inputs::bytes(*type) : 4, at = 0,
             size = std::min(d.a.size(), d.b.size());
      if (d.offset % step) type.reset(), step = 4;
      while (at + step < size && std::equal(d.a.begin() + long(at), d.a.begin() + long(at + step),
                                            d.b.begin() + long(at)))
        at += step;
      out.differing.push_back({d.buffer, d.offset + at,
                               value_text(type, d.a.data() + at, size - at),
                               value_text(type, d.b.data() + at, size - at)});
      bool open = found.kind == "unspecified-value" || found.kind == "uninitialised-read";
      out.details.push_back(fmt::format(
          "{} byte{} of {} differ{} between {}", d.count, d.count == 1 ? "" : "s", d.buffer,
          d.count == 1 ? "s" : "", open ? "two values of what was read" : "the two schedules"));
    }
  }

  // Where the bytes are, and what an edge between the two must cover.
  static std::string scope(const explore::Finding& found, const report::Finding& out) {
    const race::Conflict& c = found.conflict;
    bool same_block = c.first.agent.cta == c.second.agent.cta;
    bool same_warp = same_block && c.first.agent.warp == c.second.agent.warp;
    std::string place = fmt::format("{} memory, byte {}", out.space, out.locations[0].offset);
    if (out.space == "global") place += " of " + out.locations[0].buffer;
    return fmt::format("{}; {}", place,
                       same_warp    ? "both accesses come from one warp"
                       : same_block ? "both accesses come from one block"
                                    : "the accesses come from different blocks");
  }

  static void orders(const explore::Finding& found, report::Finding& out) {
    if (!found.is_conflict || out.locations.empty()) return;
    out.details.insert(out.details.begin(), scope(found, out));
    if (found.one_order_impossible)
      out.details.push_back("only this order could be run: while the first access was held back, "
                            "the second could not happen");
    else if (found.both_orders && found.differing.empty() && explore::loses_updates(found.conflict))
      out.details.push_back("both orders were run and left the same bytes, but nothing makes the "
                            "two atomic to each other: one update may be lost");
    else if (found.both_orders && found.differing.empty())
      out.details.push_back("both orders were run and left the same bytes");
    else if (!found.both_orders && found.differing.empty())
      out.details.push_back("only the observed order was run");
  }

  static std::string help(const explore::Finding& found) {
    bool edge = !found.missing_edge.empty() && !found.missing_edge.starts_with("none exists");
    if (edge && found.kind != "nondeterministic") return "add " + found.missing_edge;
    if (found.kind == "nondeterministic" && found.places.size() == 1)
      return "keep clocks and places on the machine out of the result";
    const report::Kind* row = report::find_kind(found.kind);
    return row ? std::string(row->fix) : "";
  }

  void replays(const explore::Finding& found, report::Finding& out) const {
    std::string* slots[] = {&out.replay, &out.replay_other};
    for (size_t i = 0; i < std::min<size_t>(found.traces.size(), 2); ++i)
      *slots[i] = replay_command(found.traces[i]);
  }

  // Writes the trace and gives the command that repeats it; nothing when it cannot be written.
  std::string replay_command(const schedule::Trace& trace) const {
    const Session& session = judgement_.session;
    if (session.trace_directory.empty()) return ""; // a mutant's traces would fit no kernel
    std::string text = trace.text();
    std::string path = session.trace_directory + "/" +
                       hash128(text.data(), text.size()).hex().substr(0, 16) + ".trace";
    if (!write_file(path, text)) return "";
    std::string out = fmt::format("{} replay {} {}", session.program, quote(path),
                                  quote(judgement_.prepared.path));
    // Of the launch options those that shape the job; the schedule is the trace's.
    static const std::vector<std::string> skipped = {
        "--out", "--want", "--show", "--schedule", "--budget", "--check", "--fail-on", "--seed"};
    const std::vector<std::string>& typed = session.typed;
    for (size_t i = 0; i < typed.size(); ++i) {
      std::string name = typed[i].substr(0, typed[i].find('='));
      if (std::find(skipped.begin(), skipped.end(), name) != skipped.end()) {
        if (name == typed[i]) ++i;
        continue;
      }
      out += " " + quote(typed[i]);
    }
    if (judgement_.subject.seed != 1) out += fmt::format(" --seed {}", judgement_.subject.seed);
    if (judgement_.variant)
      for (const auto& [name, value] : judgement_.prepared.file->variants[judgement_.variant - 1])
        out += fmt::format(" --set {}={}", name, value);
    return out;
  }

  void note(const explore::Finding& found) {
    if (found.kind == "input-modified") return; // judge_outcome decides
    report::Note out;
    out.kind = found.kind;
    out.space = found.is_conflict ? space_name(found.conflict.space) : space_of(found);
    report::Finding as_finding;
    as_finding.space = out.space;
    for (const vgpu::Place& place : found.places)
      as_finding.locations.push_back(place_of(judgement_.subject, place));
    out.message = found.message;
    if (found.is_conflict && as_finding.locations.size() == 2) {
      const report::Location &a = as_finding.locations[0], &b = as_finding.locations[1];
      conflict(found, as_finding);
      out.message = fmt::format("{} and {} {} at {} and {} without order; {}", who(a), who(b),
                                found.kind == "value-race"
                                    ? "store the same bits to one place in " + out.space + " memory"
                                    : "update one place in " + out.space + " memory",
                                where(a), where(b),
                                found.kind == "value-race" ? "the outcome cannot depend on it"
                                : !found.differing.empty() ? "the race found makes the difference"
                                : found.both_orders        ? "both orders left the same bytes"
                                                           : "no difference was seen");
    } else if (!as_finding.locations.empty()) {
      out.message = event(found, as_finding);
    }
    out.locations = std::move(as_finding.locations);
    bool allowed = judgement_.prepared.allow.count(found.kind) > 0;
    if (found.kind == "value-race" && line_ == Line::value_race && !allowed) {
      report::Finding error;
      error.kind = out.kind;
      error.message = out.message;
      error.locations = out.locations;
      error.space = out.space;
      replays(found, error);
      verdict_.findings.push_back(std::move(error));
      return;
    }
    verdict_.notes.push_back(std::move(out));
  }

  const Judgement& judgement_;
  const explore::Report& explored_;
  Line line_;
  report::Verdict verdict_;
};

cases::FindingKey key_of(const std::string& kind, const std::string& space,
                         const std::vector<report::Location>& locations, bool in_ptx) {
  cases::FindingKey key;
  key.kind = kind;
  key.space = space;
  for (const report::Location& location : locations)
    if (uint32_t line = in_ptx ? location.ptx_line : location.line) key.lines.push_back(line);
  std::sort(key.lines.begin(), key.lines.end());
  key.lines.erase(std::unique(key.lines.begin(), key.lines.end()), key.lines.end());
  return key;
}

} // namespace

report::Verdict judge(const Judgement& judgement, const explore::Report& explored) {
  return Judge(judgement, explored).run();
}

explore::Options explore_options(const cases::Prepared& prepared, const Session& session) {
  explore::Options out;
  out.seed = prepared.options.seed.value_or(1);
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

bool meets_expectation(const cases::Prepared& prepared, report::Verdict& verdict) {
  cases::Expectation expected = prepared.expectation;
  if (!expected.present) expected.verdict = "pass";
  cases::Observed seen;
  seen.verdict = verdict.verdict;
  seen.proved = verdict.coverage.proved;
  for (const report::Finding& finding : verdict.findings) {
    seen.findings.push_back(
        key_of(finding.kind, finding.space, finding.locations, expected.in_ptx));
    seen.findings.back().detail = finding.message;
  }
  for (const report::Note& note : verdict.notes)
    seen.notes.push_back(key_of(note.kind, note.space, note.locations, expected.in_ptx));
  verdict.expectation_differences = compare(expected, seen);
  if (verdict.verdict == "unknown" && !verdict.expectation_differences.empty())
    verdict.expectation_differences.push_back(verdict.reason);
  verdict.expectation = verdict.expectation_differences.empty() ? "met" : "unmet";
  return verdict.expectation_differences.empty();
}

int exit_code(const report::Verdict& verdict) {
  return verdict.verdict == "pass" ? kPass : verdict.verdict == "fail" ? kFail : kUnknown;
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
