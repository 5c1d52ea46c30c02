// Traces as text, and replay: a trace is a policy that gives the recorded answers again.
//
// Form (version 6), one item a line, so that a trace can be read and compared:
//   assay-trace 6
//   program <digest>   launch <digest>   inputs <digest>   device <name>   semantics <version>
//   policy <name> <seed> budget <thread-instructions>
//   vary <poison> <open> <time> <launch> <operation>, unless all are as usual
//   finding <kind>, command <target and launch options>, then for each of its places:
//   site <operation> <cta> <warp> <lane> <line> <PTX line> <file>, followed by those that are known
//   of: source <text>, above <text>, below <text>, ptx <instruction>
//   arm <launch> <space> <address> <missed> then two sides, each <pc> <cta> <warp> <lane> <time>
//   choices <value>x<count> …
//   step <launch> <cta> <unit> <limit>[x<repeats>]
//   end <digest of the memory that the run left>
#include "schedule/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace assay::schedule {

namespace {

std::string run_lengths(const std::vector<uint32_t>& values) {
  std::string out;
  for (size_t i = 0; i < values.size();) {
    size_t j = i;
    while (j < values.size() && values[j] == values[i]) ++j;
    out += fmt::format(" {}x{}", values[i], j - i);
    i = j;
  }
  return out;
}

bool read_digest(std::istringstream& in, Digest& d) {
  std::string hex;
  if (!(in >> hex) || hex.size() != 32 ||
      hex.find_first_not_of("0123456789abcdef") != std::string::npos)
    return false;
  d.high = std::stoull(hex.substr(0, 16), nullptr, 16);
  d.low = std::stoull(hex.substr(16), nullptr, 16);
  return true;
}

bool read_counted(const std::string& word, uint64_t& value, uint64_t& count) {
  char* end = nullptr;
  value = std::strtoull(word.c_str(), &end, 10);
  if (end == word.c_str()) return false;
  count = 1;
  if (*end == 'x') {
    const char* from = end + 1;
    count = std::strtoull(from, &end, 10);
    if (end == from) return false;
  }
  return *end == 0 && count > 0 && count <= (uint64_t(1) << 28);
}

// A short line can stand for many items: more than a run within the largest budget makes are none.
constexpr size_t kMostItems = size_t(1) << 27;

// The lines that say what the trace is a witness of.
bool read_witness(const std::string& word, std::istringstream& in, Trace& t) {
  if (word == "site") {
    Trace::Site s;
    if (!(in >> s.operation >> s.cta >> s.warp >> s.lane >> s.line >> s.ptx_line)) return false;
    std::getline(in >> std::ws, s.file);
    t.sites.push_back(std::move(s));
    return true;
  }
  std::string* slot = word == "finding" ? &t.finding : word == "command" ? &t.command : nullptr;
  if (!slot && !t.sites.empty()) {
    Trace::Site& s = t.sites.back();
    slot = word == "source"  ? &s.text
           : word == "above" ? &s.above
           : word == "below" ? &s.below
           : word == "ptx"   ? &s.instruction
                             : nullptr;
  }
  if (!slot || !slot->empty()) return false;
  std::getline(in >> std::ws, *slot);
  return !slot->empty();
}

bool read_line(const std::string& line, Trace& t) {
  std::istringstream in(line);
  std::string word;
  in >> word;
  if (word == "program") {
    std::string k;
    return read_digest(in, t.program) && in >> k && k == "launch" && read_digest(in, t.launch) &&
           in >> k && k == "inputs" && read_digest(in, t.inputs) && in >> k >> t.device &&
           k == "device" && in >> k >> t.semantics && k == "semantics";
  }
  if (word == "policy")
    return in >> t.policy >> t.seed >> word >> t.budget && word == "budget" &&
           make_policy(t.policy, 0);
  if (word == "vary") {
    Trace::Vary& v = t.vary;
    return in >> v.poison >> v.open >> v.time >> v.launch >> v.pc && v.poison < 4 && v.open < 64 &&
           v.time < 4;
  }
  if (word == "arm") {
    Trace::Armed a;
    in >> a.launch >> a.space >> a.address >> a.missed;
    for (auto& s : a.sides) in >> s.pc >> s.cta >> s.warp >> s.lane >> s.time;
    t.arms.push_back(a);
    return bool(in);
  }
  uint64_t value, count;
  if (word == "choices") {
    while (in >> word) {
      if (!read_counted(word, value, count) || count > kMostItems - t.choices.size()) return false;
      t.choices.insert(t.choices.end(), count, uint32_t(value));
    }
    return true;
  }
  if (word == "step") {
    Trace::Step s{};
    if (!(in >> s.launch >> s.agent.cta >> s.agent.unit >> word) ||
        !read_counted(word, value, count) || count > kMostItems - t.steps.size())
      return false;
    s.limit = uint32_t(value);
    t.steps.insert(t.steps.end(), count, s);
    return true;
  }
  return read_witness(word, in, t);
}

class Replay : public Policy {
public:
  Replay(const Trace& trace, std::unique_ptr<Policy> traits)
      : trace_(trace), traits_(std::move(traits)) {}
  std::string name() const override { return trace_.policy; }
  void begin(const Launch& launch) override {
    if (launch.index == 0) step_ = choice_ = 0;
  }
  Decision pick(std::span<const AgentId> runnable, int) override {
    if (step_ >= trace_.steps.size()) return {uint32_t(runnable.size()), 0};
    const Trace::Step& s = trace_.steps[step_++];
    auto at = std::lower_bound(runnable.begin(), runnable.end(), s.agent);
    if (at == runnable.end() || *at != s.agent) return {uint32_t(runnable.size()), 0};
    return {uint32_t(at - runnable.begin()), s.limit};
  }
  // An edited trace may hold a number that is no answer here; its outcome will not be the recorded.
  uint32_t choose(Choice kind, uint32_t n) override {
    uint32_t answer = choice_ < trace_.choices.size() ? trace_.choices[choice_++] : 0;
    return answer < n || kind == Choice::lane_order ? answer : 0;
  }
  bool admit_all() const override { return traits_->admit_all(); }
  bool reconverge() const override { return traits_->reconverge(); }
  bool splits() const override { return traits_->splits(); }
  bool misses_writes() const override { return traits_->misses_writes(); }
  bool tears_vectors() const override { return traits_->tears_vectors(); }
  bool delays_fences() const override { return traits_->delays_fences(); }
  bool delays_writes() const override { return traits_->delays_writes(); }
  Copies copies() const override { return traits_->copies(); }

private:
  const Trace& trace_;
  std::unique_ptr<Policy> traits_;
  size_t step_ = 0, choice_ = 0;
};

} // namespace

