// Finding PTX and entries; see kernel.hpp.
#include "cases/kernel.hpp"

#include "base/file.hpp"
#include "cases/argument.hpp"
#include "compile/compile.hpp"
#include "compile/stamp.hpp"
#include "ir/source.hpp"

#include <algorithm>
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
  const std::vector<ptx::Function>& all = kernel.module->functions;
  if (std::none_of(all.begin(), all.end(), [](const ptx::Function& f) { return f.is_entry; }))
    return usage_error("there is no kernel in it (a template becomes one by its arguments: --entry "
                       "'name<float>')",
                       {kernel.source, 0, 0});
  return kernel;
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
  auto compiled = kernel.names.find(wanted.value_or(""));
  if (compiled != kernel.names.end()) return compiled->second;
  Result<std::string> entry = ir::find_entry(*kernel.module, wanted.value_or(""));
  if (entry) return entry;
  if (span.line) entry.error().span = span;
  return entry;
}

std::string short_name(const std::string& name) { return bare_name(ir::demangle(name)); }

} // namespace assay::cases
