// Guessing a case from a signature; see new_case.hpp. Everything guessed is marked in the text.
#include "cases/new_case.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "inputs/dtype.hpp"
#include "ir/source.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace assay::cases {
namespace {

// Splits at commas outside brackets.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts(1);
  int nested = 0;
  for (char c : text) {
    nested += c == '<' || c == '(' || c == '[' || c == '{';
    nested -= c == '>' || c == ')' || c == ']' || c == '}';
    if (c == ',' && nested == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  for (std::string& part : parts) part = std::string(trim(part));
  if (parts.size() == 1 && (parts[0].empty() || parts[0] == "void")) parts.clear();
  return parts;
}

// The text between the bracket at `open` and its partner.
std::string_view bracketed(std::string_view text, size_t open) {
  int nested = 0;
  for (size_t i = open; i < text.size(); ++i) {
    nested += text[i] == '(';
    nested -= text[i] == ')';
    if (nested == 0) return text.substr(open + 1, i - open - 1);
  }
  return {};
}

struct Guess {
  std::string dtype, kind = "scalar", value;
};

std::string dtype_of(std::string type, std::string_view fallback) {
  static const std::pair<const char*, const char*> kTypes[] = {{"unsigned long long", "u64"},
                                                               {"unsigned long", "u64"},
                                                               {"unsigned int", "u32"},
                                                               {"unsigned short", "u16"},
                                                               {"unsigned char", "u8"},
                                                               {"long long", "s64"},
                                                               {"long", "s64"},
                                                               {"int", "s32"},
                                                               {"short", "s16"},
                                                               {"signed char", "s8"},
                                                               {"char", "s8"},
                                                               {"bool", "u8"},
                                                               {"float", "f32"},
                                                               {"double", "f64"},
                                                               {"__half", "f16"},
                                                               {"half", "f16"},
                                                               {"__nv_bfloat16", "bf16"},
                                                               {"unsigned", "u32"}};
  for (const char* word : {"const", "volatile", "__restrict__", "*"})
    for (size_t at; (at = type.find(word)) != std::string::npos;)
      type.erase(at, std::string(word).size());
  std::string plain(trim(type));
  for (const auto& [name, dtype] : kTypes)
    if (plain == name) return dtype;
  if (plain.starts_with("float") && plain.size() == 6) return "f32"; // float2, float4
  if (plain.starts_with("int") && plain.size() == 4) return "s32";
  return std::string(fallback);
}

Guess guess(const ptx::Variable& parameter, const std::string& type) {
  Guess out;
  bool wide =
      ptx::bits(parameter.type) == 64 && !ptx::is_float(parameter.type) && !parameter.is_array;
  bool pointer = type.empty() ? wide : type.find('*') != std::string::npos;
  if (pointer) {
    out.dtype = dtype_of(type, "f32");
    // Without a signature nobody can tell: initialised memory that may be written is the safe
    // guess.
    out.kind = type.empty() ? "inout" : type.find("const") != std::string::npos ? "in" : "out";
    return out;
  }
  if (parameter.is_array) {
    out.kind = "struct";
    return out;
  }
  std::string spelled(ptx::spelling(parameter.type));
  out.dtype = dtype_of(type, spelled);
  bool is_float =
      out.dtype == "f32" || out.dtype == "f64" || out.dtype == "f16" || out.dtype == "bf16";
  out.value = is_float ? "1.0" : "\"n\"";
  return out;
}

} // namespace

std::vector<std::string> parameter_types(const std::string& demangled) {
  size_t open = demangled.rfind('(');
  int nested = 0;
  for (size_t i = demangled.size(); i-- > 0;) { // the last balanced list
    nested += demangled[i] == ')';
    nested -= demangled[i] == '(';
    if (nested == 0 && demangled[i] == '(') {
      open = i;
      break;
    }
  }
  if (open == std::string::npos) return {};
  return split(bracketed(demangled, open));
}

std::vector<std::string> parameter_names(const std::string& source, const std::string& kernel) {
  for (size_t at = source.find("__global__"); at != std::string::npos;
       at = source.find("__global__", at + 1)) {
    size_t name = source.find(kernel, at), body = source.find_first_of(";{", at);
    if (name == std::string::npos || name > body) continue;
    size_t open = source.find_first_not_of(" \n\t", name + kernel.size());
    if (open == std::string::npos || source[open] != '(') continue;
    std::vector<std::string> names;
    for (const std::string& parameter : split(bracketed(source, open))) {
      size_t end = parameter.size();
      while (end > 0 && !std::isalnum(uint8_t(parameter[end - 1])) && parameter[end - 1] != '_')
        --end;
      size_t first = end;
      while (first > 0 &&
             (std::isalnum(uint8_t(parameter[first - 1])) || parameter[first - 1] == '_'))
        --first;
      names.push_back(parameter.substr(first, end - first));
    }
    return names;
  }
  return {};
}

std::string write_case(const NewCase& request) {
  const ptx::Function* function = request.kernel.module->find_function(request.entry);
  std::string demangled = ir::demangle(request.entry), name = short_name(request.entry);
  std::vector<std::string> types = parameter_types(demangled), names;
  if (Result<std::string> source = read_file(request.kernel.source))
    names = parameter_names(*source, name.substr(0, name.find('<')));
  std::vector<std::string> quoted;
  for (const std::string& flag : request.flags) quoted.push_back("\"" + flag + "\"");
  std::string out =
      fmt::format("# A first case for {}.\n# Roles (in, out, inout, scratch), shapes and values "
                  "are guesses: adjust them.\n"
                  "kernel = {{file = \"{}\", entry = \"{}\", arch = \"{}\", flags = [{}]}}\n"
                  "launch = {{grid = [\"blocks\"], block = [\"threads\"]}}\n"
                  "shape = {{blocks = 2, threads = 128, n = 256}}\n",
                  demangled, request.file, name, request.arch, join(quoted, ", "));
  for (size_t i = 0; function && i < function->params.size(); ++i) {
    const ptx::Variable& parameter = function->params[i];
    bool signature = types.size() == function->params.size();
    Guess guessed = guess(parameter, signature ? types[i] : "");
    bool named = names.size() == function->params.size() && !names[i].empty();
    out += fmt::format("\n[[arg]]\nname = \"{}\"\nkind = \"{}\"\n",
                       named ? names[i] : fmt::format("p{}", i), guessed.kind);
    if (guessed.kind == "struct") {
      out += fmt::format(
          "size = {}\nfields = []   # {{offset = 0, dtype = \"s32\", value = \"n\"}}, …\n",
          parameter.size_bytes());
      continue;
    }
    out += fmt::format("dtype = \"{}\"\n", guessed.dtype);
    out +=
        guessed.kind == "scalar" ? fmt::format("value = {}\n", guessed.value) : "shape = [\"n\"]\n";
  }
  return out;
}

} // namespace assay::cases
