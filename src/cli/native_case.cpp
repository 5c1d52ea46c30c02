// assay determinism --executor native: a case on this machine's GPU. The case runs in a process of
// its own (the hidden command native-worker), which is watched like any other.
#include "cases/case.hpp"
#include "cli/native.hpp"
#include "cli/numbers.hpp"
#include "native/gpu.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <unistd.h>

namespace assay::cli {
namespace {

constexpr uint32_t kLimitSeconds = 2; // cases are small
constexpr uint32_t kExtra = 60;       // further repeats of each kind of delay,
// Within this time: they take 15 ms on a card of one's own, a hundred times that where processes
// take turns.
constexpr uint32_t kExtraMilliseconds = 2000;

bool uses_function_address(const cases::Prepared& prepared) {
  for (const cases::LaunchGroup& launch : prepared.options.launches)
    for (const cases::Argument& argument : launch.arguments)
      if (argument.role == cases::Role::function) return true;
  return false;
}

native::GpuJob job_of(const cases::Case& subject) {
  native::GpuJob job;
  job.ptx = subject.kernel.ptx;
  job.limit_seconds = 8 * kLimitSeconds; // the examination waits for six before it gives up
  for (size_t i = 0; i < subject.job.buffers.size(); ++i) {
    const vgpu::BufferSpec& buffer = subject.job.buffers[i];
    native::GpuBuffer one{buffer.bytes, buffer.data, buffer.name};
    if (i < subject.buffers.size()) {
      const cases::BufferInfo& info = subject.buffers[i];
      one.output = info.role == cases::Role::out && info.written != cases::Written::partial &&
                   buffer.data.empty();
      one.input = info.role == cases::Role::in && info.declared;
    }
    job.buffers.push_back(std::move(one));
  }
  for (const vgpu::LaunchSpec& launch : subject.job.launches) {
    native::GpuLaunch out;
    out.symbol = launch.program->kernel;
    std::copy_n(launch.grid, 3, out.grid);
    std::copy_n(launch.block, 3, out.block);
    std::copy_n(launch.cluster, 3, out.cluster);
    out.shared = launch.dynamic_shared;
    out.cooperative = launch.cooperative;
    for (const vgpu::Argument& argument : launch.arguments) {
      native::GpuArgument one{argument.bytes, {}};
      for (const vgpu::Argument::Pointer& pointer : argument.pointers)
        one.pointers.push_back({pointer.offset, pointer.buffer, pointer.addend});
      out.arguments.push_back(std::move(one));
    }
    job.launches.push_back(std::move(out));
  }
  return job;
}

// What `run` leaves open, since a process may be at fault, or go on to release what its kernel
// waits for: here the kernel stands alone. A launch among several may wait for one that was not
// made yet.
void judge_ends(std::vector<native::KernelReport>& reports, bool one_launch) {
  for (native::KernelReport& report : reports) {
    if (report.verdict == native::Verdict::unknown && !report.kind.empty() &&
        (one_launch || report.kind != "hang"))
      report.verdict = native::Verdict::fail;
    // A kernel of a case file is there to do something; frameworks launch empty ones on purpose.
    for (const std::string& note : report.notes)
      if (note.rfind("empty-kernel", 0) == 0 && report.verdict == native::Verdict::pass) {
        report.verdict = native::Verdict::fail;
        report.kind = "empty-kernel";
      }
  }
}

int work(const Session& session, size_t variant) {
  const std::string& target = session.targets[0];
  Result<cases::Prepared> prepared = cases::prepare(target, session.options);
  if (!prepared) return fail(prepared.error(), session, target);
  if (variant >= prepared->variants) return fail(usage_error("no such variant"), session, target);
  if (uses_function_address(*prepared))
    return fail(unsupported("addresses of device functions as arguments"), session, target);
  Result<cases::Case> subject = cases::build(*prepared, variant);
  if (!subject) return fail(subject.error(), session, target);
  Result<std::vector<std::string>> ran = native::run_on_gpu(job_of(*subject));
  int code = ran ? int(kPass) : fail(ran.error(), session, target);
  for (const std::string& finding : ran ? *ran : std::vector<std::string>()) {
    print("finding: " + finding + "\n");
    code = kFail;
  }
  // Not through the driver's own end, which waits for kernels that hang.
  std::fflush(stdout);
  ::_exit(code);
}

} // namespace

int native_determinism(const Session& session) {
  const std::string& target = session.targets[0];
  Result<cases::Prepared> prepared = cases::prepare(target, session.options);
  if (!prepared) return fail(prepared.error(), session, target);
  std::error_code ignored;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  int code = kPass;
  for (size_t variant = 0; variant < prepared->variants; ++variant) {
    std::vector<std::string> command = {self, "native-worker", target, "--variant",
                                        std::to_string(variant)};
    command.insert(command.end(), session.typed.begin(), session.typed.end());
    native::Options options;
    options.settings.limit_seconds = kLimitSeconds;
    options.settings.extra = kExtra;
    options.settings.extra_ms = kExtraMilliseconds;
    options.settings.seed = session.options.seed.value_or(1);
    Result<native::Started> started = run_watched(command, options);
    if (!started) return fail(started.error(), session, target);
    judge_ends(started->reports, prepared->options.launches.size() == 1);
    if (prepared->variants > 1 && !session.json) print(fmt::format("== variant {}\n", variant));
    const int own = print_reports(*started, session.json, session.style.quiet);
    if (own == kFail || code == kPass) code = own;
  }
  return code;
}

void add_native_worker(CLI::App& app, Session& session, int& code) {
  CLI::App* command = app.add_subcommand("native-worker", "One variant of a case on the GPU");
  command->group(""); // not in the help: determinism --executor native starts it
  auto variant = std::make_shared<size_t>(0);
  command->add_option("target", session.targets, "A case")->required();
  command->add_option("--variant", *variant, "Which, from 0")->check(whole_number(0, UINT32_MAX));
  command->callback([&session, &code, variant] { code = work(session, *variant); });
}

} // namespace assay::cli
