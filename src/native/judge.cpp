// Verdicts; see judge.hpp. The rules are those of docs/native.md.
#include "native/judge.hpp"

#include <algorithm>

namespace assay::native {
namespace {

bool talks_to_others(const std::string& symbol) {
  for (const char* prefix : {"nccl", "nvshmem", "ncclDev", "_Z4nccl", "_Z8ncclDev"})
    if (symbol.rfind(prefix, 0) == 0) return true;
  return symbol.find("ncclKernel") != std::string::npos ||
         symbol.find("nvshmem") != std::string::npos;
}

std::string external_reason(const std::string& name) {
  if (name == "vprintf") return "prints from the device (printf), and would print again";
  if (name == "malloc" || name == "free" || name.find("Malloc") != std::string::npos)
    return "uses the device heap (malloc), which cannot be restored";
  if (name == "__assertfail") return ""; // an assertion that holds leaves no trace
  if (name.rfind("cudaLaunchDevice", 0) == 0 || name.rfind("cudaGetParameterBuffer", 0) == 0 ||
      name.rfind("__cudaCDP", 0) == 0)
    return "launches kernels from the device";
  return "";
}

std::string plural(uint64_t n, const std::string& word) {
  return std::to_string(n) + " " + word + (n == 1 ? "" : "s");
}

const Run* first_different(const std::vector<Run>& runs) {
  auto found =
      std::find_if(runs.begin(), runs.end(), [](const Run& r) { return r.differing_bytes; });
  return found == runs.end() ? nullptr : &*found;
}

Decision different(const Evidence& e, const Run& run) {
  Decision d;
  d.verdict = Verdict::fail;
  const std::string how =
      run.perturbed ? "with delays (" + run.scheme + ")"
      : run.outside ? "without any delay, under pressure from outside (" + run.scheme + ")"
                    : "without any delay";
  d.reason = plural(run.differing_bytes, "byte") + " differed in a repeat " + how;
  d.kind = "nondeterministic";
  if (e.code.reads_time) {
    d.kind = "time-dependent";
    d.reason += "; the kernel reads a clock";
  } else if (e.float_atomics_only) {
    d.kind = "fp-atomic-order";
    d.reason += "; consistent with the order of floating-point atomics alone";
  }
  return d;
}

} // namespace

const char* verdict_name(Verdict verdict) {
  return verdict == Verdict::pass ? "pass" : verdict == Verdict::fail ? "fail" : "unknown";
}

std::string reason_against(const Launch& launch, const Circumstances& c) {
  const std::string others = "talks to others: ";
  if (talks_to_others(launch.symbol)) return others + "a kernel of a communication library";
  for (const Allocation& allocation : c.reachable)
    if (std::string why = not_private(allocation.traits); !why.empty())
      return others + std::string("it can reach ").append(why);
  if (c.several_devices) return others + "a cooperative launch over several devices";
  for (const std::string& name : c.externals)
    if (std::string why = external_reason(name); !why.empty()) return why;
  if (c.code.known && c.code.surface_stores)
    return "stores to a surface, whose array is not copied";
  if (!c.parameters_known) return "its parameters' sizes are not known";
  return "";
}

Decision decide(const Evidence& e) {
  if (const Run* run = first_different(e.runs)) return different(e, *run);
  Decision d;
  uint64_t perturbed = 0, delayed = 0, outside = 0;
  for (const Run& run : e.runs) {
    perturbed += run.perturbed;
    outside += run.outside;
    delayed += run.delayed;
  }
  const std::string same =
      "same bytes in " + plural(e.runs.size(), "repeat") +
      (outside ? ", " + std::to_string(outside) + " under pressure from outside" : "");
  if (e.runs.empty()) {
    d.reason = "no repeat was made";
  } else if (!e.bare.empty()) {
    d.reason = same + ", but none with delays: " + e.bare;
  } else if (perturbed && delayed == 0) {
    d.reason = same + ", but no access was delayed: that is no evidence";
  } else if (perturbed) {
    d.verdict = Verdict::pass;
    d.reason = same + ", " + std::to_string(perturbed) + " with delays (" +
               std::to_string(delayed) + " accesses of warps delayed)";
  } else if (e.inventory.accesses() == 0 && !e.inventory.unobserved()) {
    d.verdict = Verdict::pass;
    d.reason = same + "; it accesses no memory that others can see";
    d.notes.push_back("empty-kernel: it accesses no global or shared memory");
  } else if (e.inventory.unobserved() || e.code.tensor_loads || !e.code.known) {
    d.reason = same + ", but accesses that no patch sees were not perturbed";
  } else if (e.schemes == 0) {
    d.verdict = Verdict::pass;
    d.reason = same +
               "; nothing to perturb: no two threads of different warps touch the same bytes "
               "with a write";
  } else {
    d.reason = same + ", none with delays";
  }
  if (d.verdict == Verdict::pass && e.alone) {
    d.verdict = Verdict::unknown;
    d.reason = "alone: " + d.reason + "; how it overlaps with the launch before it was not tried";
  }
  if (d.verdict == Verdict::pass && e.code.reads_time)
    d.notes.push_back("reads a clock: its result may follow the time");
  return d;
}

const char* kind_of_end(const std::string& error) {
  if (error == "CUDA_ERROR_ASSERT") return "assert";
  if (error == "CUDA_ERROR_MISALIGNED_ADDRESS") return "misaligned";
  if (error == "CUDA_ERROR_ILLEGAL_ADDRESS") return "out-of-bounds";
  if (error == "CUDA_ERROR_LAUNCH_FAILED") return "trap"; // or a stray access to shared memory
  return "";
}

bool hangs_by_itself(const Run& run, uint64_t plain_repeats, uint64_t limit_ms) {
  constexpr uint64_t kCyclesPerMillisecond = 500'000; // slower than any clock of these cards
  constexpr uint64_t kMargin = 4; // a delayed poll adds to the wait that it polls for
  return run.perturbed && plain_repeats != 0 &&
         run.most_cycles / kCyclesPerMillisecond * kMargin < limit_ms;
}

} // namespace assay::native
