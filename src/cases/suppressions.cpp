// Reading suppressions; see suppressions.hpp.
#include "cases/suppressions.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "cases/expectation.hpp"
#include "cases/toml_reader.hpp"

#include <algorithm>
#include <fmt/format.h>

#define ASSAY_TRY(expression)                                                                      \
  do {                                                                                             \
    if (Result<void> tried = (expression); !tried) return tried.error();                           \
  } while (false)

namespace assay::cases {
namespace {

Result<Suppression> suppression(const toml::table& table, const std::string& path) {
  TomlReader reader(table, path, "[[suppress]]");
  Suppression out;
  out.span = reader.span();
  ASSAY_TRY(reader.only({"kind", "reason", "function", "file", "line", "space", "fingerprint"}));
  ASSAY_TRY(reader.text("kind", out.kind));
  ASSAY_TRY(reader.text("reason", out.reason));
  ASSAY_TRY(reader.text("function", out.function));
  ASSAY_TRY(reader.text("file", out.file));
  ASSAY_TRY(reader.text("space", out.space));
  ASSAY_TRY(reader.text("fingerprint", out.fingerprint));
  if (const toml::node* line = reader.get("line")) {
    int64_t number = line->is_integer() ? **line->as_integer() : 0;
    if (number < 1 || number > INT32_MAX)
      return reader.wrong(*line, "'line' must be the number of a line");
    out.line = uint32_t(number);
  }
  const std::vector<std::string>& kinds = finding_kinds();
  if (std::find(kinds.begin(), kinds.end(), out.kind) == kinds.end())
    return usage_error(out.kind.empty()
                           ? std::string("a suppression needs the kind of finding that it is for")
                           : fmt::format("there is no kind of finding '{}'{}", out.kind,
                                         did_you_mean(out.kind, kinds)),
                       out.span);
  if (trim(out.reason).empty())
    return usage_error("a suppression needs a reason, for who comes after you", out.span);
  if (out.function.empty() && out.file.empty() && out.fingerprint.empty())
    return usage_error(fmt::format("name the function, the file or the fingerprint, or this hides "
                                   "every {} there is",
                                   out.kind),
                       out.span);
  if (out.line && out.file.empty()) return usage_error("a line needs its file", out.span);
  return out;
}

} // namespace

Result<std::vector<Suppression>> read_suppressions(const std::string& path) {
  Result<std::string> text = read_file(path);
  if (!text) return text.error();
  toml::table root;
  try {
    root = toml::parse(*text, path);
  } catch (const toml::parse_error& error) {
    return usage_error(std::string(error.description()), {path, uint32_t(error.source().begin.line),
                                                          uint32_t(error.source().begin.column)});
  }
  TomlReader reader(root, path, "the suppressions");
  ASSAY_TRY(reader.only({"suppress"}));
  std::vector<Suppression> out;
  const toml::node* list = reader.get("suppress");
  if (!list) return out;
  const toml::array* tables = list->as_array();
  if (!tables || !tables->is_array_of_tables())
    return reader.wrong(*list, "suppressions are [[suppress]] tables");
  for (const toml::node& node : *tables) {
    Result<Suppression> one = suppression(*node.as_table(), path);
    if (!one) return one.error();
    out.push_back(std::move(*one));
  }
  return out;
}

bool fits(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0, star = std::string_view::npos, back = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      back = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p, ++n;
    } else if (star != std::string_view::npos) { // the last star takes one more
      p = star + 1;
      n = ++back;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

} // namespace assay::cases
