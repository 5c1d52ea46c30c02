// The case file (TOML): a kernel, its launches, arguments, shapes and what is promised of it.
// Values stay expressions until a set of shape symbols is chosen (instantiate).
#pragma once

#include "cases/expectation.hpp"
#include "cases/expression.hpp"
#include "cases/options.hpp"

#include <map>

namespace assay::cases {

// A number or an expression over shape symbols, with its place.
struct Quantity {
  std::string text;
  Span span;
};

struct CaseArgument {
  Argument fixed; // role, name, dtype, family, domain, written, data of a file
  std::vector<Quantity> shape, strides;
  std::optional<Quantity> value;  // scalar
  std::optional<Quantity> size;   // structure: bytes
  std::optional<Quantity> offset; // alias
  std::string same;               // alias: the other argument's name
  std::optional<Values> want;     // what the buffer holds at the end, with the shapes of the file
  struct Field;
  std::vector<Field> fields; // structure
};
struct CaseArgument::Field {
  Quantity offset;
  CaseArgument value;
};

struct CaseLaunch {
  std::string entry; // empty: that of the kernel
  std::vector<Quantity> grid, block, cluster;
  std::optional<Quantity> shared;
  bool cooperative = false, programmatic = false;
  std::string name, stream;
  std::vector<std::string> after;
  std::vector<std::string> arguments; // names; empty: every [[arg]] in order
  Span span;
};

struct CaseFile {
  std::string path;
  std::string source, entry, arch; // source relative to the case file
  std::string origin;              // of a .ptx: what it was compiled from, with marks (`source`)
  Span source_span;
  std::vector<std::string> flags;
  std::vector<CaseLaunch> launches;
  Symbols shape;
  std::vector<Symbols> variants; // each overrides some symbols
  std::vector<CaseArgument> arguments;
  bool has_reference = false;
  std::map<std::string, std::string> allow; // kind → reason
  Expectation expectation;
};

Result<CaseFile> parse_case_file(const std::string& text, const std::string& path);

// The launches of a case file with these symbols, as the launch options would give them.
Result<std::vector<LaunchGroup>> instantiate(const CaseFile& file, const Symbols& symbols);

// The file's symbols with a variant and `--set` on top; an unknown symbol is an error.
Result<Symbols> symbols_of(const CaseFile& file, const Symbols* variant,
                           const std::map<std::string, int64_t>& set);

} // namespace assay::cases
