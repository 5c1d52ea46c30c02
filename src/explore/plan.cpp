// How a planned run is made, and where its conflicts are; see plan.hpp.
#include "explore/plan.hpp"

#include "ir/address_uses.hpp"
#include "ir/source.hpp"
#include "vgpu/launch_order.hpp"
#include "vgpu/runtime_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace assay::explore {

vgpu::Outcome perform(const vgpu::JobSpec& job, const Planned& plan, const Options& options) {
  auto policy = schedule::make_policy(plan.policy, plan.seed);
  vgpu::RunOptions run;
  run.step_budget = plan.step_budget ? plan.step_budget : options.step_budget;
  run.deadline = options.deadline;
  run.detect = plan.detect;
  run.arms = plan.arms;
  run.poison = plan.poison;
  run.hash_path = plan.hash_path;
  run.one_float_order = plan.one_float_order;
  run.vary = plan.vary;
  run.only_cta = plan.only_cta;
  run.fence_order = plan.fence_order;
  run.reach = options.reach;
  run.level = options.level;
  vgpu::Outcome out = vgpu::run(job, *policy, run);
  stamp(out.trace, job, plan.seed);
  return out;
}

bool same_result(const vgpu::JobSpec& job, const vgpu::Outcome& a, const vgpu::Outcome& b) {
  if (a.completed != b.completed || a.digest == b.digest) return a.completed == b.completed;
  for (const Difference& d : differences(a, b))
    if (std::none_of(job.buffers.begin(), job.buffers.end(), [&](const vgpu::BufferSpec& buffer) {
          return buffer.scratch && buffer.name == d.buffer;
        }))
      return false;
  return true;
}

vgpu::Outcome guided(const vgpu::JobSpec& job, const schedule::Trace& trace,
                     const Options& options) {
  Result<vgpu::RunOptions> run = options_of(trace, options);
  if (!run) return {};
  run->detect = true;
  run->reach = options.reach;
  run->deadline = options.deadline;
  uint64_t preemptions = 0;
  return vgpu::run(job, *schedule::make_guided(trace, preemptions), *run);
}

bool has_fence_sc(const vgpu::JobSpec& job) {
  for (const vgpu::LaunchSpec& launch : job.launches)
    for (const ir::Op& op : launch.program->ops)
      if (op.code == ir::OpCode::fence && ir::Semantics(op.imm & 255) == ir::Semantics::sc)
        return true;
  return false;
}

std::optional<race::AccessInfo> strong_access(const ir::Program& program, uint32_t pc) {
  const ir::Op& op = program.ops[pc];
  using C = ir::OpCode;
  const bool atomic = op.code == C::atom || op.code == C::red;
  if (!atomic && op.code != C::ld && op.code != C::st) return std::nullopt;
  race::AccessInfo info;
  info.pc = pc;
  info.strong = true;
  info.atomic = atomic;
  info.write = atomic || op.code == C::st;
  info.read = atomic || !info.write;
  info.elements = program.mem[op.c].vector;
  info.bytes = uint8_t(program.mem[op.c].bytes * info.elements);
  return info;
}

vgpu::Place place_of(const vgpu::JobSpec& job, uint32_t launch, const race::Conflict& conflict,
                     const race::Side& side) {
  vgpu::Place at;
  at.launch = launch + side.grid;
  at.pc = side.info.pc;
  at.agent = side.agent;
  at.agent.cta -= vgpu::launch_order(job).first_cta[at.launch];
  at.lane = side.lane;
  const char* what = side.info.atomic ? "atomic" : side.info.write ? "store" : "load";
  at.operation = fmt::format("{} of {} bytes", what, side.info.bytes);
  at.has_address = true;
  if (conflict.space == race::Space::shared) {
    at.region = "shared";
    at.offset = conflict.address;
    return at;
  }
  uint64_t window = ir::window_of(conflict.address);
  if (window == vgpu::kWorkspaceWindow || window >= vgpu::kFirstHeapWindow) {
    bool heap = window >= vgpu::kFirstHeapWindow;
    at.region = heap ? "a block of the heap" : "the runtime's grid barrier";
    at.offset =
        heap ? ir::offset_of(conflict.address) & 0xfff : ir::offset_of(conflict.address) - 0x100;
    return at;
  }
  bool buffer = window < ir::kFirstModuleWindow;
  const ir::Program& program = *job.launches[launch].program;
  uint64_t index = window - (buffer ? ir::kFirstBufferWindow : ir::kFirstModuleWindow);
  at.region = buffer ? job.buffers[index].name : program.globals[index].name;
  uint64_t align = buffer ? job.buffers[index].align : 0;
  uint64_t base = buffer ? ir::window_base(window) + (align >= 256 ? 0x100 : 0x100 + align)
                         : program.globals[index].address;
  at.offset = conflict.address - base;
  return at;
}

