// Compilation by NVRTC ("NVRTC" manual, "Basic Usage", "Supported Compile Options" and "Accessing
// Lowered Names").
//
// NVRTC has no host headers; headers.hpp gives those that device code includes out of habit. What
// belongs to host code is an error, and says so; where there is nvcc, that compiles such a source.
#include "compile/compile.hpp"

#include "base/file.hpp"
#include "compile/headers.hpp"
#include "compile/nvcc.hpp"
#include "compile/nvrtc.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace assay::compile {
namespace fs = std::filesystem;
namespace {

bool is_template(const std::string& entry) { return entry.find('<') != std::string::npos; }

// NVRTC 13.0 puts a '"' of the source's name into `.file` as it stands, and its assembler then
// refuses that line. Such a source is compiled under a plain name, which is replaced where it comes
// back.
std::string plain_name(const std::string& path) {
  std::string out;
  for (const char c : path) out += c == '"' ? std::string("%22") : std::string(1, c);
  return out;
}

std::string replaced(std::string text, const std::string& old, const std::string& now) {
  if (old == now) return text;
  for (size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += now.size())
    text.replace(at, old.size(), now);
  return text;
}

// A program that destroys itself.
struct Program {
  const Nvrtc& nvrtc;
  Nvrtc::Program handle = nullptr;
  ~Program() {
    if (handle) nvrtc.destroy(&handle);
  }
  std::string text(int (*size)(Nvrtc::Program, size_t*), int (*get)(Nvrtc::Program, char*)) {
    size_t n = 0;
    if (size(handle, &n) != 0 || n == 0) return "";
    std::string out(n, '\0');
    if (get(handle, out.data()) != 0) return "";
    out.resize(n - 1); // the terminating zero
    return out;
  }
};

std::vector<std::string> nvrtc_options(const CompileRequest& request,
                                       const std::vector<std::string>& headers) {
  std::vector<std::string> options = {"--gpu-architecture=" + request.arch};
  for (const std::string& flag : compile_flags(request)) options.push_back(flag);
  options.push_back("-I" + fs::path(source_path(request)).parent_path().string());
  for (const std::string& folder : headers) options.push_back("-I" + folder);
  if (!headers.empty()) options.push_back(std::string("--pre-include=") + kUnasked);
  return options;
}

Result<CompiledPtx> compile_with(const Nvrtc& nvrtc, const CompileRequest& request) {
  Result<std::string> source = read_file(source_path(request));
  if (!source) return source.error();
  std::vector<const char*> names, texts;
  const std::vector<std::string> folders = header_directories(nvrtc.path);
  if (!folders.empty())
    for (const Header& header : host_headers()) {
      names.push_back(header.name.c_str());
      texts.push_back(header.text.c_str());
    }
  Program program{nvrtc};
  const std::string path = source_path(request), name = plain_name(path);
  int code = nvrtc.create(&program.handle, source->c_str(), name.c_str(), int(names.size()),
                          texts.data(), names.data());
  for (const std::string& entry : request.entries)
    if (code == 0 && is_template(entry)) code = nvrtc.add_name(program.handle, entry.c_str());
  if (code != 0) return usage_error(fmt::format("{}: {}", nvrtc.name(), nvrtc.error_string(code)));

  const std::vector<std::string> options = nvrtc_options(request, folders);
  std::vector<const char*> pointers;
  for (const std::string& option : options) pointers.push_back(option.c_str());
  code = nvrtc.compile(program.handle, int(pointers.size()), pointers.data());
  CompiledPtx out;
  out.compiler = nvrtc.name();
  out.log = replaced(program.text(nvrtc.log_size, nvrtc.log), name, path);
  if (code != 0) {
    Error error = log_error(request, out.log.empty() ? nvrtc.error_string(code) : out.log);
    if (name != path && error.text().find("ptxas") != std::string::npos)
      error.notes.push_back(
          "NVRTC cannot name headers with device code in a folder whose name holds "
          "a quotation mark: rename the folder");
    return error;
  }
  const std::string ptx =
      replaced(program.text(nvrtc.ptx_size, nvrtc.ptx), escaped(name), escaped(path));
  out.ptx = relative_files(ptx, source_directory(request), folders);
  for (const std::string& entry : request.entries) {
    const char* lowered = nullptr;
    if (is_template(entry) && nvrtc.lowered_name(program.handle, entry.c_str(), &lowered) == 0 &&
        lowered)
      out.names[entry] = lowered;
  }
  return out;
}

} // namespace

std::string source_directory(const CompileRequest& request) {
  std::error_code ignored;
  const fs::path folder = request.directory.empty() ? fs::path(".") : fs::path(request.directory);
  const fs::path whole = fs::weakly_canonical(folder, ignored);
  return ignored ? folder.string() : whole.string();
}

std::string source_path(const CompileRequest& request) {
  return (fs::path(source_directory(request)) / request.file).lexically_normal().string();
}

std::vector<std::string> compile_flags(const CompileRequest& request) {
  std::vector<std::string> out = {"-lineinfo"};
  const fs::path folder = source_directory(request);
  for (size_t i = 0; i < request.flags.size(); ++i) {
    std::string flag = request.flags[i];
    if (flag == "-G") out.erase(out.begin()); // -G carries its own lines and excludes -lineinfo
    if ((flag == "-I" || flag == "-D") && i + 1 < request.flags.size()) flag += request.flags[++i];
    if (flag.rfind("-I", 0) == 0 && flag.size() > 2)
      flag = "-I" + (folder / flag.substr(2)).string();
    out.push_back(flag);
  }
  return out;
}

Result<CompiledPtx> compile_cuda(const CompileRequest& request) {
  const Surroundings surroundings = Surroundings::of_this_process();
  const std::string nvcc = find_nvcc(surroundings);
  Result<std::unique_ptr<Nvrtc>> nvrtc = load_nvrtc(surroundings);
  if (nvrtc) {
    Result<CompiledPtx> compiled = compile_with(**nvrtc, request);
    if (compiled || nvcc.empty() || !asks_for_host(compiled.error())) return compiled;
    // A whole program. What nvcc says of a line tells more than what NVRTC makes of host code; but
    // without a host compiler, say, it cannot speak of the source at all.
    Result<CompiledPtx> whole = compile_with_nvcc(nvcc, request);
    return whole || whole.error().span.line ? whole : compiled;
  }
  if (nvcc.empty() || !surroundings.assay_nvrtc.empty()) return nvrtc.error();
  Result<std::string> source = read_file(source_path(request));
  if (!source) return source.error();
  return compile_with_nvcc(nvcc, request);
}

} // namespace assay::compile
