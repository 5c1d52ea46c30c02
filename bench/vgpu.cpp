// Speed of the virtual GPU on one core. A thread-instruction is one executed PTX instruction times
// the lanes that execute it; G/s is thousands of millions a second. Each kernel runs without checks
// beyond bounds and initialisation, and with race detection; both must leave the same digest. Time
// is that of the launch: making device memory and taking the results from it is left out.
#include "harness.hpp"

#include "base/file.hpp"
#include "base/random.hpp"
#include "ir/lower.hpp"
#include "vgpu/launch.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>

using namespace assay;
using namespace assay::bench;

namespace {

vgpu::BufferSpec floats(const char* name, size_t n) {
  vgpu::BufferSpec b{name, n * 4, {}, 256, true};
  b.data.resize(n * 4);
  for (size_t i = 0; i < n; ++i) {
    float v = float(int32_t(random_at(1, 2, i) >> 40)) * 0x1p-23f - 1.0f;
    std::memcpy(&b.data[i * 4], &v, 4);
  }
  return b;
}
vgpu::BufferSpec bytes(const char* name, size_t n) {
  vgpu::BufferSpec b{name, n, {}, 256, true};
  b.data.resize(n);
  for (size_t i = 0; i < n; ++i) b.data[i] = uint8_t(random_at(3, 4, i));
  return b;
}
vgpu::BufferSpec halves(const char* name, size_t n) {
  vgpu::BufferSpec b{name, n * 2, {}, 256, true};
  b.data.resize(n * 2);
  for (size_t i = 0; i < n; ++i) {
    uint16_t v = uint16_t(0x3000 + (random_at(5, 6, i) & 0x8bff)); // 0.125 … 1, either sign
    std::memcpy(&b.data[i * 2], &v, 2);
  }
  return b;
}
vgpu::BufferSpec integers(const char* name, const std::vector<uint32_t>& v) {
  vgpu::BufferSpec b{name, v.size() * 4, {}, 256, true};
  b.data.resize(v.size() * 4);
  std::memcpy(b.data.data(), v.data(), b.data.size());
  return b;
}
vgpu::BufferSpec output(const char* name, size_t n) { return {name, n, {}, 256, false}; }
vgpu::BufferSpec zeros(const char* name, size_t n) {
  return {name, n, std::vector<uint8_t>(n, 0), 256, false};
}

vgpu::Argument pointer(uint32_t buffer) { return {std::vector<uint8_t>(8, 0), {{0, buffer, 0}}}; }
vgpu::Argument number(uint32_t v) {
  vgpu::Argument a{std::vector<uint8_t>(4), {}};
  std::memcpy(a.bytes.data(), &v, 4);
  return a;
}
vgpu::Argument number(float v) { return number(std::bit_cast<uint32_t>(v)); }

struct Kernel {
  std::string name;
  vgpu::JobSpec job;
};

Kernel kernel(const char* name, std::vector<uint32_t> grid, std::vector<uint32_t> block,
              std::vector<vgpu::BufferSpec> buffers, std::vector<vgpu::Argument> arguments) {
  std::string path = std::string(ASSAY_SOURCE_DIR) + "/bench/kernels/" + name + ".ptx";
  auto text = read_file(path);
  if (!text) fmt::print(stderr, "{}\n", text.error().text()), std::exit(2);
  auto module = ptx::parse(*text, path);
  if (!module) fmt::print(stderr, "{}\n", module.error().text()), std::exit(2);
  auto program = ir::lower(std::make_shared<ptx::Module>(std::move(*module)), name);
  if (!program) fmt::print(stderr, "{}\n", program.error().text()), std::exit(2);
  Kernel k{name, {}};
  vgpu::LaunchSpec launch;
  launch.program = *program;
  for (size_t i = 0; i < grid.size(); ++i) launch.grid[i] = grid[i];
  for (size_t i = 0; i < block.size(); ++i) launch.block[i] = block[i];
  launch.arguments = std::move(arguments);
  k.job.buffers = std::move(buffers);
  k.job.launches.push_back(std::move(launch));
  auto ok = vgpu::validate(k.job);
  if (!ok) fmt::print(stderr, "{}: {}\n", name, ok.error().text()), std::exit(2);
  return k;
}

std::vector<Kernel> kernels() {
  std::vector<Kernel> all;
  all.push_back(kernel("arithmetic", {16}, {256}, {output("out", 16 * 256 * 4)},
                       {pointer(0), number(2000u)}));
  all.push_back(kernel("sgemm", {8, 8}, {32, 32},
                       {floats("a", 65536), floats("b", 65536), output("c", 262144)},
                       {pointer(0), pointer(1), pointer(2), number(256u)}));
  all.push_back(kernel("sgemm_tiled", {4, 4}, {256},
                       {floats("a", 65536), floats("b", 65536), output("c", 262144)},
                       {pointer(0), pointer(1), pointer(2), number(256u)}));
  all.push_back(kernel("stencil", {32, 128}, {32, 8},
                       {floats("in", 1 << 20), output("out", 4 << 20)},
                       {pointer(0), pointer(1), number(1024u), number(1024u)}));
  all.push_back(kernel("saxpy", {4096}, {256}, {floats("x", 1 << 20), floats("y", 1 << 20)},
                       {number(1u << 20), number(2.5f), pointer(0), pointer(1)}));
  all.back().job.buffers[1].expect_unwritten = false;
  all.push_back(kernel(
      "layer_norm", {256}, {256},
      {floats("x", 256 * 1024), floats("gain", 1024), floats("bias", 1024), output("y", 1 << 20)},
      {pointer(0), pointer(1), pointer(2), pointer(3), number(1024u)}));
  all.push_back(kernel("histogram", {64}, {256}, {bytes("data", 1 << 20), zeros("bins", 1024)},
                       {pointer(0), pointer(1), number(1u << 20)}));
  all.push_back(kernel("scan", {256}, {1024}, {bytes("in", 1 << 20), output("out", 1 << 20)},
                       {pointer(0), pointer(1)}));
  std::vector<uint32_t> start = {0}, column;
  for (uint32_t r = 0; r < 16384; ++r) {
    uint32_t n = 1 + random_at(7, 8, r) % 31;
    for (uint32_t k = 0; k < n; ++k) column.push_back(uint32_t(random_at(9, r, k) % 16384));
    start.push_back(uint32_t(column.size()));
  }
  size_t entries = column.size();
  all.push_back(
      kernel("spmv", {64}, {256},
             {integers("start", start), integers("column", column), floats("value", entries),
              floats("x", 16384), output("y", 65536)},
             {number(16384u), pointer(0), pointer(1), pointer(2), pointer(3), pointer(4)}));
  all.push_back(kernel("mma_gemm", {16, 8}, {32},
                       {halves("a", 128 * 256), halves("b", 128 * 256), output("c", 65536)},
                       {pointer(0), pointer(1), pointer(2), number(128u), number(256u)}));
  return all;
}

// What a launch of 4,096 CTAs takes beyond its buffers, the copies of them that are its result, and
// the shadow of the rows it touches. Measured first, while no other run has left memory behind.
void print_memory() {
  for (const Kernel& k : kernels()) {
    if (k.name != "saxpy") continue;
    uint64_t buffers = 0;
    for (const vgpu::BufferSpec& b : k.job.buffers) buffers += b.bytes;
    auto policy = schedule::make_policy("canonical", 1);
    forget_most();
    const Resident before = resident();
    vgpu::Outcome out = vgpu::run(k.job, *policy, {});
    auto mib = [](uint64_t bytes) { return double(bytes) / 0x1p20; };
    const double grown = mib(resident().most - before.now);
    const double copies = mib(2 * buffers), shadow = mib(out.shadow_bytes);
    fmt::print(
        "memory        {:.1f} MiB more during a launch of {} CTAs: buffers and results {:.1f}, "
        "shadow {:.1f}, all else {:.1f}\n\n",
        grown, k.job.launches[0].grid[0], copies, shadow, grown - copies - shadow);
  }
}

// For a profiler: one kernel, many times, with or without detection.
int profile(const std::string& name, bool detect, const char* level) {
  for (const Kernel& k : kernels()) {
    if (k.name != name) continue;
    auto policy = schedule::make_policy("canonical", 1);
    vgpu::RunOptions options;
    options.record_trace = false;
    options.detect = detect;
    options.level = level;
    double seconds = 0, instructions = 0;
    while (seconds < 0.15) {
      vgpu::Outcome out = vgpu::run(k.job, *policy, options);
      seconds += out.launch_seconds;
      instructions += double(out.thread_instructions);
    }
    fmt::print("{}: {:.2f} G/s\n", name, instructions / seconds / 1e9);
  }
  return 0;
}

} // namespace