namespace {
// Arguments that hold addresses of functions are bytes like others.
void function_pointers(const vgpu::LaunchSpec& launch, size_t i,
                       std::vector<ir::BufferPointer>& pointers) {
  const std::vector<uint8_t>& bytes = launch.arguments[i].bytes;
  for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, 8);
    if (ir::window_of(value) == ir::kFunctionWindow)
      pointers.push_back(
          {launch.program->parameters[i].offset + uint32_t(at), ir::kFunctionPointer, 1});
  }
}
} // namespace

std::vector<std::string> address_uses(const vgpu::JobSpec& job) {
  for (const vgpu::LaunchSpec& launch : job.launches) {
    std::vector<ir::BufferPointer> pointers;
    for (size_t i = 0; i < launch.arguments.size(); ++i)
      for (const vgpu::Argument::Pointer& p : launch.arguments[i].pointers)
        pointers.push_back({launch.program->parameters[i].offset + p.offset, p.buffer,
                            job.buffers[p.buffer].align});
    for (size_t i = 0; i < launch.arguments.size(); ++i) function_pointers(launch, i, pointers);
    if (auto use = ir::address_used_as_data(*launch.program, pointers)) return {*use};
  }
  return {};
}

bool copies_asynchronously(const vgpu::JobSpec& job) {
  for (const vgpu::LaunchSpec& launch : job.launches)
    for (const ir::Op& op : launch.program->ops)
      if (op.code == ir::OpCode::cp_async) return true;
  return false;
}

bool inconclusive(vgpu::EventKind kind) {
  using K = vgpu::EventKind;
  return kind == K::budget || kind == K::unsupported || kind == K::out_of_memory ||
         kind == K::cancelled;
}

bool ended_early(const vgpu::Outcome& out) {
  for (const vgpu::Event& e : out.events)
    if (inconclusive(e.kind)) return true;
  return false;
}

std::string reason(const vgpu::JobSpec& job, const vgpu::Event& e) {
  if (e.places.empty()) return fmt::format("{}: {}", vgpu::kind_name(e.kind), e.message);
  const vgpu::Place& p = e.places[0];
  const ir::Program& program = *job.launches[p.launch].program;
  ir::SourcePlace at = ir::place(program, p.pc);
  std::string what = e.message;
  if (e.kind == vgpu::EventKind::unsupported && what.empty()) {
    const ptx::Instruction* i = program.sites[p.pc].instruction;
    what = i ? ptx::print(*i) : "operation";
  }
  // Of what stands in a CUDA header (compile::relative_files), the line that brought it in as well.
  std::string where = at.text();
  for (size_t i = 1; i < at.frames.size() && at.frames[i - 1].file.starts_with("cuda/"); ++i)
    if (!at.frames[i].file.starts_with("cuda/"))
      where += fmt::format(" for {}:{}", at.frames[i].file, at.frames[i].line);
  std::string text =
      fmt::format("{} {} ({}, PTX line {})", vgpu::kind_name(e.kind), what, where, at.ptx_line);
  if (e.kind == vgpu::EventKind::unsupported && what.starts_with("cp.async.bulk"))
    text += "; libcu++ copies by other means where it is compiled for --arch sm_80";
  return text;
}

} // namespace assay::explore
