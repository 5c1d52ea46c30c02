// Reading directives line by line; see directives.hpp.
#include "cases/directives.hpp"

#include "base/text.hpp"

#include <filesystem>
#include <fmt/format.h>

namespace assay::cases {
namespace {

std::string_view comment_of(const std::string& file) { return file.ends_with(".py") ? "#" : "//"; }

// The text after `// key` in a line that holds nothing else, or nothing.
bool directive(std::string_view line, std::string_view key, std::string_view& rest,
               std::string_view comment = "//") {
  line = trim(line);
  if (!line.starts_with(comment)) return false;
  line = trim(line.substr(comment.size()));
  if (!line.starts_with(key)) return false;
  rest = trim(line.substr(key.size()));
  return true;
}

// The mark of a line that ends in `// @A`, or an empty view. Several marks may stand there.
void marks_of(std::string_view line, uint32_t number, std::string_view comment,
              std::map<std::string, uint32_t>& marks) {
  size_t start = line.rfind(comment);
  if (start == std::string_view::npos) return;
  std::string_view rest = trim(line.substr(start + comment.size()));
  while (!rest.empty() && rest[0] == '@') {
    size_t end = 1;
    while (end < rest.size() && (std::isalnum(uint8_t(rest[end])) || rest[end] == '_')) ++end;
    if (end == 1) return;
    marks.emplace(std::string(rest.substr(1, end - 1)), number);
    rest = trim(rest.substr(end));
  }
}

Result<Values> parse_want(std::string_view text, const Span& span) {
  auto wrong = [&](const char* why) {
    return usage_error(fmt::format("'// want {}' {}; write // want N TYPE: values", text, why),
                       span);
  };
  size_t colon = text.find(':');
  if (colon == std::string_view::npos) return wrong("has no ':'");
  std::string head(trim(text.substr(0, colon)));
  size_t blank = head.find(' ');
  if (blank == std::string::npos) return wrong("needs a parameter and a type");
  Values want;
  want.span = span;
  Result<uint64_t> parameter = parse_unsigned(head.substr(0, blank), "the parameter", span);
  if (!parameter || *parameter > 0xffff) return wrong("needs the number of a parameter");
  want.parameter = uint32_t(*parameter);
  std::string_view kind = trim(std::string_view(head).substr(blank));
  size_t more = kind.find(' ');
  if (more != std::string_view::npos) {
    std::string_view tolerance = trim(kind.substr(more));
    Result<uint64_t> ulp = usage_error("");
    if (tolerance.starts_with("ulp="))
      ulp = parse_unsigned(std::string(tolerance.substr(4)), "ulp", span);
    if (!ulp) return wrong("has something after its type that is not ulp=NUMBER");
    want.ulp = *ulp;
    kind = kind.substr(0, more);
  }
  Result<inputs::DType> type = inputs::dtype_from(kind, span);
  if (!type) return type.error();
  want.type = *type;
  Result<std::vector<uint8_t>> data =
      parse_values(*type, std::string(text.substr(colon + 1)), ' ', span);
  if (!data) return data.error();
  want.data = std::move(*data);
  return want;
}

// Adds to the wanted values of a parameter: several lines of one type continue each other.
void add_want(std::vector<Values>& all, Values want) {
  for (Values& earlier : all) {
    if (earlier.parameter != want.parameter || earlier.type != want.type || earlier.ulp != want.ulp)
      continue;
    earlier.data.insert(earlier.data.end(), want.data.begin(), want.data.end());
    return;
  }
  all.push_back(std::move(want));
}

} // namespace

bool has_launch_line(const std::string& text) {
  std::string_view rest;
  for (const std::string& line : split_lines(text))
    if (directive(line, "launch:", rest)) return true;
  return false;
}

std::map<std::string, uint32_t> marks_of_source(const std::string& text, const std::string& file) {
  std::vector<std::string> lines = split_lines(text);
  std::map<std::string, uint32_t> marks;
  for (uint32_t n = 0; n < lines.size(); ++n) marks_of(lines[n], n + 1, comment_of(file), marks);
  return marks;
}

Result<Directives> parse_directives(const std::string& text, const std::string& file) {
  Directives out;
  std::vector<std::string> lines = split_lines(text);
  std::map<std::string, uint32_t> marks = marks_of_source(text, file);
  const std::string_view comment = comment_of(file);

  std::vector<Token> launch;
  std::vector<Values> wants;
  for (uint32_t n = 0; n < lines.size(); ++n) {
    Span span{file, n + 1, 0};
    std::string_view rest;
    if (directive(lines[n], "launch:", rest, comment)) {
      Result<std::vector<Token>> tokens = tokenize(std::string(rest), span);
      if (!tokens) return tokens.error();
      out.has_launch = true;
      launch.insert(launch.end(), tokens->begin(), tokens->end());
    } else if (directive(lines[n], "want ", rest, comment)) {
      Result<Values> want = parse_want(rest, span);
      if (!want) return want.error();
      add_want(wants, std::move(*want));
    } else if (directive(lines[n], "row:", rest, comment)) {
      out.rows.emplace_back(rest);
    } else if (directive(lines[n], "expect:", rest, comment)) {
      Result<void> done = parse_expectation(std::string(rest), marks, span, out.expectation);
      if (!done) return done.error();
    }
  }
  std::string folder = std::filesystem::path(file).parent_path().string();
  std::vector<Token> unknown;
  Result<Options> options = parse_options(launch, folder, &unknown);
  if (!options) return options.error();
  if (!unknown.empty()) {
    std::vector<std::string> names;
    for (const LaunchOption& option : launch_options()) names.emplace_back(option.name);
    return usage_error(fmt::format("unknown launch option '{}'{}", unknown[0].text,
                                   did_you_mean(unknown[0].text, names)),
                       unknown[0].span);
  }
  out.options = std::move(*options);
  out.options.launches.back().values = std::move(wants);
  out.expectation.in_ptx = file.ends_with(".ptx");
  return out;
}

} // namespace assay::cases
