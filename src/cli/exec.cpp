// assay exec: one run under one schedule, with bounds, poison and race detection; what the kernel
// leaves can be written to files, compared and shown.
#include "base/file.hpp"
#include "cli/judge.hpp"
#include "inputs/npy.hpp"
#include "report/json.hpp"

#include <CLI/CLI.hpp>
#include <cstring>
#include <fmt/format.h>

namespace assay::cli {
namespace {

// The bytes of a buffer as --out writes them: 0xFF where nobody stored anything.
std::string bytes_of(const vgpu::Outcome& outcome, uint32_t buffer) {
  const auto& memory = outcome.memory[buffer];
  const auto& init = outcome.initialised[buffer];
  std::string out(memory.begin(), memory.end());
  if (!init.empty())
    for (size_t i = 0; i < out.size(); ++i)
      if (!(init[i / 8] >> (i % 8) & 1)) out[i] = char(0xff);
  return out;
}

Result<void> write_outs(const cases::Case& subject, const vgpu::Outcome& outcome) {
  for (const cases::Out& out : subject.outs) {
    std::string data = bytes_of(outcome, out.buffer);
    const cases::BufferInfo& info = subject.buffers[out.buffer];
    if (inputs::is_npy_name(out.file)) {
      inputs::DType type = info.dtype.value_or(inputs::DType::u8);
      uint64_t count = data.size() / inputs::bytes(type), product = 1;
      for (uint64_t extent : info.shape) product *= extent;
      data = inputs::print_npy(
          type, product == count && !info.shape.empty() ? info.shape : std::vector<uint64_t>{count},
          data);
    }
    if (Result<void> done = write_file(out.file, data); !done) return done;
  }
  return {};
}

std::string show(const cases::Case& subject, const vgpu::Outcome& outcome,
                 const cases::ShowBuffer& show) {
  const auto& memory = outcome.memory[show.buffer];
  const auto& init = outcome.initialised[show.buffer];
  size_t step = inputs::bytes(show.type), count = memory.size() / step;
  std::string out = fmt::format("{}: {}[{}]\n", subject.buffers[show.buffer].name,
                                inputs::format(show.type).name, count);
  size_t row = step >= 8 ? 4 : 8;
  for (size_t i = 0; i < count; ++i) {
    if (i % row == 0) out += fmt::format("{:>8}:", i);
    uint64_t bits = 0;
    std::memcpy(&bits, memory.data() + i * step, step);
    bool written = init.empty();
    for (size_t k = i * step; !written && k < (i + 1) * step; ++k)
      written = init[k / 8] >> (k % 8) & 1;
    out += " " + (written ? inputs::print_value(show.type, bits) : "-");
    if (i % row == row - 1 || i + 1 == count) out += "\n";
  }
  return out;
}

int exec(const Session& session) {
  const std::string& target = session.targets[0];
  Result<cases::Prepared> prepared = cases::prepare(target, session.options);
  if (!prepared) return fail(prepared.error(), session, target);
  Result<cases::Case> subject = cases::build(*prepared, 0);
  if (!subject) return fail(subject.error(), session, target);
  std::string policy = prepared->options.schedule.value_or("canonical");
  explore::Options options = explore_options(*prepared, session);
  explore::Report explored = policy == "all" ? explore::explore(subject->job, options)
                                             : explore::run_once(subject->job, policy, options);
  report::Verdict verdict = judge(
      {*prepared, *subject, 0, policy == "all" ? Command::determinism : Command::exec, session},
      explored);
  if (explored.first.memory.size() < subject->buffers.size()) return exit_code(verdict);
  if (Result<void> done = write_outs(*subject, explored.first); !done)
    return fail(done.error(), session, target);

  std::string shown = explored.first.printed;
  for (const cases::ShowBuffer& buffer : subject->shows)
    shown += show(*subject, explored.first, buffer);
  if (session.json) {
    std::fputs(shown.c_str(), stderr); // standard output holds the JSON alone
    print(report::print_json(verdict));
  } else {
    print(shown + report::print_terminal(verdict, session.style));
  }
  return exit_code(verdict);
}

} // namespace

void add_exec(CLI::App& app, Session& session, int& code) {
  CLI::App* command = app.add_subcommand(
      "exec", "Run one kernel once on raw buffers, with bounds, poison and race detection");
  add_common_flags(*command, session);
  add_target(*command, session, "Kernel (.ptx, .cu) with launch options, or a case file (.toml)");
  command->get_option("target")->expected(1);
  command->callback([&session, &code] { code = exec(session); });
}

} // namespace assay::cli
