// Device models, launch limits, residency. Sources: CUDA C++ Programming Guide 13.0, table
// "Technical Specifications per Compute Capability"; SM counts from NVIDIA's data sheets.
#include "vgpu/launch_order.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace assay::vgpu {

namespace {
constexpr uint64_t kMostCtas = uint64_t(1) << 26;

//                        name       SMs  regs   smem/SM smem/CTA threads CTAs cc
const DeviceModel kModels[] = {
    {"v100", 80, 65536, 98304, 98304, 2048, 32, 70},
    {"t4", 40, 65536, 65536, 65536, 1024, 16, 75},
    {"a100", 108, 65536, 167936, 166912, 2048, 32, 80},
    {"a10", 72, 65536, 102400, 101376, 1536, 16, 86},
    {"rtx3090", 82, 65536, 102400, 101376, 1536, 16, 86},
    {"rtx4090", 128, 65536, 102400, 101376, 1536, 24, 89},
    {"l40", 142, 65536, 102400, 101376, 1536, 24, 89},
    {"h100", 132, 65536, 233472, 232448, 2048, 32, 90},
    {"h200", 132, 65536, 233472, 232448, 2048, 32, 90},
    {"b200", 148, 65536, 233472, 232448, 2048, 32, 100},
    {"rtx5090", 170, 65536, 102400, 101376, 1536, 24, 120},
};
} // namespace

Result<DeviceModel> device_model(const std::string& name) {
  std::string known;
  for (const DeviceModel& m : kModels) {
    if (m.name == name) return m;
    known += (known.empty() ? "" : ", ") + m.name;
  }
  Error e = usage_error("unknown device model '" + name + "'");
  e.notes.push_back("known models: " + known);
  return e;
}

Result<void> validate(const JobSpec& job) {
  for (const LaunchSpec& l : job.launches) {
    const ir::Program& p = *l.program;
    uint64_t threads = uint64_t(l.block[0]) * l.block[1] * l.block[2];
    uint64_t ctas = uint64_t(l.grid[0]) * l.grid[1] * l.grid[2];
    auto list = [](const uint32_t(&v)[3]) { return fmt::format("{},{},{}", v[0], v[1], v[2]); };
    if (!threads || !ctas)
      return usage_error(fmt::format("grid {} and block {} must be at least 1 in each dimension",
                                     list(l.grid), list(l.block)));
    if (threads > 1024 || l.block[0] > 1024 || l.block[1] > 1024 || l.block[2] > 64)
      return usage_error(
          fmt::format("block {} has {} threads; the limits are 1024 in all and 1024,1024,64",
                      list(l.block), threads));
    if (l.grid[0] > 0x7fffffffu || l.grid[1] > 65535 || l.grid[2] > 65535)
      return usage_error(
          fmt::format("grid {} exceeds the limits 2147483647,65535,65535", list(l.grid)));
    if (ctas > kMostCtas)
      return usage_error(fmt::format("grid {} has {} CTAs; the virtual GPU runs at most 2^26",
                                     list(l.grid), ctas));
    for (int k = 0; k < 3; ++k) {
      if (p.req_ntid[0] && p.req_ntid[k] != l.block[k])
        return usage_error(fmt::format("block {} differs from the kernel's .reqntid {}",
                                       list(l.block), list(p.req_ntid)));
      if (l.cluster[k] == 0 || l.grid[k] % l.cluster[k])
        return usage_error(
            fmt::format("grid {} is not a multiple of cluster {}", list(l.grid), list(l.cluster)));
    }
    uint64_t max_threads =
        uint64_t(p.max_ntid[0]) * std::max(p.max_ntid[1], 1u) * std::max(p.max_ntid[2], 1u);
    if (p.max_ntid[0] && threads > max_threads)
      return usage_error(
          fmt::format("block {} has {} threads, but the kernel was compiled for at most {} "
                      "(.maxntid)",
                      list(l.block), threads, max_threads));
    uint64_t shared = uint64_t(p.static_shared_bytes) + l.dynamic_shared;
    if (shared > job.device.shared_per_cta)
      return usage_error(
          fmt::format("{} bytes of shared memory ({} static, {} dynamic) exceed the {} bytes "
                      "that a CTA can have on {}",
                      shared, p.static_shared_bytes, l.dynamic_shared, job.device.shared_per_cta,
                      job.device.name));
    if (l.cooperative && ctas > residency(l, job.device)) // cudaErrorCooperativeLaunchTooLarge
      return usage_error(
          fmt::format("a cooperative launch of {} CTAs: only {} of them can be resident at once on "
                      "{}, and a cooperative launch must not have more",
                      ctas, residency(l, job.device), job.device.name));
    if (l.arguments.size() != p.parameters.size())
      return usage_error(fmt::format("kernel {} takes {} argument{}, {} given", p.kernel,
                                     p.parameters.size(), p.parameters.size() == 1 ? "" : "s",
                                     l.arguments.size()));
    for (size_t i = 0; i < l.arguments.size(); ++i)
      if (l.arguments[i].bytes.size() != p.parameters[i].bytes)
        return usage_error(fmt::format(
            "argument {} has {} bytes, but parameter {} ({}) of {} takes {}", i,
            l.arguments[i].bytes.size(), i, p.parameters[i].name, p.kernel, p.parameters[i].bytes));
  }
  uint64_t together = 0; // in the stage so far: they get numbers through all of its launches
  const LaunchOrder order = launch_order(job);
  for (uint32_t i = 0; i < job.launches.size(); ++i) {
    together = (order.stage[i] == i ? 0 : together) + ctas_of(job.launches[i]);
    if (together > kMostCtas)
      return usage_error("launches that may overlap have more than 2^26 CTAs together");
  }
  return {};
}

uint64_t residency(const LaunchSpec& launch, const DeviceModel& d) {
  const ir::Program& p = *launch.program;
  uint64_t threads = uint64_t(launch.block[0]) * launch.block[1] * launch.block[2];
  uint64_t warps = (threads + 31) / 32;
  uint64_t shared =
      p.static_shared_bytes + uint64_t(launch.dynamic_shared) + 1024; // reserved by the system
  uint32_t registers =
      p.max_registers ? p.max_registers : std::clamp(p.register_estimate, 16u, 255u);
  uint64_t per_warp = (uint64_t(registers) * 32 + 255) / 256 * 256;
  uint64_t by_threads = d.threads_per_sm / (warps * 32),
           by_registers = d.registers_per_sm / (per_warp * warps);
  uint64_t by_shared = d.shared_per_sm / shared;
  uint64_t per_sm = std::min({uint64_t(d.ctas_per_sm), by_threads, by_registers, by_shared});
  return std::max<uint64_t>(1, per_sm) * d.sms;
}

} // namespace assay::vgpu
