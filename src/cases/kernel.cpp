// Finding PTX and entries; see kernel.hpp.
#include "cases/kernel.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "cases/argument.hpp"
#include "compile/compile.hpp"
#include "compile/stamp.hpp"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <filesystem>
#include <fmt/format.h>

namespace assay::cases {
namespace {

compile::CompileRequest compile_request(const KernelRequest& request, const std::string& arch) {
  compile::CompileRequest out;
  out.directory = request.directory;
  out.file = request.file;
  out.arch = arch;
  out.flags = request.flags;
  for (const std::string& entry : request.entries) // others are in the source as they are
    if (entry.find('<') != std::string::npos) out.entries.push_back(entry);
  return out;
}

// "sm_90a" of the first `.target` line.
std::string target_of(const std::string& ptx) {
  size_t at = ptx.find("\n.target ");
  if (at == std::string::npos) return "";
  at += 9;
  return ptx.substr(at, ptx.find_first_of(", \r\n", at) - at);
}

Result<void> parse(Kernel& kernel, const std::string& name) {
  Result<ptx::Module> module = ptx::parse(kernel.ptx, name);
  if (!module) return module.error();
  kernel.module = std::make_shared<const ptx::Module>(std::move(*module));
  return {};
}

Result<Kernel> load_cuda(const KernelRequest& request, Kernel kernel) {
  std::filesystem::path beside(kernel.source);
  beside.replace_extension(".ptx");
  std::error_code ignored;
  bool committed = std::filesystem::exists(beside, ignored);
  if (committed) {
    Result<std::string> text = read_file(beside.string());
    if (!text) return text.error();
    kernel.ptx = std::move(*text);
  }
  std::string arch = request.arch.value_or(target_of(kernel.ptx));
  compile::CompileRequest wanted = compile_request(request, arch.empty() ? "sm_90" : arch);
  if (committed) {
    Result<compile::Freshness> fresh = compile::check_stamp(kernel.ptx, wanted);
    if (!fresh) return fresh.error();
    if (*fresh == compile::Freshness::fresh) {
      kernel.ptx_file = beside.string();
      if (Result<void> done = parse(kernel, kernel.ptx_file); !done) return done.error();
      return kernel;
    }
  }
  Result<compile::CompiledPtx> compiled = compile::compile_cuda(wanted);
  if (!compiled) {
    if (!committed || compiled.error().code != ErrorCode::environment) return compiled.error();
    Error stale = unsupported(fmt::format("stale PTX: {} was not compiled from {} as it is now",
                                          beside.string(), kernel.source));
    stale.message.erase(0, std::string("unsupported ").size());
    stale.notes = {compiled.error().message};
    return stale;
  }
  kernel.ptx = std::move(compiled->ptx);
  kernel.compiler = compiled->compiler;
  kernel.names = std::move(compiled->names);
  if (Result<void> done = parse(kernel, kernel.source + ".ptx"); !done) return done.error();
  return kernel;
}

std::string without_blanks(const std::string& text) {
  std::string out;
  for (char c : text)
    if (!std::isspace(uint8_t(c))) out += c;
  return out;
}

// "k<float, 4>" of "void k<float, 4>(float const*)": neither the type in front nor the parameters.
std::string bare_name(const std::string& demangled) {
  size_t first = 0, end = demangled.size();
  int nested = 0;
  for (size_t i = 0; i < demangled.size(); ++i) {
    char c = demangled[i];
    if (c == '(' && nested == 0 && !demangled.compare(i, 21, "(anonymous namespace)")) {
      i += 20;
      continue;
    }
    if (c == '(' && nested == 0) {
      end = i;
      break;
    }
    nested += c == '<' || c == '(';
    nested -= c == '>' || c == ')';
    if (c == ' ' && nested == 0) first = i + 1;
  }
  return demangled.substr(first, end - first);
}

bool names_entry(const Kernel& kernel, const std::string& wanted, const std::string& entry) {
  if (wanted == entry) return true;
  auto compiled = kernel.names.find(wanted);
  if (compiled != kernel.names.end()) return compiled->second == entry;
  std::string demangled = demangle(entry), plain = without_blanks(wanted);
  return plain == without_blanks(demangled) || plain == without_blanks(bare_name(demangled));
}

std::string list_entries(const std::vector<std::string>& entries) {
  std::vector<std::string> names;
  for (const std::string& entry : entries) {
    if (names.size() == 20) {
      names.push_back(fmt::format("… and {} more", entries.size() - 20));
      break;
    }
    names.push_back(demangle(entry));
  }
  return join(names, ", ");
}

} // namespace

Result<Kernel> load_kernel(const KernelRequest& request) {
  Kernel kernel;
  kernel.directory = request.directory;
  kernel.source = path_in(request.directory, request.file);
  if (request.file.ends_with(".cu")) {
    if (Result<std::string> text = read_file(kernel.source); !text) return text.error();
    return load_cuda(request, std::move(kernel));
  }
  if (!request.file.ends_with(".ptx"))
    return usage_error(fmt::format("'{}' is neither a .ptx nor a .cu file", kernel.source));
  Result<std::string> text = read_file(kernel.source);
  if (!text) return text.error();
  kernel.ptx = std::move(*text);
  kernel.ptx_file = kernel.source;
  if (Result<void> done = parse(kernel, kernel.source); !done) return done.error();
  return kernel;
}

Result<std::string> refresh_ptx(const KernelRequest& request) {
  std::string source = path_in(request.directory, request.file);
  if (!request.file.ends_with(".cu"))
    return usage_error(fmt::format("'{}' is no .cu file", source));
  compile::CompileRequest wanted = compile_request(request, request.arch.value_or("sm_90"));
  Result<compile::CompiledPtx> compiled = compile::compile_cuda(wanted);
  if (!compiled) return compiled.error();
  Result<compile::PtxStamp> stamp = compile::stamp_of(wanted);
  if (!stamp) return stamp.error();
  std::string path = std::filesystem::path(source).replace_extension(".ptx").string();
  Result<void> written = write_file(path, compile::with_stamp(compiled->ptx, *stamp));
  if (!written) return written.error();
  return path;
}

Result<std::string> find_entry(const Kernel& kernel, const std::optional<std::string>& wanted,
                               const Span& span) {
  std::vector<std::string> entries, matches;
  for (const ptx::Function& function : kernel.module->functions)
    if (function.is_entry && function.has_body) entries.push_back(function.name);
  if (entries.empty()) return usage_error(fmt::format("'{}' has no kernel", kernel.source), span);
  if (!wanted) {
    if (entries.size() == 1) return entries[0];
    return usage_error(fmt::format("'{}' has {} kernels; choose one with --entry: {}",
                                   kernel.source, entries.size(), list_entries(entries)),
                       span);
  }
  for (const std::string& entry : entries)
    if (names_entry(kernel, *wanted, entry)) matches.push_back(entry);
  if (matches.empty()) // a template's name alone, when there is one instance
    for (const std::string& entry : entries) {
      std::string name = bare_name(demangle(entry));
      if (name.substr(0, name.find('<')) == *wanted) matches.push_back(entry);
    }
  if (matches.size() == 1) return matches[0];
  if (!matches.empty())
    return usage_error(
        fmt::format("'{}' names {} kernels: {}", *wanted, matches.size(), list_entries(matches)),
        span);
  std::vector<std::string> names;
  for (const std::string& entry : entries) names.push_back(bare_name(demangle(entry)));
  return usage_error(fmt::format("'{}' has no kernel '{}'{} (kernels: {})", kernel.source, *wanted,
                                 did_you_mean(*wanted, names), list_entries(entries)),
                     span);
}

std::string demangle(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string out = status == 0 && text && name.starts_with("_Z") ? text : name;
  std::free(text);
  return out;
}

std::string short_name(const std::string& name) { return bare_name(demangle(name)); }

} // namespace assay::cases