namespace {
// On one line, whatever a source holds.
void put_text(std::string& out, const char* word, const std::string& text) {
  if (text.empty()) return;
  out += fmt::format("{} ", word);
  for (char c : text) out += uint8_t(c) < 32 ? ' ' : c;
  out += '\n';
}

void put_witness(const Trace& t, std::string& out) {
  put_text(out, "finding", t.finding);
  put_text(out, "command", t.command);
  for (const Trace::Site& s : t.sites) {
    put_text(out, "site",
             fmt::format("{} {} {} {} {} {} {}", s.operation, s.cta, s.warp, s.lane, s.line,
                         s.ptx_line, s.file));
    put_text(out, "source", s.text);
    put_text(out, "above", s.above);
    put_text(out, "below", s.below);
    put_text(out, "ptx", s.instruction);
  }
}
} // namespace

std::string Trace::text() const {
  std::string out =
      fmt::format("assay-trace {}\nprogram {} launch {} inputs {} device {} semantics {}\n",
                  kVersion, program.hex(), launch.hex(), inputs.hex(), device, semantics);
  out += fmt::format("policy {} {} budget {}\n", policy, seed, budget);
  if (vary != Vary{})
    out += fmt::format("vary {} {} {} {} {}\n", vary.poison, vary.open, vary.time, vary.launch,
                       vary.pc);
  put_witness(*this, out);
  for (const Armed& a : arms) {
    out += fmt::format("arm {} {} {} {}", a.launch, a.space, a.address, a.missed);
    for (const auto& s : a.sides)
      out += fmt::format(" {} {} {} {} {}", s.pc, s.cta, s.warp, s.lane, s.time);
    out += '\n';
  }
  if (!choices.empty()) out += "choices" + run_lengths(choices) + "\n";
  for (size_t i = 0; i < steps.size();) {
    size_t j = i;
    while (j < steps.size() && steps[j] == steps[i]) ++j;
    const Step& s = steps[i];
    out += fmt::format("step {} {} {} {}", s.launch, s.agent.cta, s.agent.unit, s.limit);
    out += j - i > 1 ? fmt::format("x{}\n", j - i) : "\n";
    i = j;
  }
  return out + fmt::format("end {}\n", outcome.hex());
}

