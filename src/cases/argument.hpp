// One kernel argument as a user describes it, on the command line (SPEC), in a `// launch:` line or
// in an [[arg]] table. What it becomes (a parameter's bytes, a buffer) is decided in build.cpp.
#pragma once

#include "base/result.hpp"
#include "inputs/family.hpp"

#include <optional>
#include <string>
#include <vector>

namespace assay::cases {

enum class Role : uint8_t { in, out, inout, scratch, scalar, null, same, structure, function };
enum class Written : uint8_t { unsaid, full, partial };

struct Argument {
  Role role = Role::scalar;
  std::string name; // of a case file; else empty
  std::string text; // as written, for messages
  Span span;

  // buffers
  std::optional<inputs::DType> dtype;
  std::vector<uint64_t> shape; // empty: unknown, `bytes` counts
  uint64_t bytes = 0;
  enum class Content : uint8_t { poison, data, family } content = Content::poison;
  std::vector<uint8_t> data; // Content::data; scalars: the value's bytes
  inputs::Family family;
  inputs::Domain domain = inputs::everything();
  Written written = Written::unsaid;
  uint32_t align = 256;

  // same: parameter `same_parameter` of launch `same_launch`, `offset` bytes further
  std::optional<uint32_t> same_launch; // none: the first launch that is not this one, or this one
  uint32_t same_parameter = 0;
  std::string same_buffer; // or by name: a buffer that first stood inside a struct
  uint64_t offset = 0;

  // structure: `bytes` bytes, zero where no field is
  struct Field;
  std::vector<Field> fields;

  std::string function; // function: its PTX name

  bool is_buffer() const { return role <= Role::scratch; }
};

struct Argument::Field {
  uint64_t offset = 0;
  Argument value;
};

// SPEC of the launch options; relative file names start at `directory`.
//   in:FILE inout:FILE out:BYTES[:FILL] rand:TYPE[N,…][:FAMILY] zeros:TYPE[N,…] TYPE:VALUE
//   bytes:HEX null same:[LAUNCH.]N[+OFFSET] struct:SIZE{OFFSET:SPEC,…} func:NAME
//   list:TYPE[v,v*count,…] (role in)  inlist:TYPE[…] (role inout)
Result<Argument> parse_spec(const std::string& text, const std::string& directory,
                            const Span& span);

// Whether a word looks like a SPEC (its first part is known), so that `--arg` can take several.
bool looks_like_spec(const std::string& word);

// "v,v*count,…" or "v v*count …" as elements of a type, little endian.
Result<std::vector<uint8_t>> parse_values(inputs::DType type, const std::string& text,
                                          char separator, const Span& span);

// A decimal or 0x number.
Result<uint64_t> parse_unsigned(const std::string& text, const std::string& what, const Span& span);

// The path as seen from `directory` unless it is absolute.
std::string path_in(const std::string& directory, const std::string& path);

// A raw or .npy file as a buffer's content.
Result<void> load_content(Argument& argument, const std::string& path);

inline constexpr uint64_t kMostBytes = uint64_t(1) << 36; // of one buffer: beyond is a mistake

} // namespace assay::cases
