// Resolving operations to source lines and agents to threads; see places.hpp.
#include "cli/places.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "ir/source.hpp"
#include "vgpu/launch_order.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <set>

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

bool is_below(const fs::path& path, const fs::path& folder) {
  const fs::path relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

// #line 4 "FILE", and # 4 "FILE" as preprocessors write it: such a source names files at will.
bool has_line_directive(const std::string& source) {
  Result<std::string> text = read_file(source);
  if (!text) return true;
  for (const std::string& line : split_lines(*text)) {
    if (!trim(line).starts_with("#")) continue;
    const std::string_view directive = trim(trim(line).substr(1));
    if (directive.starts_with("line") ||
        (!directive.empty() && std::isdigit(uint8_t(directive[0]))))
      return true;
  }
  return false;
}

// Is this a file whose lines a report may show? It may name what nobody compiled, /etc/passwd for
// one. What lies with the kernel is the user's own. Elsewhere are headers of -I folders, and
// sources of PTX that somebody made somewhere else: known by their names, and no #line leads there.
bool is_quotable(const cases::Kernel& kernel, const std::string& path) {
  static const std::set<std::string> sources = {
      ".c",  ".cc",  ".cl",  ".cpp", ".cu",  ".cuf", ".cuh", ".cxx", ".f90", ".h",
      ".hh", ".hpp", ".hxx", ".inc", ".inl", ".ipp", ".jl",  ".ptx", ".py",  ".rs"};
  std::error_code unknown;
  const fs::path file = fs::weakly_canonical(fs::absolute(path), unknown);
  for (const fs::path& folder : {fs::path(kernel.source).parent_path(), fs::path(kernel.directory)})
    if (is_below(file, fs::weakly_canonical(fs::absolute(folder.empty() ? "." : folder), unknown)))
      return true;
  const bool header = std::find(file.begin(), file.end(), "include") != file.end();
  if (!header && !sources.count(file.extension().string())) return false;
  return !kernel.source.ends_with(".cu") || !has_line_directive(kernel.source);
}

// A file of the PTX's .file table as seen from here; empty when it is not there, or not to be
// shown.
std::string readable(const cases::Case& subject, const std::string& name) {
  std::string path = cases::path_in(subject.kernel.directory, name);
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && is_quotable(subject.kernel, path) ? path : "";
}

// The user's own files come with the kernel; headers of the toolkit start with cuda/ or are
// absolute. Triton names every Python file by its absolute path, its own library's among them.
bool is_foreign(const std::string& name) {
  if (name.starts_with("cuda/") || name.starts_with("triton/")) return true;
  if (name.ends_with(".py"))
    return name.find("/triton/language/") != std::string::npos ||
           name.find("/triton/experimental/") != std::string::npos;
  return std::filesystem::path(name).is_absolute();
}

// The innermost frame of the user's own files, else the innermost of all.
const ir::SourceFrame* best_frame(const std::vector<ir::SourceFrame>& frames) {
  const ir::SourceFrame* best = nullptr;
  for (const ir::SourceFrame& frame : frames) {
    if (frame.file.empty() || !frame.line) continue;
    if (!is_foreign(frame.file)) return &frame;
    if (!best) best = &frame;
  }
  return best;
}

const ir::Function* enclosing(const ir::Program& program, uint32_t pc) {
  const ir::Function* found = nullptr;
  for (const ir::Function& function : program.functions)
    if (function.entry <= pc && (!found || function.entry > found->entry)) found = &function;
  return found;
}

// The toolkit's functions (with -G, atomicAdd() is one) say nothing to a user: the operation stands
// for the place that calls them, as long as there is only one.
uint32_t own_place(const ir::Program& program, uint32_t pc) {
  uint32_t site = pc;
  for (int depth = 0; depth < 16; ++depth) {
    const ir::SourcePlace place = ir::place(program, site);
    const ir::SourceFrame* frame = best_frame(place.frames);
    if (frame && !is_foreign(frame->file)) return site;
    const ir::Function* function = enclosing(program, site);
    uint32_t callee = function ? uint32_t(function - program.functions.data()) : 0, calls = 0;
    for (uint32_t i = 0; callee && i < program.ops.size(); ++i)
      if (program.ops[i].code == ir::OpCode::call && program.ops[i].imm == callee)
        site = i, ++calls;
    if (calls != 1) break;
  }
  return pc;
}

void split(uint64_t linear, const uint32_t (&extent)[3], uint32_t (&out)[3]) {
  out[0] = uint32_t(linear % extent[0]);
  out[1] = uint32_t(linear / extent[0] % extent[1]);
  out[2] = uint32_t(linear / extent[0] / extent[1]);
}

// File, line and function of a location whose PTX line is known.
void resolve(const cases::Case& subject, const std::vector<ir::SourceFrame>& frames,
             report::Location& out) {
  if (const ir::SourceFrame* frame = best_frame(frames)) {
    out.line = frame->line;
    out.column = frame->column;
    out.source = readable(subject, frame->file);
    out.file = out.source.empty() ? frame->file : out.source;
    if (!frame->function.empty()) out.function = cases::short_name(frame->function);
    return;
  }
  out.file =
      subject.kernel.ptx_file.empty() ? subject.kernel.source + ".ptx" : subject.kernel.ptx_file;
  out.source = subject.kernel.ptx_file;
  out.line = out.ptx_line;
}

} // namespace