namespace {
Error malformed(const std::string& line, Span at) {
  constexpr size_t kShown = 60;
  std::string start;
  for (char c : line.substr(0, kShown)) start += uint8_t(c) < 32 ? '?' : c;
  return usage_error(
      fmt::format("malformed trace line: {}{}", start, line.size() > kShown ? "…" : ""),
      std::move(at));
}
} // namespace

Result<Trace> parse_trace(const std::string& text, const std::string& file) {
  std::istringstream in(text);
  std::string line;
  uint32_t number = 1;
  std::getline(in, line);
  if (line.rfind("assay-trace ", 0) != 0) return usage_error("this is no trace file", {file, 1, 1});
  if (line != fmt::format("assay-trace {}", Trace::kVersion))
    return usage_error(fmt::format("this trace was written by another version of Assay ('{}'; this "
                                   "one reads version {}): run the check again",
                                   line.substr(0, 30), Trace::kVersion),
                       {file, 1, 1});
  Trace t;
  bool complete = false;
  while (std::getline(in, line)) {
    ++number;
    std::istringstream words(line);
    std::string word;
    if (complete || !(words >> word)) return malformed(line, {file, number, 1});
    if (word == "end")
      complete = read_digest(words, t.outcome) && !(words >> word);
    else if (!read_line(line, t))
      return malformed(line, {file, number, 1});
  }
  if (!complete || text.back() != '\n')
    return usage_error("this trace is cut short: its last line is missing", {file, number, 1});
  return t;
}

std::unique_ptr<Policy> make_replay(const Trace& trace) {
  std::unique_ptr<Policy> traits = make_policy(trace.policy, trace.seed);
  if (!traits) traits = make_policy("canonical", 0);
  return std::make_unique<Replay>(trace, std::move(traits));
}

namespace {
class Recorder : public Policy {
public:
  Recorder(Policy& inner, Trace& trace) : inner_(inner), trace_(trace) {}
  std::string name() const override { return inner_.name(); }
  void begin(const Launch& launch) override {
    if (launch.index == 0) trace_.steps.clear(), trace_.choices.clear();
    launch_ = launch.index;
    inner_.begin(launch);
  }
  Decision pick(std::span<const AgentId> runnable, int last) override {
    Decision d = inner_.pick(runnable, last);
    if (d.pick < runnable.size()) trace_.steps.push_back({launch_, runnable[d.pick], d.points});
    return d;
  }
  uint32_t choose(Choice kind, uint32_t n) override {
    uint32_t answer = inner_.choose(kind, n);
    trace_.choices.push_back(answer);
    return answer;
  }
  bool admit_all() const override { return inner_.admit_all(); }
  bool reconverge() const override { return inner_.reconverge(); }
  bool splits() const override { return inner_.splits(); }
  bool misses_writes() const override { return inner_.misses_writes(); }
  bool tears_vectors() const override { return inner_.tears_vectors(); }
  bool delays_fences() const override { return inner_.delays_fences(); }
  bool delays_writes() const override { return inner_.delays_writes(); }
  Copies copies() const override { return inner_.copies(); }

private:
  Policy& inner_;
  Trace& trace_;
  uint32_t launch_ = 0;
};
} // namespace

std::unique_ptr<Policy> make_recorder(Policy& inner, Trace& trace) {
  return std::make_unique<Recorder>(inner, trace);
}

} // namespace assay::schedule
