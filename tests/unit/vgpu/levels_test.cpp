// Every build of the handlers leaves the same bytes: portable, AVX2, AVX-512; detection on and off;
// registers of the whole benchmark set.
#include "job.hpp"

namespace assay::vgpu::test {
namespace {

JobSpec bench_job(const std::string& name, uint32_t grid_x, uint32_t grid_y, uint32_t block_x,
                  uint32_t block_y, std::vector<uint64_t> buffers,
                  const std::vector<std::pair<size_t, uint32_t>>& scalars) {
  std::string path = std::string(ASSAY_SOURCE_DIR) + "/bench/kernels/" + name + ".ptx";
  auto text = read_file(path);
  EXPECT_TRUE(text);
  auto module = ptx::parse(*text, path);
  EXPECT_TRUE(module) << module.error().text();
  auto program = ir::lower(std::make_shared<ptx::Module>(std::move(*module)), name);
  EXPECT_TRUE(program) << program.error().text();
  JobSpec job;
  LaunchSpec l;
  l.program = *program;
  l.grid[0] = grid_x, l.grid[1] = grid_y, l.block[0] = block_x, l.block[1] = block_y;
  size_t b = 0;
  for (size_t i = 0; i < l.program->parameters.size(); ++i) {
    bool scalar = false;
    for (auto [at, value] : scalars)
      if (at == i) {
        scalar = true;
        Argument a{std::vector<uint8_t>(4), {}};
        std::memcpy(a.bytes.data(), &value, 4);
        l.arguments.push_back(a);
      }
    if (scalar) continue;
    BufferSpec spec{fmt::format("b{}", b), buffers[b], std::vector<uint8_t>(buffers[b]), 256,
                    b + 1 < buffers.size()};
    for (size_t k = 0; k + 4 <= spec.data.size(); k += 4) {
      uint32_t v = 0x3f000000u + uint32_t(k * 2654435761u >> 10 & 0x7fffff);
      std::memcpy(&spec.data[k], &v, 4);
    }
    job.buffers.push_back(std::move(spec));
    l.arguments.push_back({std::vector<uint8_t>(8, 0), {{0, uint32_t(b++), 0}}});
  }
  job.launches.push_back(std::move(l));
  return job;
}

TEST(Levels, SameBytesAtEveryLevelWithAndWithoutDetection) {
  std::vector<JobSpec> jobs = {
      bench_job("arithmetic", 2, 1, 100, 1, {800}, {{1, 10}}),
      bench_job("sgemm", 2, 2, 32, 32, {16384, 16384, 16384}, {{3, 64}}),
      bench_job("stencil", 3, 10, 32, 8, {80 * 80 * 4, 80 * 80 * 4}, {{2, 80}, {3, 80}}),
      bench_job("saxpy", 5, 1, 256, 1, {4004, 4004}, {{0, 1001}, {1, 0x40200000}}),
      bench_job("layer_norm", 3, 1, 96, 1, {3 * 250 * 4, 1000, 1000, 3 * 250 * 4}, {{4, 250}}),
      bench_job("histogram", 3, 1, 128, 1, {5000, 1024}, {{2, 5000}}),
      bench_job("scan", 2, 1, 1024, 1, {8192, 8192}, {}),
  };
  for (size_t i = 0; i < jobs.size(); ++i) {
    RunOptions options;
    options.level = "portable";
    Outcome first = run_with(jobs[i], "canonical", 1, options);
    ASSERT_TRUE(first.completed) << i << ' ' << kind_name(first.events[0].kind) << ' '
                                 << first.events[0].message;
    for (const char* level : {"portable", "avx2", "avx512"})
      for (bool detect : {false, true}) {
        options.level = level;
        options.detect = detect;
        Outcome o = run_with(jobs[i], "canonical", 1, options);
        EXPECT_EQ(o.digest, first.digest) << i << ' ' << level << ' ' << detect;
        EXPECT_EQ(o.thread_instructions, first.thread_instructions);
        for (const auto& l : o.conflicts)
          for (const auto& c : l.conflicts) EXPECT_EQ(c.kind, race::Conflict::Kind::order) << i;
      }
    for (const std::string& policy : schedule::policy_names()) {
      if (i == 5) continue; // the merge of the histogram is atomic: same sums, checked below
      EXPECT_EQ(run_with(jobs[i], policy, 5).digest, first.digest) << i << ' ' << policy;
    }
  }
}

} // namespace
} // namespace assay::vgpu::test
