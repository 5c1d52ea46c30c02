// Golden test of the output formats: a sample verdict for each kind, printed and compared with
// KIND.json and KIND.txt in the folder that the first argument names; a timeline in every form; a
// document of several cases in the formats that go to files. --update rewrites them.
#include "base/file.hpp"
#include "report/html.hpp"
#include "report/json.hpp"
#include "report/junit.hpp"
#include "report/kinds.hpp"
#include "report/sarif.hpp"
#include "report/svg.hpp"
#include "report/terminal.hpp"

#include <cstdio>
#include <fmt/format.h>

using namespace assay;
using namespace assay::report;

namespace {

Location place(uint32_t line, uint32_t thread, const char* operation, const std::string& folder) {
  Location at;
  at.file = "sample.cu";
  at.source = folder + "/sample.cu";
  at.line = line;
  at.column = 3;
  at.function = "shift";
  at.thread = Thread{{1, 0, 0}, {thread, 0, 0}};
  at.operation = operation;
  at.buffer = "shared";
  at.offset = 128;
  at.ptx_line = 40 + line;
  return at;
}

Verdict sample(const Kind& kind, const std::string& folder) {
  Verdict verdict;
  verdict.subject = "sample.toml";
  verdict.kernel = "shift";
  verdict.seed = 7;
  verdict.coverage.schedules = 12;
  verdict.coverage.not_proved = {"conflicting accesses were found"};
  if (kind.note) {
    Note note{std::string(kind.name),
              "a sentence about what was seen",
              {place(5, 3, "stores 4 bytes", folder)},
              "shared"};
    verdict.notes.push_back(note);
    verdict.deterministic = verdict.race_free = true;
    return verdict;
  }
  Finding finding;
  finding.kind = kind.name;
  finding.message =
      "a sentence that names both threads, both lines, the space and the missing edge";
  finding.locations = {place(5, 3, "writes 4 bytes", folder),
                       place(6, 35, "reads 4 bytes", folder)};
  finding.space = "shared";
  finding.help = kind.fix;
  finding.replay = "assay replay .assay/traces/0123456789abcdef.trace sample.toml";
  verdict.deterministic = verdict.race_free = true;
  if (kind.name == "race" || kind.name == "nondeterministic") {
    finding.missing_edge = "__syncthreads() (bar.sync) between the two accesses";
    finding.differing = {{"y", 512, "0.5 (0x3f000000)", "nan (0x7fc00000)"}};
    finding.details = {"4 bytes of y differ between the two schedules"};
    finding.replay_other = "assay replay .assay/traces/fedcba9876543210.trace sample.toml";
    verdict.deterministic = false;
    verdict.race_free = kind.name != "race";
  }
  if (kind.name == "race-without-consequence") {
    finding.severity = Severity::warning;
    finding.details = {"both orders were run and left the same bytes"};
    verdict.race_free = false;
  }
  verdict.verdict = finding.severity == Severity::error ? "fail" : "pass";
  verdict.findings.push_back(std::move(finding));
  return verdict;
}

Verdict unknown() {
  Verdict verdict;
  verdict.subject = "sample.toml";
  verdict.kernel = "shift";
  verdict.verdict = "unknown";
  verdict.reason = "unsupported wgmma.mma_async (sample.cu:5, PTX line 45)";
  verdict.coverage.schedules = 1;
  verdict.coverage.has_reference = true;
  return verdict;
}

Verdict proved() {
  Verdict verdict;
  verdict.subject = "sample.toml";
  verdict.kernel = "shift";
  verdict.deterministic = verdict.race_free = true;
  verdict.coverage.proved = true;
  verdict.coverage.schedules = 1;
  verdict.expectation = "met";
  return verdict;
}

TimelineStep step(uint32_t line, uint8_t sides, const char* what, const std::string& folder) {
  TimelineStep out;
  out.place = place(line, 0, "", folder);
  out.what = what;
  out.sides = sides;
  return out;
}

// A race with all that a timeline can hold.
Verdict with_timeline(const std::string& folder) {
  Verdict verdict = sample(*find_kind("race"), folder);
  Timeline& t = verdict.findings[0].timeline;
  t.lanes[0] = "thread (3,0,0) of block (1,0,0)";
  t.lanes[1] = "thread (35,0,0) of block (1,0,0)";
  t.missing = "__syncthreads()";
  t.scope = "block";
  t.both_orders = true;
  TimelineStep barrier = step(4, 3, "barrier", folder), first = step(5, 1, "writes", folder),
               fence = step(5, 1, "fence, block scope", folder),
               poll = step(6, 2, "volatile load", folder), second = step(6, 2, "reads", folder);
  barrier.barrier = true;
  first.access = 1;
  second.access = 2;
  fence.at_fault = true;
  fence.who = "(0,0,0)";
  poll.times = 3;
  poll.left_out = 2;
  t.steps = {barrier, first, fence, poll, second, barrier};
  t.steps.back().other_line = 9;
  return verdict;
}

TimelineStep end_of_lane(uint32_t line, uint8_t side, const char* what, const char* expected,
                         const std::string& folder) {
  TimelineStep out = step(line, side, what, folder);
  out.waits = true;
  out.expected = expected;
  return out;
}

// A deadlock of three kinds of threads: two lanes and, below, one.
Verdict with_stuck_threads(const std::string& folder) {
  Verdict verdict = sample(*find_kind("deadlock"), folder);
  Finding& finding = verdict.findings[0];
  Location again = finding.locations[1];
  again.thread = Thread{{2, 0, 0}, {35, 0, 0}};
  finding.locations.push_back(again);
  Timeline& t = finding.timeline;
  t.stuck = true;
  t.lanes[0] = "thread (3,0,0) of block (1,0,0)";
  t.lanes[1] = "thread (35,0,0) of block (1,0,0) ×2";
  TimelineStep barrier = step(4, 3, "barrier", folder),
               arrive = step(5, 1, "arrives in phase 0, mbarrier at byte 8", folder);
  barrier.barrier = true;
  arrive.left_out = 2;
  t.steps = {barrier, arrive,
             end_of_lane(5, 1,
                         "waits for phase 0 of the mbarrier at shared byte 8 (1 of 65 "
                         "arrivals are missing)",
                         "thread (35,0,0), which waits at line 6", folder),
             end_of_lane(6, 2, "waits at barrier 1 (32 of 64 threads have arrived)",
                         "thread (3,0,0), which waits at line 5", folder)};
  Timeline third;
  third.stuck = true;
  third.lanes[0] = "thread (0,0,0) of block (2,0,0)";
  third.steps = {step(4, 1, "volatile load", folder),
                 end_of_lane(6, 1, "polls 4 bytes that nobody changes any more (x byte 0)",
                             "a store by another thread; none of these has made one", folder)};
  finding.more_lanes = {third};
  return verdict;
}

Verdict suppressed(const std::string& folder) {
  Verdict verdict = sample(*find_kind("race"), folder);
  verdict.verdict = kPassSuppressed;
  verdict.findings[0].suppressed = "an estimate will do; issue 214 (suppress.toml:1)";
  verdict.findings[0].fingerprint = "0123456789abcdef";
  verdict.remarks = {"unused suppression: suppress.toml:7: no deadlock was found that it fits"};
  verdict.hints = {"grid, block, sizes and values are those of this command line"};
  return verdict;
}

Document document(const std::string& folder) {
  using S = Row::State;
  return {"check",
          "0.1.0",
          {{{"a.toml", S::passed, "pass"}, {proved()}},
           {{"b <&> \"b\".toml", S::failed, "fail: 1 error (race)"}, {with_timeline(folder)}},
           {{"d.toml", S::failed, "fail: 1 error (deadlock)"}, {with_stuck_threads(folder)}},
           {{"c.toml", S::passed, "pass-with-suppressions"}, {suppressed(folder)}},
           {{"d.toml", S::unknown, "unknown"}, {unknown()}},
           {{"e.cu", S::skipped, "no compiler"}, {}},
           {{"f.toml", S::broken, "f.toml:1: unknown key"}, {}}}};
}

class Golden {
public:
  Golden(std::string folder, bool update) : folder_(std::move(folder)), update_(update) {}

