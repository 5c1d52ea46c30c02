// assay case: `new` writes a first case file from a kernel's signature, `compile` refreshes the PTX
// that is committed beside a .cu file.
#include "base/file.hpp"
#include "cases/case_file.hpp"
#include "cases/new_case.hpp"
#include "cli/outputs.hpp"
#include "cli/session.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <memory>

namespace assay::cli {
namespace {

struct Flags {
  std::vector<std::string> files;
  std::string file, entry, arch, output;
  std::vector<std::string> flags;
  bool force = false;
};

cases::KernelRequest request_of(const std::string& path, const Flags& flags) {
  cases::KernelRequest request;
  request.directory = std::filesystem::path(path).parent_path().string();
  request.file = std::filesystem::path(path).filename().string();
  if (!flags.arch.empty()) request.arch = flags.arch;
  request.flags = flags.flags;
  if (!flags.entry.empty()) request.entries.push_back(flags.entry);
  return request;
}

int new_case(const Flags& flags, const Session& session) {
  Result<cases::Kernel> kernel = cases::load_kernel(request_of(flags.file, flags));
  if (!kernel) return fail(kernel.error(), session, flags.file);
  std::optional<std::string> wanted;
  if (!flags.entry.empty()) wanted = flags.entry;
  Result<std::string> entry = cases::find_entry(*kernel, wanted, {});
  if (!entry) return fail(entry.error(), session, flags.file);
  cases::NewCase request;
  request.entry = *entry;
  request.file = std::filesystem::path(flags.file).filename().string();
  request.arch = !flags.arch.empty()              ? flags.arch
                 : kernel->module->target.empty() ? "sm_90"
                                                  : kernel->module->target[0];
  request.flags = flags.flags;
  request.kernel = std::move(*kernel);
  std::string text = cases::write_case(request);
  std::string output = flags.output;
  if (output.empty())
    output = std::filesystem::path(flags.file).replace_extension(".toml").string();
  if (output == "-") {
    print(text);
    return kPass;
  }
  std::error_code ignored;
  if (!flags.force && std::filesystem::exists(output, ignored))
    return fail(
        usage_error(fmt::format(
            "'{}' exists already; --force overwrites it, --output names another file", output)),
        session);
  if (Result<void> good = can_be_written(output); !good) return fail(good.error(), session);
  if (Result<void> done = write_file(output, text); !done) return fail(done.error(), session);
  print(fmt::format("wrote {}\nnext: {} check {}\n", output, session.program, quote(output)));
  return kPass;
}

int compile_cases(const Flags& flags, const Session& session) {
  for (const std::string& path : flags.files) {
    cases::KernelRequest request = request_of(path, flags);
    if (path.ends_with(".toml")) {
      Result<std::string> text = read_file(path);
      if (!text) return fail(text.error(), session, path);
      Result<cases::CaseFile> file = cases::parse_case_file(*text, path);
      if (!file) return fail(file.error(), session, path);
      request.file = file->source;
      if (!file->arch.empty()) request.arch = file->arch;
      request.flags = file->flags;
      request.entries = {file->entry};
    }
    Result<std::string> written = cases::refresh_ptx(request);
    if (!written) return fail(written.error(), session, path);
    print(fmt::format("wrote {}\n", *written));
  }
  return kPass;
}

} // namespace

void add_case(CLI::App& app, Session& session, int& code) {
  CLI::App* command =
      app.add_subcommand("case", "Write a first case file; refresh the PTX beside a case");
  command->require_subcommand(1);
  auto flags = std::make_shared<Flags>();

  CLI::App* first =
      command->add_subcommand("new", "Write a first case file from a kernel's signature");
  first->add_option("file", flags->file, "Kernel (.cu or .ptx)")->type_name("FILE")->required();
  first
      ->add_option("--output", flags->output,
                   "Where to write; - prints (default: beside the kernel)")
      ->type_name("FILE");
  first->add_flag("--force", flags->force, "Overwrite an existing file");
  first->callback([&session, &code, flags] { code = new_case(*flags, session); });

  CLI::App* compile = command->add_subcommand(
      "compile", "Compile the .cu file of a case and write its PTX beside it");
  compile->add_option("files", flags->files, "Case files or .cu files")
      ->type_name("FILE")
      ->required();
  compile->callback([&session, &code, flags] { code = compile_cases(*flags, session); });

  for (CLI::App* each : {first, compile}) {
    each->add_option("--entry", flags->entry, "The kernel, where there are several")
        ->type_name("NAME");
    each->add_option("--arch", flags->arch, "Target of the compilation")->type_name("sm_NN");
    each->add_option("--flag", flags->flags, "Compiler flag, as in --flag=-DN=4")
        ->type_name("FLAG");
  }
}

} // namespace assay::cli