report::Location place_of(const cases::Case& subject, uint32_t launch, uint32_t pc) {
  const ir::Program& program = *subject.job.launches[launch].program;
  report::Location out;
  if (pc >= program.sites.size()) return out;
  // An operation that lowering inserted belongs to the one before it.
  uint32_t at = own_place(program, pc);
  while (at > 0 && program.sites[at].ptx_line == 0 && program.sites[at].loc == 0) --at;
  ir::SourcePlace place = ir::place(program, at);
  out.function = cases::short_name(place.function);
  out.ptx_line = place.ptx_line;
  resolve(subject, place.frames, out);
  return out;
}

report::Location place_of(const cases::Case& subject, const ptx::Instruction& instruction) {
  report::Location out;
  out.ptx_line = instruction.position.line;
  resolve(subject, ir::frames(*subject.kernel.module, instruction), out);
  return out;
}

report::Location place_of(const cases::Case& subject, const vgpu::Place& place) {
  report::Location out = place_of(subject, place.launch, place.pc);
  out.operation = place.operation;
  const vgpu::LaunchSpec& launch = subject.job.launches[place.launch];
  if (place.agent.warp < race::kCopyAgent) {
    report::Thread thread;
    split(place.agent.cta, launch.grid, thread.block);
    split(uint64_t(place.agent.warp) * 32 + place.lane, launch.block, thread.thread);
    out.thread = thread;
  }
  const vgpu::LaunchOrder order = vgpu::launch_order(subject.job);
  if (const uint32_t first = order.stage[place.launch]; order.end(first) > first + 1)
    out.launch = fmt::format("launch {} ({})", place.launch, subject.launches[place.launch].kernel);
  if (place.has_address) {
    out.buffer = place.region.empty() ? report::kNoBuffer : place.region;
    out.offset = place.offset;
  }
  return out;
}

std::string who(const report::Location& location) {
  const std::string of = location.launch.empty() ? "" : " of " + location.launch;
  if (!location.thread) return "an asynchronous copy" + of;
  const auto& [block, thread] = *location.thread;
  return fmt::format("thread ({},{},{}) of block ({},{},{}){}", thread[0], thread[1], thread[2],
                     block[0], block[1], block[2], of);
}

std::string where(const report::Location& location) {
  std::string file = std::filesystem::path(location.file).filename().string();
  return location.line ? fmt::format("{}:{}", file, location.line) : file;
}

} // namespace assay::cli
