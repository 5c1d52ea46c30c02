// The launch options: what a kernel needs to run and how it is explored. One table serves the
// command line, `// launch:` lines and the help text.
#pragma once

#include "cases/argument.hpp"

#include <map>

namespace assay::cases {

struct LaunchOption {
  const char* name;  // "--grid"
  const char* value; // what its value is called in help; "" for a flag
  const char* help;
  bool per_launch; // may stand once in each group that `--launch` opens
};
const std::vector<LaunchOption>& launch_options();

struct FileOfParameter {
  uint32_t parameter = 0;
  std::string file; // as seen from the working directory
  Span span;
};
struct Show {
  uint32_t parameter = 0;
  inputs::DType type = inputs::DType::f32;
  Span span;
};
struct Values { // `// want N TYPE [ulp=K]: …`: leading elements of a parameter's buffer
  uint32_t parameter = 0;
  inputs::DType type = inputs::DType::f32;
  uint64_t ulp = 0;  // floats: how many representable values away is still right
  double within = 0; // floats: or how far in absolute value
  std::vector<uint8_t> data;
  Span span;
};

struct Extent3 {
  uint32_t v[3] = {1, 1, 1};
};

struct LaunchGroup { // what one launch is given
  std::optional<std::string> entry;
  std::optional<Extent3> grid, block, cluster;
  std::optional<uint64_t> shared;
  bool cooperative = false, programmatic = false;
  std::optional<std::string> name, stream; // stream: none is the default stream
  std::vector<std::string> after;          // names of earlier launches
  std::vector<Argument> arguments;
  std::vector<FileOfParameter> outs, wants;
  std::vector<Show> shows;
  std::vector<Values> values;
};

struct Budget { // of an exploration; either may be 0: no limit
  uint64_t steps = 0;
  double seconds = 0;
};

struct Options {
  std::vector<LaunchGroup> launches = std::vector<LaunchGroup>(1);
  std::optional<std::string> schedule, check, fail_on, arch, device, vector_atomicity;
  std::optional<uint64_t> seed;
  std::optional<Budget> budget;
  std::vector<std::string> compile_flags; // -I -D -G
  std::string kernel; // another source in place of the case file's own; empty: that one
  std::map<std::string, int64_t> set; // shape symbols of a case file
};

struct Token {
  std::string text;
  Span span;
};

// Takes the launch options out of `tokens`; other tokens come back in `rest`. Relative file names
// start at `directory`.
Result<Options> parse_options(const std::vector<Token>& tokens, const std::string& directory,
                              std::vector<Token>* rest);

// Splits a `// launch:` line at blanks outside quotes and brackets.
Result<std::vector<Token>> tokenize(const std::string& text, const Span& span);

} // namespace assay::cases
