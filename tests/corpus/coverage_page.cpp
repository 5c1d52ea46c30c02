// What of PTX parses, executes, is tested and is used by the corpus; see docs/coverage.md, which
// this program writes.
//   coverage_page count ROWS.tsv FILE.ptx…        counts the rows that the files use
//   coverage_page page OUT.md ROWS.tsv TESTS RESULTS.md   writes the page; TESTS is a folder with
//                                                 `// row:` lines, RESULTS.md the corpus's table
// A row executes when lowering leaves no `unsupported` operation for the spellings tried.
#include "base/random.hpp"
#include "ir/lower.hpp"
#include "ptx/generate.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

using namespace assay;

namespace {

struct Use {
  uint64_t modules = 0, uses = 0, unsupported = 0;
};

std::string key(const ptx::IsaRow& row) {
  return fmt::format("{}{} {}", row.opcode, row.modifiers, row.operands);
}

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

// The instructions of every kernel that lowering reaches, and those that cannot be executed.
struct Reached {
  std::set<const ptx::Instruction*> all, unsupported;
  uint64_t kernels = 0, refused = 0;
};

Reached reach(const std::shared_ptr<const ptx::Module>& module) {
  Reached result;
  for (const ptx::Function& function : module->functions) {
    if (!function.is_entry || !function.has_body) continue;
    ++result.kernels;
    auto program = ir::lower(module, function.name);
    if (!program) {
      ++result.refused;
      continue;
    }
    const ir::Program& code = **program;
    for (size_t i = 0; i < code.ops.size(); ++i) {
      const ptx::Instruction* instruction = code.sites[i].instruction;
      if (!instruction) continue;
      result.all.insert(instruction);
      if (code.ops[i].code == ir::OpCode::unsupported) result.unsupported.insert(instruction);
    }
  }
  return result;
}

int count(int argc, char** argv) {
  std::map<std::string, Use> uses;
  Reached total;
  uint64_t all = 0, unsupported = 0;
  for (int i = 3; i < argc; ++i) {
    auto parsed = ptx::parse(read(argv[i]), argv[i]);
    if (!parsed) {
      fmt::print(stderr, "{}\n", parsed.error().text());
      return 1;
    }
    auto module = std::make_shared<const ptx::Module>(std::move(*parsed));
    Reached reached = reach(module);
    total.kernels += reached.kernels;
    total.refused += reached.refused;
    all += reached.all.size();
    unsupported += reached.unsupported.size();
    std::set<std::string> here;
    for (const ptx::Function& function : module->functions)
      for (const ptx::Statement& statement : function.body) {
        const ptx::Instruction* instruction = &statement.instruction;
        if (statement.kind != ptx::Statement::Kind::instruction || !instruction->row) continue;
        Use& use = uses[key(*instruction->row)];
        ++use.uses;
        use.unsupported += reached.unsupported.count(instruction);
        use.modules += here.insert(key(*instruction->row)).second;
      }
  }
  std::ofstream out(argv[2]);
  out << fmt::format("# {} kernels, {} refused, {} instructions reached, {} unsupported\n",
                     total.kernels, total.refused, all, unsupported);
  for (auto& [row, use] : uses)
    out << fmt::format("{}\t{}\t{}\t{}\n", row, use.modules, use.uses, use.unsupported);
  return 0;
}

// How many of the spellings tried execute.
struct Tried {
  uint64_t tried = 0, executed = 0;
};

Tried try_row(const ptx::IsaRow& row) {
  constexpr uint64_t kSamples = 24;
  const uint64_t variants = ptx::variant_count(row.modifiers);
  const uint64_t choices = ptx::operand_choices(row.operands);
  Random random(11, ptx::isa_index(row));
  Tried result;
  for (uint64_t i = 0; i < std::min(kSamples, variants * choices); ++i) {
    uint64_t pick = variants <= kSamples ? i % variants : random.next() % variants;
    std::vector<std::string> words = ptx::variant(row.modifiers, pick);
    uint32_t version = std::min<uint32_t>(row.until, 90);
    std::string target;
    for (const char* candidate : {"sm_90a", "sm_100a", "sm_120a", "sm_103a", "sm_110a", "sm_75"})
      if (target.empty() && !ptx::availability(row, words, version, candidate).unmet)
        target = candidate;
    std::string text = ptx::example(row, pick, random.next() % choices);
    auto parsed =
        ptx::parse(ptx::example_module("\t" + text + "\n",
                                       fmt::format("{}.{}", version / 10, version % 10), target),
                   "example.ptx");
    if (!parsed) continue;
    Reached reached = reach(std::make_shared<const ptx::Module>(std::move(*parsed)));
    ++result.tried;
    result.executed += !reached.refused && reached.unsupported.empty();
  }
  return result;
}

// Spellings named by `// row:` lines under a folder.
std::set<std::string> tested_spellings(const std::filesystem::path& folder) {
  std::set<std::string> result;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".ptx") continue;
    std::istringstream lines(read(entry.path()));
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("// row: ")) result.insert(line.substr(8));
  }
  return result;
}

