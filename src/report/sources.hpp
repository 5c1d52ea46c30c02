// Lines of source files, for excerpts: each file is read once.
#pragma once

#include "report/verdict.hpp"

#include <map>

namespace assay::report {

class Sources {
public:
  // The line of a place as it stands there, tabs expanded; empty where it cannot be read.
  std::string line(const Location& location);
  // Without what is no code: indentation, a trailing comment, blanks.
  std::string code(const Location& location);

private:
  std::map<std::string, std::vector<std::string>> files_;
};

// Where the code of a line ends: before a trailing comment and blanks.
size_t code_end(const std::string& line);

// "thread (1,0,0) of block (0,0,0) writes 4 bytes, shared byte 4"
std::string describe(const Location& location);

} // namespace assay::report
