// The parent's side of `assay run`: starts the command with the injection library in its
// environment, listens for what that library says from the command's process and from those that it
// starts.
#pragma once

#include "base/result.hpp"
#include "native/options.hpp"
#include "native/report.hpp"

#include <functional>

namespace assay::native {

struct Started {
  Exit program;
  std::vector<KernelReport> reports;
  std::vector<Message> processes; // one `hello` for each process that loaded the library
  std::vector<Message> endings;   // `ended`: a process that the library ended, and why
  std::vector<std::string> remarks;
};

// Runs the command to its end. `heard` is told of each message as it arrives.
Result<Started> run_command(const std::vector<std::string>& command, const Options& options,
                            const std::string& library,
                            const std::function<void(const Message&)>& heard);

// Places where libsanitizer-public.so may be: $ASSAY_SANITIZER, the project's .venv, the toolkits,
// Python environments. Those that exist, best first.
std::vector<std::string> sanitizer_candidates(const std::string& project);

// The injection library beside this program, or $ASSAY_NATIVE_LIBRARY; empty when it was not built.
std::string injection_library();

} // namespace assay::native
