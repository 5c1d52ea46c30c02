// Shrinking jobs; see shrink.hpp. Greedy, one quantity after the other: of each the smallest of a
// fixed list of sizes with which the finding stays, and again until nothing changes. Each attempt
// is a whole exploration, so that what is accepted really has the finding.
#include "cli/shrink.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <set>

namespace assay::cli {
namespace {

// 1, 2, 3, 4, 6, 8, 12, 16, … below `most`.
std::vector<uint64_t> sizes_below(uint64_t most) {
  std::vector<uint64_t> out;
  for (uint64_t n = 1; n < most; n *= 2) {
    out.push_back(n);
    if (n >= 2 && n + n / 2 < most) out.push_back(n + n / 2);
  }
  std::sort(out.begin(), out.end());
  return out;
}

// The words for an option that stands once: replaced, or added.
void set_word(std::vector<std::string>& words, const std::string& name, const std::string& value,
              const std::string& prefix = "") {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with(fmt::format("{}={}", name, prefix))) {
      words[i] = fmt::format("{}={}", name, value);
      return;
    }
    if (words[i] == name && i + 1 < words.size() && words[i + 1].starts_with(prefix)) {
      words[i + 1] = value;
      return;
    }
  }
  words.push_back(name);
  words.push_back(value);
}

std::string extent_text(const cases::Extent3& e) {
  if (e.v[2] > 1) return fmt::format("{},{},{}", e.v[0], e.v[1], e.v[2]);
  if (e.v[1] > 1) return fmt::format("{},{}", e.v[0], e.v[1]);
  return fmt::format("{}", e.v[0]);
}

// Whole numbers in a SPEC that are sizes or scalars: "rand:f32[64,1000]", "zeros:u32[8]", "u32:64".
// Files, bytes and lists are left as they are.
bool has_sizes(const std::string& spec) {
  static const std::vector<std::string> kinds = {"rand:", "zeros:", "u32:", "s32:", "u64:", "s64:"};
  return std::any_of(kinds.begin(), kinds.end(),
                     [&](const std::string& kind) { return spec.starts_with(kind); });
}

// Calls `each` with every number behind the kind and type, and puts what it answers in its place.
std::string map_numbers(const std::string& spec, const std::function<uint64_t(uint64_t)>& each) {
  size_t from = spec.find(spec.find('[') == std::string::npos ? ':' : '[');
  if (!has_sizes(spec) || from == std::string::npos) return spec;
  std::string out = spec.substr(0, from + 1);
  size_t end = spec.find(']', from);
  for (size_t i = from + 1; i < spec.size();) {
    bool digit = spec[i] >= '0' && spec[i] <= '9';
    if (!digit || i > end || spec.compare(i, 2, "0x") == 0) {
      if (spec.compare(i, 2, "0x") == 0) return spec;
      out += spec[i++];
      continue;
    }
    size_t used = 0;
    uint64_t n = 0;
    while (i + used < spec.size() && spec[i + used] >= '0' && spec[i + used] <= '9' && used < 18)
      n = n * 10 + uint64_t(spec[i + used++] - '0');
    out += fmt::format("{}", each(n));
    i += used;
  }
  return out;
}

class Shrinker {
public:
  Shrinker(Job job, const Goal& goal, double deadline, std::vector<std::string>& changes)
      : job_(std::move(job)), goal_(goal), deadline_(deadline), changes_(changes) {}

  Job run() {
    Result<cases::Prepared> prepared = cases::prepare(job_.path, job_.options);
    if (!prepared) return job_;
    kinds_ = {goal_.kind};
    if (const std::optional<Shown> whole = shows(job_, goal_)) kinds_.merge(errors(*whole));
    if (prepared->file && job_.variant) take_variant(*prepared);
    for (int round = 0; round < 3; ++round) {
      changed_ = false;
      if (prepared->file)
        symbols(*prepared);
      else if (prepared->options.launches.size() == 1)
        numbers(*prepared);
      launches();
      if (!changed_) break;
    }
    return job_;
  }

private:
  static std::set<std::string> errors(const Shown& shown) {
    std::set<std::string> out;
    for (const explore::Finding& found : shown.explored.findings)
      if (found.severity == explore::Severity::error) out.insert(found.kind);
    return out;
  }

  bool out_of_time() const { return vgpu::monotonic_seconds() > deadline_; }

  // What fails in a further way of its own does not fail in the same way: an access past the end of
  // a buffer made smaller, say, which may even end the run before the goal's outcome. What
  // is said of outputs (unwritten-output) is left out: a smaller launch fills them less.
  bool accept(Job candidate) {
    if (out_of_time()) return false;
    const std::optional<Shown> shown = shows(candidate, goal_);
    if (!shown) return false;
    const std::set<std::string> kinds = errors(*shown);
    if (!std::includes(kinds_.begin(), kinds_.end(), kinds.begin(), kinds.end())) return false;
    job_ = std::move(candidate);
    return changed_ = true;
  }

  // The variant's symbols become --set, which stands for them and can be made smaller.
  void take_variant(const cases::Prepared& prepared) {
    for (const auto& [name, value] : prepared.file->variants[job_.variant - 1])
      set_symbol(job_, name, value);
    job_.variant = 0;
  }

  static void set_symbol(Job& job, const std::string& name, int64_t value) {
    job.options.set[name] = value;
    set_word(job.session.typed, "--set", fmt::format("{}={}", name, value), name + "=");
  }

