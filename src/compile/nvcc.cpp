// Runs `nvcc -ptx` on the source; PTX and messages go to files in a private temporary folder.
#include "compile/nvcc.hpp"

#include "base/file.hpp"

#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay::compile {
namespace fs = std::filesystem;
namespace {

struct TemporaryFolder {
  std::string path = (fs::temp_directory_path() / "assay-nvcc-XXXXXX").string();
  bool made = mkdtemp(path.data()) != nullptr;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (made) fs::remove_all(path, ignored);
  }
};

// The exit code, or −1 when the program could not be started or was killed.
int run(const std::vector<std::string>& command, const std::string& log) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  const int failed = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failed || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

} // namespace

Result<CompiledPtx> compile_with_nvcc(const std::string& nvcc, const CompileRequest& request) {
  const TemporaryFolder folder;
  if (!folder.made) return environment_error("cannot make the temporary folder " + folder.path);
  const std::string ptx = folder.path + "/out.ptx", log = folder.path + "/log";
  std::vector<std::string> command = {nvcc, "-ptx", "-arch=" + request.arch};
  for (const std::string& flag : compile_flags(request)) command.push_back(flag);
  command.insert(command.end(), {"-o", ptx, source_path(request)});
  const int code = run(command, log);
  if (code < 0) return environment_error("cannot run " + nvcc);
  CompiledPtx out;
  out.compiler = "nvcc";
  Result<std::string> said = read_file(log);
  if (said) out.log = *said;
  if (code != 0) return log_error(request, out.log);
  Result<std::string> text = read_file(ptx);
  if (!text) return text.error();
  const std::string toolkit = fs::path(nvcc).parent_path().parent_path().string();
  out.ptx = relative_files(*text, source_directory(request),
                           {toolkit + "/include", toolkit + "/targets/x86_64-linux/include"});
  return out;
}

} // namespace assay::compile