// vgpu [KERNEL [on|off [LEVEL]]]: all kernels, one, or one for a profiler.
int main(int argc, char** argv) {
  if (argc > 2) return profile(argv[1], std::string(argv[2]) == "on", argc > 3 ? argv[3] : "");
  if (argc == 1) print_memory();
  fmt::print("processor     {}\n", processor());
  fmt::print("vector level  {}\n", vector_level());
  const double peak = peak_gflops();
  fmt::print("f32 peak      {:.1f} GFLOP/s on one core: {:.1f} G multiply-adds/s\n\n", peak,
             peak / 2);
  Table table;
  table.head = {"kernel",        "M thread-inst", "G/s",        "of peak",
                "G/s detecting", "slowdown",      "shadow KiB", "digests"};
  bool equal = true;
  for (const Kernel& k : kernels()) {
    if (argc > 1 && k.name != argv[1]) continue;
    auto policy = schedule::make_policy("canonical", 1);
    vgpu::RunOptions options;
    options.record_trace = false;
    vgpu::Outcome plain, detecting;
    // Alternately, so that both see the same machine.
    std::vector<double> off_times, on_times, share, slowdown;
    for (int i = 0; i < 10; ++i) {
      options.detect = false;
      plain = vgpu::run(k.job, *policy, options);
      options.detect = true;
      detecting = vgpu::run(k.job, *policy, options);
      if (i == 0) continue;
      off_times.push_back(plain.launch_seconds);
      on_times.push_back(detecting.launch_seconds);
      double speed = double(plain.thread_instructions) / plain.launch_seconds / 1e9;
      share.push_back(speed / (peak_now() / 2));
      slowdown.push_back(detecting.launch_seconds / plain.launch_seconds);
    }
    double off = median(off_times), on = median(on_times);
    for (const vgpu::Outcome* o : {&plain, &detecting})
      for (const vgpu::Event& e : o->events)
        fmt::print("{}: {} {}\n", k.name, vgpu::kind_name(e.kind), e.message);
    double n = double(plain.thread_instructions);
    bool same = plain.digest == detecting.digest && plain.completed && detecting.completed;
    equal &= same;
    table.rows.push_back(
        {k.name, fmt::format("{:.1f}", n / 1e6), fmt::format("{:.2f}", n / off / 1e9),
         fmt::format("{:.0f} %", median(share) * 100), fmt::format("{:.2f}", n / on / 1e9),
         fmt::format("{:.2f}", median(slowdown)), fmt::format("{}", detecting.shadow_bytes / 1024),
         same ? "equal" : "DIFFER"});
  }
  fmt::print("{}", table.text());
  return equal ? 0 : 1;
}