  void compare(const std::string& name, const std::string& text) {
    std::string path = folder_ + "/" + name;
    if (update_) {
      if (!write_file(path, text)) std::printf("cannot write %s\n", path.c_str());
      return;
    }
    Result<std::string> wanted = read_file(path);
    bool same = wanted && *wanted == text;
    ++(same ? passed_ : failed_);
    if (!same) std::printf("%s differs; now it would be:\n%s\n", path.c_str(), text.c_str());
  }
  int close() const {
    std::printf("%d passed, %d failed, 0 skipped\n", passed_, failed_);
    return failed_ ? 1 : 0;
  }

private:
  std::string folder_;
  bool update_;
  int passed_ = 0, failed_ = 0;
};

} // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::string folder = argv[1];
  Golden golden(folder, argc > 2 && std::string(argv[2]) == "--update");
  Style plain, painted;
  painted.color = painted.verbose = true;
  for (const Kind& kind : kinds()) {
    Verdict verdict = sample(kind, folder);
    golden.compare(fmt::format("{}.json", kind.name), print_json(verdict));
    golden.compare(fmt::format("{}.txt", kind.name), print_terminal(verdict, plain));
  }
  Sources sources;
  Style narrow = plain;
  narrow.width = 60;
  const Verdict timeline = with_timeline(folder);
  golden.compare("timeline.txt", print_terminal(timeline, plain));
  golden.compare("timeline-narrow.txt", print_terminal(timeline, narrow));
  golden.compare("timeline-colour.txt", print_terminal(timeline, painted));
  golden.compare("timeline.svg", print_svg(timeline.findings[0], sources));
  const Verdict stuck = with_stuck_threads(folder);
  golden.compare("stuck.txt", print_terminal(stuck, plain));
  golden.compare("stuck-narrow.txt", print_terminal(stuck, narrow));
  golden.compare("stuck-colour.txt", print_terminal(stuck, painted));
  golden.compare("stuck.svg", print_svg(stuck.findings[0], sources));
  golden.compare("suppressed.txt", print_terminal(suppressed(folder), plain));
  golden.compare("suppressed.json", print_json(suppressed(folder)));
  golden.compare("document.html", print_html(document(folder)));
  golden.compare("document.sarif", print_sarif(document(folder)));
  golden.compare("document.junit.xml", print_junit(document(folder)));
  golden.compare("colour.txt", print_terminal(sample(*find_kind("race"), folder), painted));
  golden.compare("unknown.json", print_json(unknown()));
  golden.compare("unknown.txt", print_terminal(unknown(), plain));
  golden.compare("proved.json", print_json(proved()));
  golden.compare("proved.txt", print_terminal(proved(), plain));
  std::vector<Row> rows = {{"a.toml", Row::State::passed, "pass"},
                           {"b.toml", Row::State::failed, "fail: 1 error (race)"},
                           {"c.toml", Row::State::unknown, "unknown"},
                           {"d.cu", Row::State::skipped, "no compiler"},
                           {"e.toml", Row::State::broken, "e.toml:1: unknown key"}};
  golden.compare("rows.json", print_json({proved()}, rows));
  std::string text;
  for (const Row& row : rows) text += print_row(row, plain);
  golden.compare("rows.txt", text + closing_line(rows));
  return golden.close();
}