  void symbols(const cases::Prepared& prepared) {
    Result<cases::Symbols> now = cases::symbols_of(*prepared.file, nullptr, job_.options.set);
    if (!now) return;
    for (const auto& [name, value] : *now) {
      if (value < 2) continue;
      for (uint64_t smaller : sizes_below(uint64_t(value))) {
        Job candidate = job_;
        set_symbol(candidate, name, int64_t(smaller));
        if (!accept(std::move(candidate))) continue;
        changes_.push_back(fmt::format("{}: {} -> {}", name, value, smaller));
        break;
      }
    }
  }

  // Equal numbers among a bare kernel's arguments mean the same thing as a rule, and become smaller
  // together.
  void numbers(const cases::Prepared& prepared) {
    std::vector<std::string> specs;
    const cases::LaunchGroup& own = job_.options.launches[0];
    const auto& list =
        own.arguments.empty() ? prepared.options.launches[0].arguments : own.arguments;
    std::set<uint64_t, std::greater<>> found;
    for (const cases::Argument& argument : list) {
      if (argument.text.empty() || argument.text.find(':') == std::string::npos ||
          argument.text.starts_with("in:") || argument.text.starts_with("inout:"))
        if (argument.text != "null") return; // a file's name may be relative to the kernel's folder
      specs.push_back(argument.text);
      map_numbers(argument.text, [&](uint64_t n) { return n > 1 ? found.insert(n), n : n; });
    }
    for (uint64_t n : found)
      for (uint64_t smaller : sizes_below(n)) {
        std::vector<std::string> changed = specs;
        for (std::string& spec : changed)
          spec = map_numbers(spec, [&](uint64_t m) { return m == n ? smaller : m; });
        Job candidate = job_;
        if (!set_arguments(candidate, changed) || !accept(std::move(candidate))) continue;
        changes_.push_back(fmt::format("{} among the arguments -> {}", n, smaller));
        specs = changed;
        break;
      }
  }

  static bool set_arguments(Job& job, const std::vector<std::string>& specs) {
    std::vector<cases::Argument> parsed;
    for (const std::string& spec : specs) {
      Result<cases::Argument> argument = cases::parse_spec(spec, "", {});
      if (!argument) return false;
      parsed.push_back(std::move(*argument));
    }
    job.options.launches[0].arguments = std::move(parsed);
    std::vector<std::string> words;
    for (size_t i = 0; i < job.session.typed.size(); ++i) {
      const std::string& word = job.session.typed[i];
      if (word.starts_with("--arg=")) continue;
      bool more = word == "--arg" || (!word.starts_with("-") && cases::looks_like_spec(word) &&
                                      i > 0 && !job.session.typed[i - 1].starts_with("--entry"));
      if (!more) words.push_back(word);
    }
    words.push_back("--arg");
    words.insert(words.end(), specs.begin(), specs.end());
    job.session.typed = std::move(words);
    return true;
  }

  // Grid, then block: one extent for all launches of the job.
  void launches() {
    if (job_.options.launches.size() != 1) return;
    for (const char* name : {"--grid", "--block"}) {
      std::optional<Shown> now = shows(job_, goal_);
      if (!now || now->subject.job.launches.size() != 1) return;
      const vgpu::LaunchSpec& launch = now->subject.job.launches[0];
      const bool grid = std::string(name) == "--grid";
      cases::Extent3 extent;
      std::copy_n(grid ? launch.grid : launch.block, 3, extent.v);
      for (int d = 2; d >= 0; --d) shrink_extent(name, grid, extent, d);
    }
  }

  void shrink_extent(const char* name, bool grid, cases::Extent3& extent, int d) {
    const uint32_t before = extent.v[d];
    for (uint64_t smaller : sizes_below(before)) {
      Job candidate = job_;
      cases::Extent3 other = extent;
      other.v[d] = uint32_t(smaller);
      cases::LaunchGroup& group = candidate.options.launches[0];
      (grid ? group.grid : group.block) = other;
      set_word(candidate.session.typed, name, extent_text(other));
      if (!accept(std::move(candidate))) continue;
      changes_.push_back(fmt::format("{}{}: {} -> {}", name + 2,
                                     d ? fmt::format(".{}", "xyz"[d]) : "", before, smaller));
      extent = other;
      return;
    }
  }

  Job job_;
  const Goal& goal_;
  double deadline_;
  std::vector<std::string>& changes_;
  std::set<std::string> kinds_; // of the errors that the whole job has
  bool changed_ = false;
};

} // namespace

std::optional<Shown> shows(const Job& job, const Goal& goal) {
  Result<cases::Prepared> prepared = cases::prepare(job.path, job.options);
  if (!prepared) return std::nullopt;
  Result<cases::Case> subject = cases::build(*prepared, job.variant);
  if (!subject) return std::nullopt; // an empty buffer, say
  explore::Report explored =
      explore::explore(subject->job, explore_options(*prepared, job.session));
  Judgement judgement{*prepared, *subject, job.variant, Command::check, job.session};
  const explore::Finding* found = find_goal(goal, judgement, explored);
  if (!found) return std::nullopt;
  explore::Finding copy = *found;
  return Shown{std::move(*prepared), std::move(*subject), std::move(explored), std::move(copy)};
}

Job shrink(Job job, const Goal& goal, double deadline, std::vector<std::string>& changes) {
  return Shrinker(std::move(job), goal, deadline, changes).run();
}

} // namespace assay::cli
