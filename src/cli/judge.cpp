// Verdicts from explorations; see judge.hpp.
#include "cli/judge.hpp"

#include "cli/edge.hpp"
#include "cli/lanes.hpp"
#include "cli/places.hpp"
#include "cli/sentences.hpp"
#include "cli/stuck.hpp"
#include "cli/witness.hpp"

#include <algorithm>
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
      : judgement_(judgement), explored_(explored), line_(fail_line(judgement)),
        explored_options_(explore_options(judgement.prepared, judgement.session)) {}

  report::Verdict run() {
    verdict_.subject = judgement_.subject.name;
    verdict_.kernel = judgement_.subject.launches.front().kernel;
    verdict_.seed = judgement_.subject.seed;
    verdict_.coverage.schedules = explored_.schedules;
    verdict_.coverage.proved = explored_.proved && judgement_.command != Command::exec;
    verdict_.coverage.not_proved = explored_.not_proved;
    verdict_.coverage.not_reached = explored_.not_reached;
    verdict_.coverage.has_reference = judgement_.prepared.has_reference;
    // What the case allows, with its reason, is a note.
    const auto allowed = judgement_.prepared.allow.find("fp-atomic-order");
    const bool drop = explored_.fp_atomic_order && allowed != judgement_.prepared.allow.end();
    if (!drop)
      for (const explore::Finding& found : explored_.findings) drafts_.push_back(draft(found));
    for (const explore::Finding& found : explored_.notes) note(found);
    merge_findings();
    share_advice();
    for (Draft& kept : drafts_) verdict_.findings.push_back(complete(kept));
    drop_reads_that_race(verdict_.findings);
    merge_notes();
    judge_outcome(judgement_, explored_, verdict_);
    answers();
    hint();
    return std::move(verdict_);
  }

