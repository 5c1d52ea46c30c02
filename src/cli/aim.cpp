// Finding a witness's accesses in another kernel; see aim.hpp.
#include "cli/aim.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/places.hpp"
#include "ir/source.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

namespace assay::cli {
namespace {

// A line without its comment, blanks and register numbers: what stays when code is only moved.
std::string essence(const std::string& line) {
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line.compare(i, 2, "//") == 0) break;
    if (line[i] == ' ' || line[i] == '\t') continue;
    out += line[i];
    if (line[i] != '%') continue;
    while (i + 1 < line.size() && std::isalpha(uint8_t(line[i + 1]))) out += line[++i];
    while (i + 1 < line.size() && std::isdigit(uint8_t(line[i + 1]))) ++i;
  }
  return out;
}

// Names and numbers whole, everything else one by one.
std::vector<std::string> tokens(const std::string& line) {
  auto in_word = [](char c) { return std::isalnum(uint8_t(c)) || c == '_'; };
  std::vector<std::string> out;
  for (size_t i = 0; i < line.size(); ++i)
    if (i && in_word(line[i]) && in_word(line[i - 1]))
      out.back() += line[i];
    else
      out.emplace_back(1, line[i]);
  return out;
}

// Is all that the shorter line says found again in the longer one, in the same order? So a line
// stays known to which a fence was added, or from which __ldg() was taken. Of its signs some may
// differ (+= becomes a comma in atomicAdd()), of its names none.
bool holds(const std::string& one, const std::string& other) {
  std::vector<std::string> a = tokens(one), b = tokens(other);
  if (a.size() > b.size()) a.swap(b);
  constexpr size_t kLeast = 4; // less than that is in any line
  if (a.size() < kLeast) return false;
  // The weight of the longest common subsequence: a name counts more than all signs.
  const size_t name = a.size() + 1;
  auto weight = [&](const std::string& t) {
    return std::isalnum(uint8_t(t[0])) || t[0] == '_' ? name : size_t(1);
  };
  std::vector<size_t> row(b.size() + 1), last;
  size_t whole = 0;
  for (const std::string& t : a) {
    last = row;
    whole += weight(t);
    for (size_t j = 0; j < b.size(); ++j)
      row[j + 1] = std::max({last[j + 1], row[j], t == b[j] ? last[j] + weight(t) : 0});
  }
  const size_t lost = whole - row.back();
  return lost < name && lost * 3 <= a.size();
}

// A repair may make the access of a site atomic.
bool same_operation(const std::string& was, const std::string& is) {
  return was == "-" || was == is || (is == "update" && (was == "read" || was == "write"));
}

// read, write, update, copy; empty for what accesses no memory.
std::string operation_of(const ir::Program& program, const ir::Op& op) {
  using C = ir::OpCode;
  switch (op.code) {
  case C::ld:
  case C::ldmatrix: return "read";
  case C::st:
  case C::stmatrix: return "write";
  case C::atom:
  case C::red: return "update";
  case C::cp_async: return "copy";
  default: return "";
  }
}

class Sources { // lines of the files that places name
public:
  const std::vector<std::string>& of(const std::string& path) {
    auto [at, fresh] = files_.try_emplace(path);
    if (!fresh || path.empty()) return at->second;
    if (Result<std::string> text = read_file(path)) at->second = split_lines(*text);
    return at->second;
  }
  std::string line(const std::string& path, uint32_t number) {
    const std::vector<std::string>& lines = of(path);
    return number >= 1 && number <= lines.size() ? essence(lines[number - 1]) : "";
  }

private:
  std::map<std::string, std::vector<std::string>> files_;
};

struct Candidate {
  uint32_t launch, pc;
  std::string operation, text, instruction;
  report::Location at;
};

std::vector<Candidate> candidates(const cases::Case& subject, Sources& sources) {
  std::vector<Candidate> out;
  for (uint32_t launch = 0; launch < subject.job.launches.size(); ++launch) {
    const ir::Program& program = *subject.job.launches[launch].program;
    for (uint32_t pc = 0; pc < program.ops.size(); ++pc) {
      const std::string operation = operation_of(program, program.ops[pc]);
      if (operation.empty()) continue;
      report::Location at = place_of(subject, launch, pc);
      std::string text = sources.line(at.source, at.line);
      out.push_back({launch, pc, operation, text, essence(ir::place(program, pc).instruction), at});
    }
  }
  return out;
}

// Higher is better: the line itself above all, then its neighbours, then how near it is.
long score(const Candidate& c, const schedule::Trace::Site& site, Sources& sources) {
  long points = 0;
  if (!same_operation(site.operation, c.operation)) return -1;
  const std::string wanted = essence(site.text.empty() ? site.instruction : site.text);
  const std::string& have = site.text.empty() ? c.instruction : c.text;
  if (have.empty()) return -1;
  size_t distance = have == wanted ? 0 : edit_distance(have, wanted);
  if (distance * 3 > std::max(have.size(), wanted.size()) && !holds(have, wanted)) return -1;
  points += distance ? 0 : 1'000'000'000;
  points -= long(std::min<size_t>(distance, 400)) * 1'000'000;
  if (site.operation != "-" && c.operation != site.operation) points -= 50'000'000;
  auto same = [&](const std::string& other, uint32_t line) {
    return !other.empty() && essence(other) == sources.line(c.at.source, line);
  };
  points += same(site.above, c.at.line - 1) * 300'000 + same(site.below, c.at.line + 1) * 300'000;
  points += (essence(site.instruction) == c.instruction) * 100'000;
  long away = std::abs(long(c.at.line) - long(site.line));
  return std::max<long>(0, points + 500'000'000 - std::min<long>(away, 90'000));
}

} // namespace

std::vector<Aim> aim(const cases::Case& subject, const std::vector<schedule::Trace::Site>& sites) {
  Sources sources;
  const std::vector<Candidate> all = candidates(subject, sources);
  std::vector<Aim> out;
  for (const schedule::Trace::Site& site : sites) {
    Aim& aimed = out.emplace_back();
    aimed.site = site;
    long best = -1;
    for (const Candidate& c : all) {
      long points = score(c, site, sources);
      if (points <= best) continue;
      best = points;
      aimed.found = true;
      aimed.changed = points < 1'000'000'000;
      aimed.at = c.at;
      aimed.launch = c.launch;
      aimed.pc = c.pc;
    }
  }
  return out;
}

} // namespace assay::cli
