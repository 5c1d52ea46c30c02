// corpus_check [--print OUT] [--rows OUT] FILE.ptx…: parses PTX modules, reports instructions that
// isa.def does not have, writes the printed text and how often each row is used.
// Exit code 0 when every file parses and every instruction has its row.
#include "ptx/isa.hpp"

#include <ctime>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <map>

using namespace assay;

namespace {

struct Counts {
  std::map<uint32_t, uint64_t> rows;
  std::map<std::string, uint64_t> unknown;
  uint64_t instructions = 0;
};

void count(const ptx::Module& module, Counts& counts) {
  for (const ptx::Function& function : module.functions)
    for (const ptx::Statement& statement : function.body) {
      if (statement.kind != ptx::Statement::Kind::instruction) continue;
      ++counts.instructions;
      if (statement.instruction.row)
        ++counts.rows[ptx::isa_index(*statement.instruction.row)];
      else
        ++counts.unknown[ptx::explain_unknown(statement.instruction, module).text() + "\n    " +
                         ptx::print(statement.instruction)];
    }
}

} // namespace

int main(int argc, char** argv) {
  Counts counts;
  std::string print_to, rows_to;
  bool failed = false;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if ((argument == "--print" || argument == "--rows") && i + 1 < argc) {
      (argument == "--print" ? print_to : rows_to) = argv[++i];
      continue;
    }
    std::ifstream in(argument, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(in)), {});
    std::clock_t start = std::clock(); // processor time, because builds run beside
    Result<ptx::Module> module = ptx::parse(text, argument);
    double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
    if (!module) {
      fmt::print("{}\n", module.error().text());
      failed = true;
      continue;
    }
    fmt::print(stderr, "{}: {} bytes, {:.3f} s\n", argument, text.size(), seconds);
    count(*module, counts);
    std::string printed = ptx::print(*module);
    Result<ptx::Module> again = ptx::parse(printed, argument + " (printed)");
    if (!again || ptx::print(*again) != printed) {
      fmt::print("{}: the printed text is not a fixed point{}\n", argument,
                 again ? "" : ": " + again.error().text());
      failed = true;
    }
    if (!print_to.empty()) std::ofstream(print_to, std::ios::binary) << printed;
  }
  for (auto& [text, n] : counts.unknown) fmt::print("{} times: {}\n", n, text);
  if (!rows_to.empty()) {
    std::ofstream out(rows_to);
    for (auto& [row, n] : counts.rows) out << row << "\t" << n << "\n";
  }
  return failed || !counts.unknown.empty();
}
