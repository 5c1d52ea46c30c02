// Source places, demangled names and the search for a kernel by name; see source.hpp.
#include "ir/source.hpp"

#include "ir/inlined_places.hpp"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <fmt/format.h>
#include <memory>

namespace assay::ir {

std::string demangle(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

namespace {

// Compilers write names into `.file` with the escapes of C: \\, \" and \303 for bytes beyond ASCII.
// Those of control characters stay as they are: no terminal should meet what they stand for.
std::string unescaped(const std::string& name) {
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    out += name[i];
    if (name[i] != '\\' || i + 1 == name.size()) continue;
    if (name[i + 1] == '\\' || name[i + 1] == '"') {
      out.back() = name[++i];
    } else if (name.find_first_not_of("01234567", i + 1) >= i + 4 && i + 4 <= name.size()) {
      const unsigned long byte = std::strtoul(name.substr(i + 1, 3).c_str(), nullptr, 8);
      if (byte < 128 || byte > 255) continue;
      out.back() = char(byte);
      i += 3;
    }
  }
  return out;
}

} // namespace

std::string SourcePlace::text() const {
  if (has_source()) return fmt::format("{}:{}", frames[0].file, frames[0].line);
  return fmt::format("{}:{}", ptx_file, ptx_line);
}

std::vector<SourceFrame> frames(const ptx::Module& module, const ptx::Instruction& instruction) {
  std::vector<SourceFrame> out;
  uint32_t loc = instruction.loc;
  // A chain longer than the table would be a cycle.
  for (size_t steps = 0; loc && loc < module.locations.size() && steps < module.locations.size();
       ++steps) {
    const ptx::Location& l = module.locations[loc];
    SourceFrame frame;
    if (l.file < module.files.size()) frame.file = unescaped(module.files[l.file]);
    frame.line = l.line;
    frame.column = l.column;
    frame.function = demangle(l.function);
    out.push_back(std::move(frame));
    loc = l.inlined_at;
  }
  if (out.size() == 1)
    for (SourceFrame& frame : inlined_calls(module, instruction)) out.push_back(std::move(frame));
  return out;
}

SourcePlace place(const Program& program, uint32_t op) {
  const ptx::Module& module = *program.module;
  const Site& site = program.sites[op];
  SourcePlace out;
  out.ptx_file = module.file;
  out.ptx_line = site.ptx_line;
  if (site.instruction) {
    out.ptx_column = site.instruction->position.column;
    out.instruction = ptx::print(*site.instruction);
  }
  for (const Function& f : program.functions)
    if (f.entry <= op) out.function = demangle(f.name);
  if (site.instruction) out.frames = frames(module, *site.instruction);
  if (!out.frames.empty() && out.frames.back().function.empty())
    out.frames.back().function = out.function;
  return out;
}

namespace {

std::string squeeze(const std::string& text) { // blanks do not count
  std::string out;
  for (char c : text)
    if (c != ' ') out += c;
  return out;
}

// "void k<float, 4>(float*, int)" → "k<float, 4>": up to the parameter list, without return type.
std::string without_signature(const std::string& demangled) {
  size_t end = demangled.size();
  if (!demangled.empty() && demangled.back() == ')') {
    int depth = 0;
    for (size_t i = demangled.size(); i-- > 0;) {
      depth += demangled[i] == ')' ? 1 : demangled[i] == '(' ? -1 : 0;
      if (depth == 0) {
        end = i;
        break;
      }
    }
  }
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i < end; ++i) {
    char c = demangled[i];
    depth += c == '<' || c == '(' ? 1 : c == '>' || c == ')' ? -1 : 0;
    if (c == ' ' && depth == 0) begin = i + 1;
  }
  return demangled.substr(begin, end - begin);
}

// "k<float, 4>" → "k"; also without namespaces.
std::string plain_name(const std::string& name) {
  std::string base = name.substr(0, name.find('<'));
  size_t colon = base.rfind("::");
  return colon == std::string::npos ? base : base.substr(colon + 2);
}

} // namespace

Result<std::string> find_entry(const ptx::Module& module, const std::string& wanted) {
  std::vector<std::string> names;
  for (const ptx::Function& f : module.functions)
    if (f.is_entry && f.has_body && std::find(names.begin(), names.end(), f.name) == names.end())
      names.push_back(f.name);
  if (names.empty()) return usage_error("there is no kernel in this module", {module.file, 0, 0});
  if (wanted.empty() && names.size() == 1) return names[0];
  std::string key = squeeze(wanted);
  auto matches = [&](auto spelled) {
    std::vector<std::string> found;
    for (const std::string& n : names)
      if (!key.empty() && squeeze(spelled(n)) == key) found.push_back(n);
    return found;
  };
  auto full = [](const std::string& n) { return demangle(n); };
  auto bare = [](const std::string& n) { return without_signature(demangle(n)); };
  auto plain = [&](const std::string& n) { return plain_name(bare(n)); };
  auto plain_template = [&](const std::string& n) { // without namespaces, with arguments
    std::string b = bare(n);
    size_t open = b.find('<'), colon = b.substr(0, open).rfind("::");
    return colon == std::string::npos ? b : b.substr(colon + 2);
  };
  std::vector<std::string> found = matches([](const std::string& n) { return n; });
  if (found.empty()) found = matches(full);
  if (found.empty()) found = matches(bare);
  if (found.empty()) found = matches(plain_template);
  if (found.empty()) found = matches(plain);
  if (found.size() == 1) return found[0];
  Error e = usage_error(wanted.empty()  ? "several kernels here: name one"
                        : found.empty() ? fmt::format("there is no kernel '{}'", wanted)
                                        : fmt::format("'{}' means several kernels", wanted),
                        {module.file, 0, 0});
  constexpr size_t kMost = 40;
  const std::vector<std::string>& list = found.empty() ? names : found;
  for (size_t i = 0; i < list.size() && i < kMost; ++i) {
    std::string d = demangle(list[i]);
    e.notes.push_back(d == list[i] ? fmt::format("kernel {}", d)
                                   : fmt::format("kernel {} ({})", d, list[i]));
  }
  if (list.size() > kMost) e.notes.push_back(fmt::format("and {} more", list.size() - kMost));
  return e;
}

} // namespace assay::ir
