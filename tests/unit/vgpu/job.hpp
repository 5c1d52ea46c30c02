// Jobs from PTX text, for tests of the virtual GPU.
#pragma once

#include "base/file.hpp"
#include "ir/lower.hpp"
#include "vgpu/launch.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

namespace assay::vgpu::test {

// One launch of kernel `k` in `body`'s module; buffers are zero-filled, one pointer parameter each.
inline JobSpec job(const std::string& ptx, uint32_t grid, uint32_t block,
                   std::vector<uint64_t> buffers, const std::string& entry = "k") {
  auto module = ptx::parse(ptx, "test.ptx");
  EXPECT_TRUE(module) << module.error().text();
  auto program = ir::lower(std::make_shared<ptx::Module>(std::move(*module)), entry);
  EXPECT_TRUE(program) << program.error().text();
  JobSpec job;
  LaunchSpec launch;
  launch.program = *program;
  launch.grid[0] = grid;
  launch.block[0] = block;
  for (size_t i = 0; i < buffers.size(); ++i) {
    job.buffers.push_back(
        {fmt::format("b{}", i), buffers[i], std::vector<uint8_t>(buffers[i], 0), 256, false});
    launch.arguments.push_back({std::vector<uint8_t>(8, 0), {{0, uint32_t(i), 0}}});
  }
  job.launches.push_back(std::move(launch));
  auto ok = validate(job);
  EXPECT_TRUE(ok) << ok.error().text();
  return job;
}

inline std::string header(const char* parameters) {
  return std::string(".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(") +
         parameters + ") {\n";
}

inline Outcome run_with(const JobSpec& job, const std::string& policy, uint64_t seed,
                        RunOptions options = {}) {
  auto p = schedule::make_policy(policy, seed);
  return run(job, *p, options);
}

inline uint32_t word(const Outcome& o, size_t buffer, size_t index) {
  uint32_t v;
  std::memcpy(&v, o.memory[buffer].data() + index * 4, 4);
  return v;
}

} // namespace assay::vgpu::test
