// The terminal form of a verdict: diagnostics in the shape that rustc made familiar, the verdict on
// the last line.
//
//   error[race]: thread (0,0,0) writes … and thread (32,0,0) reads …
//     --> block_reduce.cu:14
//      |
//   14 |   partial[warp] = v;
//      |   ^^^^^^^^^^^^^^^^^ thread (0,0,0) of block (0,0,0) stores 4 bytes
//     = note: …
//     = help: …
//     = replay: assay replay …
#pragma once

#include "report/verdict.hpp"

namespace assay::report {

struct Style {
  bool color = false;
  uint32_t print_limit = 3; // findings shown in full; 0: all
  bool quiet = false;       // the verdict line only
  bool verbose = false;     // notes with their places
  uint32_t width = 100;     // columns that the timeline may take
};

std::string print_terminal(const Verdict& verdict, const Style& style);
std::string verdict_line(const Verdict& verdict, const Style& style);
std::string print_row(const Row& row, const Style& style);
std::string closing_line(const std::vector<Row>& rows); // "N passed, N failed, N skipped"

// "error: file:line: message" with its notes, for errors that are no verdicts.
std::string print_error(const std::string& text, const Style& style);

} // namespace assay::report