std::map<uint32_t, uint64_t> tested_rows(const std::set<std::string>& spellings) {
  std::map<uint32_t, uint64_t> result;
  for (const std::string& spelling : spellings) {
    size_t dot = std::min(spelling.find('.'), spelling.size());
    std::vector<std::string> words;
    for (size_t at = dot; at < spelling.size();) {
      size_t next = std::min(spelling.find('.', at + 1), spelling.size());
      words.push_back(spelling.substr(at, next - at));
      at = next;
    }
    for (const ptx::IsaRow* row : ptx::isa_rows(spelling.substr(0, dot)))
      result[ptx::isa_index(*row)] += ptx::match_reordered(*row, words).has_value();
  }
  return result;
}

std::map<std::string, Use> read_uses(const std::string& path, std::string& summary) {
  std::map<std::string, Use> result;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("# ")) {
      summary = line.substr(2);
      continue;
    }
    std::istringstream fields(line.substr(std::min(line.find('\t'), line.size())));
    Use use;
    fields >> use.modules >> use.uses >> use.unsupported;
    result[line.substr(0, line.find('\t'))] = use;
  }
  return result;
}

std::string chapter(std::string_view section) { // "9.7.13.5" -> "9.7.13"
  size_t dots = 0, end = 0;
  while (end < section.size() && dots < 3) dots += section[end++] == '.';
  return std::string(section.substr(0, end - (dots == 3)));
}

constexpr std::pair<const char*, const char*> kChapters[] = {
    {"9.7.1", "Integer arithmetic"},
    {"9.7.2", "Extended precision"},
    {"9.7.3", "Floating point"},
    {"9.7.4", "Half precision"},
    {"9.7.5", "Mixed precision"},
    {"9.7.6", "Comparison and selection"},
    {"9.7.7", "Half precision comparison"},
    {"9.7.8", "Logic and shift"},
    {"9.7.9", "Data movement and conversion"},
    {"9.7.10", "Texture"},
    {"9.7.11", "Surface"},
    {"9.7.12", "Control flow"},
    {"9.7.13", "Synchronisation and communication"},
    {"9.7.14", "Warp-level matrices"},
    {"9.7.15", "Warpgroup matrices"},
    {"9.7.16", "Tensor core, fifth generation"},
    {"9.7.17", "Stack"},
    {"9.7.18", "Video"},
    {"9.7.19", "Miscellaneous"},
};

std::string code(std::string_view text) { // in a table, where | separates
  std::string result;
  for (char c : text) {
    if (c == '|') result += '\\';
    result += c;
  }
  return result.empty() ? "" : "`" + result + "`";
}

struct Line {
  const ptx::IsaRow* row;
  Tried tried;
  uint64_t tests;
  Use use;
};

std::string executes(const Tried& tried) {
  if (tried.executed == 0) return "no";
  return tried.executed == tried.tried ? "yes"
                                       : fmt::format("{} of {}", tried.executed, tried.tried);
}

