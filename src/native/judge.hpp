// From what is known of a launch to whether it may be replayed, and from its runs to a verdict.
#pragma once

#include "native/allocations.hpp"
#include "native/plan.hpp"
#include "native/sass.hpp"

namespace assay::native {

// All that decides whether a launch may be replayed (rules 1, 2, 3, 5 and 6).
struct Circumstances {
  bool several_devices = false;       // a cooperative launch over devices
  bool parameters_known = true;       // sizes of all parameters
  bool fits_only_plain = false;       // its grid is resident together only without instrumentation
  std::vector<std::string> externals; // functions of the device runtime that it calls
  std::vector<Allocation> reachable;
  CodeFacts code;
};

// The reason against replaying, or empty. The first that applies, the weightiest first.
std::string reason_against(const Launch& launch, const Circumstances& circumstances);

enum class Verdict { pass, fail, unknown };
const char* verdict_name(Verdict verdict);

struct Run {
  bool perturbed = false; // with delays
  bool outside = false;   // under pressure from outside: `scheme` says which
  std::string scheme;     // of a perturbed run
  uint64_t differing_bytes = 0;
  uint64_t delayed = 0, delay_cycles = 0;
  uint64_t most_cycles = 0;   // all its delays, one after the other, at their longest
  uint32_t scrub_pattern = 0; // of shared memory; 0: not scrubbed
  double milliseconds = 0;
};

struct Decision {
  Verdict verdict = Verdict::unknown;
  std::string kind;   // nondeterministic, fp-atomic-order, time-dependent, or empty
  std::string reason; // one sentence
  std::vector<std::string> notes;
};

struct Evidence {
  std::vector<Run> runs;
  Inventory inventory;
  CodeFacts code;
  bool float_atomics_only = false; // conflicts on the differing bytes
  size_t schemes = 0;              // that were to be run
  std::string bare;                // why no delay could be tried; empty: it could
  bool alone = false;              // without the launch that it may overlap with
};
Decision decide(const Evidence& evidence);

// The kind of a kernel's end by an error of the driver (its name); empty when it could be the
// patches' doing (an illegal instruction, say) or is none of the kernel's.
const char* kind_of_end(const std::string& error);

// A repeat did not end within the limit. Is that the kernel's doing (`hang`)? Only if delays could
// not have added up to that, even one after the other, and the launch ends when nothing is delayed.
bool hangs_by_itself(const Run& run, uint64_t plain_repeats, uint64_t limit_ms);

} // namespace assay::native