private:
  void answers() {
    bool errors =
        std::any_of(verdict_.findings.begin(), verdict_.findings.end(),
                    [](const report::Finding& f) { return f.severity == report::Severity::error; });
    bool decided = explored_.unknown.empty() && explored_.first.completed &&
                   judgement_.command != Command::exec;
    // Where the outcome follows what nothing defines, there is no one outcome to speak of. Behind a
    // race that no order settles anything may follow, whatever was seen
    // (bench/results/agreement.md).
    bool race = std::any_of(explored_.findings.begin(), explored_.findings.end(),
                            [](const explore::Finding& f) { return f.kind == "race"; });
    bool one = decided && !explored_.follows_open_values && !race;
    if (!explored_.deterministic || one) verdict_.deterministic = explored_.deterministic;
    if (!explored_.race_free || decided) verdict_.race_free = explored_.race_free;
    if (errors)
      verdict_.verdict = "fail";
    else if (!explored_.unknown.empty())
      verdict_.verdict = "unknown";
    verdict_.reason = explored_.unknown;
  }

  // What a command line says of a kernel is easily not what its host code does.
  void hint() {
    const cases::Prepared& prepared = judgement_.prepared;
    if (verdict_.verdict != "fail" || prepared.file || judgement_.session.typed.empty()) return;
    verdict_.hints.push_back(fmt::format(
        "grid, block, sizes and values are those of this command line; compare them with what the "
        "host code passes{}",
        prepared.path.ends_with(".cu")
            ? fmt::format(" ('{} case new {}' starts a case file that keeps them)",
                          judgement_.session.program, quote(prepared.path))
            : ""));
  }

  // A finding with its places, before it is known which of several alike is told.
  struct Draft {
    report::Finding out;
    const explore::Finding* from = nullptr;
    size_t more = 0;                              // others that it stands for
    race::Distance reach = race::Distance::warp;  // of all of them
    race::Distance advice = race::Distance::warp; // what the help should cover
  };

  // Bytes that differ say most; then, the farther apart the threads are, the more an edge between
  // them covers.
  static std::pair<bool, race::Distance> evidence(const Draft& draft) {
    const race::Conflict& c = draft.from->conflict;
    return {!draft.from->differing.empty(), draft.from->is_conflict
                                                ? race::distance(c.first.agent, c.second.agent)
                                                : race::Distance::warp};
  }

  // Findings of one kind, space and pair of lines are one finding; the one with most evidence
  // stays.
  void merge_findings() {
    std::vector<Draft> kept;
    for (Draft& found : drafts_) {
      auto same = [&](const Draft& other) {
        return other.out.kind == found.out.kind && other.out.space == found.out.space &&
               other.out.severity == found.out.severity && !found.out.locations.empty() &&
               lines_of(other.out.locations) == lines_of(found.out.locations);
      };
      auto earlier = std::find_if(kept.begin(), kept.end(), same);
      if (earlier == kept.end()) {
        kept.push_back(std::move(found));
        continue;
      }
      const size_t more = earlier->more + 1;
      const race::Distance reach = std::max(earlier->reach, found.reach);
      if (evidence(found) > evidence(*earlier)) *earlier = std::move(found);
      earlier->more = more;
      earlier->reach = reach;
    }
    drafts_ = std::move(kept);
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

  Draft draft(const explore::Finding& found) const {
    Draft out;
    out.from = &found;
    out.reach = found.reach;
    out.out.kind = found.kind;
    out.out.severity = severity(found);
    for (const vgpu::Place& place : found.places)
      out.out.locations.push_back(place_of(judgement_.subject, place));
    out.out.space = space_of(found);
    name_accesses(found, out.out);
    return out;
  }

  static void name_accesses(const explore::Finding& found, report::Finding& out) {
    if (!found.is_conflict || out.locations.size() < 2) return;
    out.locations[0].operation = operation_of(out.locations[0], found.conflict.first.info);
    out.locations[1].operation = operation_of(out.locations[1], found.conflict.second.info);
  }

  // Two races in one kernel that share a line want one barrier, and the one that needs more decides
  // which.
  void share_advice() {
    for (Draft& draft : drafts_) {
      draft.advice = draft.reach;
      for (const Draft& other : drafts_) {
        if (!draft.from->is_conflict || !other.from->is_conflict || other.reach <= draft.reach ||
            other.out.space != draft.out.space || other.reach == race::Distance::grid)
          continue;
        const auto mine = lines_of(draft.out.locations), theirs = lines_of(other.out.locations);
        if (std::find_first_of(mine.begin(), mine.end(), theirs.begin(), theirs.end()) !=
            mine.end())
          draft.advice = other.reach;
      }
    }
  }

  // Everything that is said of a finding that stays.
  report::Finding complete(Draft& draft) {
    const explore::Finding& found = *draft.from;
    report::Finding out = std::move(draft.out);
    // The replay that tells how it came about takes as long as a run; where no traces are wanted,
    // neither is that.
    explore::History history;
    if (found.is_conflict && !judgement_.session.trace_directory.empty() &&
        histories_ < kMostHistories) {
      ++histories_;
      history = explore::history(judgement_.subject.job, found, explored_options_);
    }
    const Edge edge = edge_of(judgement_.subject, found, draft.advice, history, out);
    out.missing_edge = edge.missing;
    out.timeline = timeline_of(judgement_.subject, found, history, edge);
    if (found.kind == "deadlock" || found.kind == "hang") wait_for_ever(found, out, edge.help);
    if (out.message.empty())
      out.message = found.is_conflict ? conflict_sentence(found, out) : event_sentence(found, out);
    if (found.is_conflict && !out.locations.empty())
      out.details.push_back(cover_sentence(found, out));
    if (found.is_conflict &&
        draft.reach > race::distance(found.conflict.first.agent, found.conflict.second.agent))
      out.details.push_back(draft.reach == race::Distance::grid
                                ? "threads of different blocks do the same at these lines"
                                : "threads of different warps do the same at these lines");
    differences(found, out);
    if (found.is_conflict && !out.locations.empty())
      if (std::string orders = orders_sentence(found); !orders.empty())
        out.details.push_back(orders);
    if (draft.more)
      out.details.push_back(fmt::format("{} more {} of operations on these lines", draft.more,
                                        draft.more == 1 ? "pair" : "pairs"));
    if (out.help.empty()) out.help = edge.help;
    replays(found, out);
    return out;
  }

  void wait_for_ever(const explore::Finding& found, report::Finding& out, const std::string& help) {
    const bool watch = !judgement_.session.trace_directory.empty() && histories_ < kMostHistories;
    histories_ += watch;
    Stuck stuck = stuck_of(judgement_.subject, found, out, explored_options_, watch);
    out.message = std::move(stuck.message);
    out.details.push_back(found.message);
    if (watch && found.kind == "hang") out.help = late_store(found, out);
    if (out.help.empty()) out.help = stuck.help;
    if (out.help.empty()) out.help = help;
    for (size_t k = 0; k < stuck.charts.size(); ++k)
      if (k)
        out.more_lanes.push_back(std::move(stuck.charts[k]));
      else
        out.timeline = std::move(stuck.charts[k]);
  }

  // What a hang is owed to, where its run was made for a store that another access overtakes.
  std::string late_store(const explore::Finding& found, report::Finding& out) const {
    const auto cause = explore::cause_of(judgement_.subject.job, found);
    if (!cause) return "";
    report::Finding pair;
    for (const vgpu::Place& place : cause->places)
      pair.locations.push_back(place_of(judgement_.subject, place));
    name_accesses(*cause, pair);
    const race::Conflict& c = cause->conflict;
    const Edge edge =
        edge_of(judgement_.subject, *cause, race::distance(c.first.agent, c.second.agent),
                explore::history(judgement_.subject.job, *cause, explored_options_), pair);
    const char* second = !c.second.info.write   ? "was not seen by the load"
                         : c.second.info.atomic ? "took effect after the update"
                                                : "took effect after the store";
    out.details.push_back(fmt::format(
        "this came about when the {} at {} by {} {} at {} by {}: missing is {}",
        c.first.info.atomic ? "update" : "store", where(pair.locations[0]), who(pair.locations[0]),
        second, where(pair.locations[1]), who(pair.locations[1]), edge.missing));
    return edge.help;
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

  void replays(const explore::Finding& found, report::Finding& out) const {
    std::string* slots[] = {&out.replay, &out.replay_other};
    for (size_t i = 0; i < std::min<size_t>(found.traces.size(), 2); ++i)
      *slots[i] = write_witness(judgement_, found.traces[i], found, out.locations);
  }

  void note(const explore::Finding& found) {
    if (found.kind == "input-modified") return; // judge_outcome decides
    report::Finding as_finding = draft(found).out;
    if (found.is_conflict && as_finding.locations.size() == 2)
      as_finding.message = note_sentence(found, as_finding);
    else
      as_finding.message =
          as_finding.locations.empty() ? found.message : event_sentence(found, as_finding);
    bool allowed = judgement_.prepared.allow.count(found.kind) > 0;
    if (found.kind == "value-race" && line_ == Line::value_race && !allowed) {
      as_finding.severity = report::Severity::error;
      drafts_.push_back({std::move(as_finding), &found, 0, found.reach, found.reach});
      return;
    }
    if (const auto reason = judgement_.prepared.allow.find(found.kind);
        reason != judgement_.prepared.allow.end())
      as_finding.message += fmt::format(" (allowed: {})", reason->second);
    verdict_.notes.push_back(
        {as_finding.kind, as_finding.message, std::move(as_finding.locations), as_finding.space});
  }

  static constexpr size_t kMostHistories = 16;

  const Judgement& judgement_;
  const explore::Report& explored_;
  Line line_;
  explore::Options explored_options_;
  std::vector<Draft> drafts_;
  size_t histories_ = 0;
  report::Verdict verdict_;
};

} // namespace

report::Verdict judge(const Judgement& judgement, const explore::Report& explored) {
  return Judge(judgement, explored).run();
}

} // namespace assay::cli