void write_page(std::ostream& out, const std::vector<Line>& lines, const std::string& summary,
                const std::string& results) {
  out << "# Coverage of PTX\n\nWritten by `tests/corpus/coverage_page` from `src/ptx/isa.def`: one "
         "row for each form of the manual's syntax boxes (PTX ISA 9.0). Every row parses and "
         "prints. "
         "*Executes*: of the spellings tried, how many the virtual GPU runs. *Tests*: spellings "
         "named by `// row:` lines of `tests/isa`. *Corpus*: modules of the foreign corpus that "
         "use "
         "the form; in brackets, uses that do not execute.\n\n";
  out << "| chapter | forms | execute wholly | in part | tested | in the corpus |\n"
         "|---|---|---|---|---|---|\n";
  for (auto& [section, title] : kChapters) {
    uint64_t n = 0, whole = 0, part = 0, tested = 0, used = 0;
    for (const Line& line : lines) {
      if (chapter(line.row->section) != section) continue;
      ++n;
      whole += line.tried.executed == line.tried.tried && line.tried.tried;
      part += line.tried.executed && line.tried.executed < line.tried.tried;
      tested += line.tests > 0;
      used += line.use.uses > 0;
    }
    out << fmt::format("| {} {} | {} | {} | {} | {} | {} |\n", section, title, n, whole, part,
                       tested, used);
  }
  out << "\n## The corpus\n\n" << results << "\n" << summary << ".\n";
  for (auto& [section, title] : kChapters) {
    out << fmt::format(
        "\n## {} {}\n\n| form | operands | since | targets | executes | tests | corpus "
        "|\n|---|---|---|---|---|---|---|\n",
        section, title);
    for (const Line& line : lines) {
      const ptx::IsaRow& row = *line.row;
      if (chapter(row.section) != section) continue;
      std::string since = fmt::format("{}.{}", row.ptx / 10, row.ptx % 10);
      if (row.until != UINT16_MAX)
        since += fmt::format(" to {}.{}", row.until / 10, row.until % 10);
      std::string corpus = line.use.modules ? std::to_string(line.use.modules) : "";
      if (line.use.unsupported) corpus += fmt::format(" ({})", line.use.unsupported);
      out << fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n",
                         code(fmt::format("{}{}", row.opcode, row.modifiers)), code(row.operands),
                         since, row.sm, executes(line.tried),
                         line.tests ? std::to_string(line.tests) : "", corpus);
    }
  }
}

std::vector<Line> all_lines(char** argv, std::string& summary) {
  std::map<std::string, Use> uses = read_uses(argv[3], summary);
  std::map<uint32_t, uint64_t> tests = tested_rows(tested_spellings(argv[4]));
  std::vector<Line> lines;
  for (const ptx::IsaRow& row : ptx::isa_rows())
    lines.push_back({&row, try_row(row), tests[ptx::isa_index(row)], uses[key(row)]});
  return lines;
}

int page(char** argv) {
  std::string summary;
  std::vector<Line> lines = all_lines(argv, summary);
  std::ofstream out(argv[2]);
  write_page(out, lines, summary, read(argv[5]));
  return 0;
}

// Is the page what it would be now, and does every row that executes have a test?
int check(char** argv) {
  std::string summary;
  std::vector<Line> lines = all_lines(argv, summary);
  uint64_t untested = 0;
  for (const Line& line : lines) {
    if (!line.tried.executed || line.tests) continue;
    ++untested;
    fmt::print("no test: {}{} {}\n", line.row->opcode, line.row->modifiers, line.row->operands);
  }
  std::ostringstream now;
  write_page(now, lines, summary, read(argv[5]));
  bool stale = now.str() != read(argv[2]);
  if (stale) fmt::print("{} is not what coverage_page writes now\n", argv[2]);
  return untested || stale;
}

} // namespace

int main(int argc, char** argv) {
  std::string command = argc > 1 ? argv[1] : "";
  if (command == "count" && argc > 3) return count(argc, argv);
  if (command == "page" && argc == 6) return page(argv);
  if (command == "check" && argc == 6) return check(argv);
  fmt::print(
      stderr,
      "usage: coverage_page count ROWS.tsv FILE… | page|check PAGE.md ROWS.tsv TESTS RESULTS\n");
  return 2;
}
