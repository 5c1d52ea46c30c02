// Fuzzes execution: whatever lowers runs to an end or a finding within its step budget, and its
// trace replays to the same bytes. Two small CTAs, the second warp of each not full, under a policy
// that the text chooses. Started from the project's own PTX (fuzz/run).
#include "explore/explore.hpp"
#include "ir/lower.hpp"
#include "mutate.hpp"
#include "ptx/module.hpp"
#include "require.hpp"
#include "schedule/policies.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace {

using namespace assay;

vgpu::JobSpec job_of(std::shared_ptr<const ir::Program> program) {
  vgpu::JobSpec job;
  vgpu::LaunchSpec launch;
  launch.grid[0] = 2;
  launch.block[0] = 40;
  for (int k = 0; k < 3 && program->req_ntid[0]; ++k) launch.block[k] = program->req_ntid[k];
  launch.dynamic_shared = 1024;
  for (const ir::Parameter& p : program->parameters) {
    vgpu::Argument argument;
    argument.bytes.assign(p.bytes, 1);
    if (p.bytes == 8) {
      auto index = uint32_t(job.buffers.size());
      argument.pointers.push_back({0, index, 0});
      vgpu::BufferSpec buffer;
      buffer.name = p.name;
      buffer.bytes = 1024;
      if (index % 2 == 0) buffer.data.assign(buffer.bytes, uint8_t(index));
      buffer.expect_unwritten = index % 4 == 0;
      job.buffers.push_back(std::move(buffer));
    }
    launch.arguments.push_back(std::move(argument));
  }
  launch.program = std::move(program);
  job.launches.push_back(std::move(launch));
  return job;
}

void run(const vgpu::JobSpec& job, const std::string& policy_name) {
  constexpr uint64_t kBudget = 5000;
  auto policy = schedule::make_policy(policy_name, 1);
  vgpu::RunOptions options;
  options.step_budget = kBudget;
  vgpu::Outcome outcome = vgpu::run(job, *policy, options);
  explore::stamp(outcome.trace, job, 1);
  const std::string text = outcome.trace.text();
  auto trace = schedule::parse_trace(text, "fuzz.trace");
  require(trace.ok() && trace->text() == text);
  explore::Options again;
  again.step_budget = kBudget;
  auto replayed = explore::replay(job, *trace, again);
  require(replayed.ok());
  require(replayed->digest == outcome.digest && replayed->completed == outcome.completed);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  Result<ptx::Module> parsed = ptx::parse(text, "fuzz.ptx");
  if (!parsed) return 0;
  const auto module = std::make_shared<const ptx::Module>(std::move(*parsed));
  const char* const policies[] = {"canonical", "reverse", "random", "lane-split", "cta-shuffle"};
  for (const ptx::Function& function : module->functions) {
    if (!function.is_entry || !function.has_body) continue;
    auto program = ir::lower(module, function.name);
    if (!program) continue;
    vgpu::JobSpec job = job_of(*program);
    if (vgpu::validate(job)) run(job, policies[size % 5]);
  }
  return 0;
}
