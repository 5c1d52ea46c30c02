// Starting and listening; see parent.hpp. The socket lies in a folder that only this user can
// enter.
#include "native/parent.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay::native {
namespace fs = std::filesystem;
namespace {

constexpr const char* kInjectionVariable = "CUDA_INJECTION64_PATH";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

class Listener {
public:
  ~Listener() {
    for (auto& [fd, decoder] : connections_) ::close(fd);
    if (socket_ >= 0) ::close(socket_);
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }
  Result<void> open() {
    std::string pattern = variable("TMPDIR");
    pattern = (pattern.empty() || pattern.size() > 60 ? "/tmp" : pattern) + "/assay-XXXXXX";
    if (!::mkdtemp(pattern.data()))
      return environment_error("cannot make a folder: " + std::string(std::strerror(errno)));
    folder_ = pattern;
    path_ = folder_ + "/socket";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
    socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket_ < 0 ||
        ::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(socket_, 64) != 0)
      return environment_error("cannot listen on " + path_ + ": " + std::strerror(errno));
    return {};
  }
  const std::string& path() const { return path_; }
  bool idle() const { return connections_.empty(); }

  // Waits for at most this long and takes what has come.
  void step(int milliseconds, const std::string& greeting,
            const std::function<void(const Message&)>& take) {
    std::vector<pollfd> fds = {{socket_, POLLIN, 0}};
    for (auto& [fd, decoder] : connections_) fds.push_back({fd, POLLIN, 0});
    if (::poll(fds.data(), fds.size(), milliseconds) <= 0) return;
    if (fds[0].revents & POLLIN) accept_one(greeting);
    for (size_t i = 1; i < fds.size(); ++i)
      if (fds[i].revents) receive(fds[i].fd, take);
  }

private:
  void accept_one(const std::string& greeting) {
    int fd = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    // Small, so that it fits the socket's buffer at once.
    if (::send(fd, greeting.data(), greeting.size(), MSG_NOSIGNAL) != ssize_t(greeting.size())) {
      ::close(fd);
      return;
    }
    connections_[fd];
  }
  void receive(int fd, const std::function<void(const Message&)>& take) {
    char buffer[65536];
    ssize_t got = ::recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    Decoder& decoder = connections_[fd];
    if (got > 0) {
      decoder.feed({buffer, size_t(got)});
      for (Message message; decoder.next(message);) take(message);
    }
    if (got <= 0 || decoder.broken()) {
      ::close(fd);
      connections_.erase(fd);
    }
  }

  std::string folder_, path_;
  int socket_ = -1;
  std::map<int, Decoder> connections_;
};

[[noreturn]] void become(const std::vector<std::string>& command, const std::string& socket,
                         const std::string& library) {
  ::setenv(kSocketVariable, socket.c_str(), 1);
  ::setenv(kInjectionVariable, library.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  const int why = errno;
  std::string text = "assay: cannot start " + command[0] + ": " + std::strerror(why) + "\n";
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) ::_exit(126);
  ::_exit(why == ENOENT ? 127 : 126);
}

Exit exit_of(int status) {
  if (WIFSIGNALED(status)) return {false, WTERMSIG(status)};
  return {true, WEXITSTATUS(status)};
}

void add_if_there(const fs::path& file, std::vector<std::string>& out) {
  std::error_code ignored;
  if (fs::exists(file, ignored)) out.push_back(file.string());
}

void add_python(const fs::path& prefix, std::vector<std::string>& out) {
  std::error_code ignored;
  for (fs::directory_iterator it(prefix / "lib", ignored), end; !ignored && it != end;
       it.increment(ignored)) {
    if (it->path().filename().string().rfind("python3", 0) != 0) continue;
    for (const char* toolkit : {"cu13", "cuda_sanitizer_api"})
      for (const char* folder : {"lib", "compute-sanitizer"})
        add_if_there(
            it->path() / "site-packages/nvidia" / toolkit / folder / "libsanitizer-public.so", out);
  }
}

} // namespace

std::vector<std::string> sanitizer_candidates(const std::string& project) {
  std::vector<std::string> out;
  if (std::string chosen = variable("ASSAY_SANITIZER"); !chosen.empty()) return {chosen};
  // A toolkit first: its version is likely the driver's.
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (std::string root = variable(name); !root.empty())
      add_if_there(fs::path(root) / "compute-sanitizer/libsanitizer-public.so", out);
  std::vector<std::string> toolkits;
  std::error_code ignored;
  for (fs::directory_iterator it("/usr/local", ignored), end; !ignored && it != end;
       it.increment(ignored))
    if (it->path().filename().string().rfind("cuda", 0) == 0)
      toolkits.push_back(it->path().string());
  std::sort(toolkits.rbegin(), toolkits.rend());
  for (const std::string& root : toolkits)
    add_if_there(fs::path(root) / "compute-sanitizer/libsanitizer-public.so", out);
  if (!project.empty()) add_python(fs::path(project) / ".venv", out);
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (std::string root = variable(name); !root.empty()) add_python(root, out);
  return out;
}

std::string injection_library() {
  if (std::string chosen = variable("ASSAY_NATIVE_LIBRARY"); !chosen.empty()) return chosen;
  std::error_code ignored;
  const fs::path beside =
      fs::read_symlink("/proc/self/exe", ignored).parent_path() / "libassay-native.so";
  return fs::exists(beside, ignored) ? beside.string() : "";
}

Result<Started> run_command(const std::vector<std::string>& command, const Options& options,
                            const std::string& library,
                            const std::function<void(const Message&)>& heard) {
  if (std::string other = variable(kInjectionVariable); !other.empty())
    return environment_error("CUDA_INJECTION64_PATH is already set (" + other +
                             "): only one tool can watch a CUDA process");
  Listener listener;
  if (Result<void> opened = listener.open(); !opened) return opened.error();
  const pid_t child = ::fork();
  if (child < 0) return environment_error("cannot fork: " + std::string(std::strerror(errno)));
  if (child == 0) become(command, listener.path(), library);
  // Ctrl-C goes to the whole group; the command decides what it means, and we report what was
  // found.
  struct sigaction ignore{}, interrupt{}, quit{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGINT, &ignore, &interrupt);
  ::sigaction(SIGQUIT, &ignore, &quit);
  Started started;
  const std::string greeting = encode(to_message(options));
  auto take = [&](const Message& message) {
    if (message.kind == "kernel") started.reports.push_back(kernel_report(message));
    if (message.kind == "hello") started.processes.push_back(message);
    if (message.kind == "ended") started.endings.push_back(message);
    if (message.kind == "remark") started.remarks.push_back(message.get("text"));
    heard(message);
  };
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) listener.step(50, greeting, take);
  // What was said before the end is still in the sockets; processes that live on get two seconds.
  using Clock = std::chrono::steady_clock;
  const auto last = Clock::now() + std::chrono::seconds(2);
  do listener.step(10, greeting, take);
  while (!listener.idle() && Clock::now() < last);
  ::sigaction(SIGINT, &interrupt, nullptr);
  ::sigaction(SIGQUIT, &quit, nullptr);
  started.program = exit_of(status);
  return started;
}

} // namespace assay::native
