// What a command has to say, ready to be printed: the data behind every output format. It knows
// nothing of programs or schedules; whoever decides fills it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::report {

inline constexpr const char* kSchema = "assay/verdict/1"; // a changed layout gets a new number

struct Thread {
  uint32_t block[3] = {0, 0, 0}, thread[3] = {0, 0, 0};
};

inline constexpr const char* kNoBuffer =
    "no buffer"; // an address outside all: offset is the address

struct Location {
  std::string file; // as the user knows it
  uint32_t line = 0, column = 0;
  std::string function;
  std::optional<Thread> thread;
  std::string launch;    // which one it is, where several may overlap
  std::string operation; // "stores 4 bytes"
  std::string buffer;    // empty: no address
  uint64_t offset = 0;
  uint32_t ptx_line = 0;
  std::string source; // path of `file` from here, to show the line; may be empty
};

struct Differing { // bytes that two schedules (or a result and what was wanted) leave differently
  std::string buffer;
  uint64_t offset = 0;
  std::string a, b;
};

// What the threads of two accesses did around them, in the order in which it was run.
struct TimelineStep {
  Location place;
  std::string what;        // "writes 4 bytes", "barrier", "fence, block scope"
  uint8_t sides = 1;       // bits 1 and 2: in whose lane it stands; 3: both took part
  uint8_t access = 0;      // bits: the first, the second of the two accesses
  bool barrier = false;    // at which both met (sides is 3)
  uint32_t times = 1;      // in a row
  uint32_t left_out = 0;   // steps of its lane before it that are not listed
  std::string who;         // "(0,0,0)": another thread of the block; empty: the lane's own
  bool at_fault = false;   // what is missing is missing here
  uint32_t other_line = 0; // of a barrier: the line at which the second side stood, if another
  bool waits = false;      // for ever: its lane ends here
  std::string expected;    // and who could end that
};

struct Timeline {
  std::string lanes[2];            // "thread (0,0,0) of block (1,0,0)"; the second may be empty
  std::vector<TimelineStep> steps; // empty: there is none
  std::string missing;             // the edge that is not there, in a few words
  std::string scope;               // what it has to cover: "block", "device"
  bool both_orders = false;        // were run: `differing` holds what each of them leaves
  bool stuck = false; // of threads that wait for ever: nothing is missing between two accesses
};

enum class Severity : uint8_t { error, warning };

struct Finding {
  std::string kind; // closed list: kinds.hpp
  Severity severity = Severity::error;
  std::string message; // one sentence
  std::vector<Location> locations;
  std::string missing_edge;
  std::vector<Differing> differing;
  std::string replay, replay_other; // commands that repeat the observed order, and the other one
  std::string space;                // "shared", "global", "local" or empty
  std::vector<std::string> details; // further sentences: which orders ran, how many bytes differ
  std::string help;                 // the likely fix
  Timeline timeline;
  std::vector<Timeline> more_lanes; // further pairs of lanes of a deadlock
  std::string fingerprint;          // of report/fingerprint.hpp, where somebody asked for it
  std::string suppressed;           // why this finding does not count; empty: it does
};

struct Note { // decides nothing
  std::string kind, message;
  std::vector<Location> locations;
  std::string space;
};

struct Coverage {
  uint64_t schedules = 0; // runs made
  bool proved = false;    // for this input, all schedules
  std::vector<std::string> not_proved, not_reached;
  bool values_compared = false;
  bool has_reference = false;
};

struct Verdict {
  std::string subject; // the case: "softmax.toml [cols=1]"
  std::string kernel;
  std::string verdict = "pass"; // pass, pass-with-suppressions, fail, unknown, not-applicable
  std::string reason;           // of unknown and not-applicable
  std::optional<bool> deterministic, race_free; // nothing: not decided
  std::vector<Finding> findings;
  std::vector<Note> notes;
  Coverage coverage;
  uint64_t seed = 1;
  std::vector<std::string> remarks; // on suppressions and baseline: what is unused, what is fixed
  std::vector<std::string> hints;   // for who reads the report in a terminal
  std::string expectation;          // "met", "unmet" or empty
  std::vector<std::string> expectation_differences;
};

inline constexpr const char* kPassSuppressed = "pass-with-suppressions";
inline bool passes(const Verdict& verdict) {
  return verdict.verdict == "pass" || verdict.verdict == kPassSuppressed;
}

// One line of a run over many cases.
struct Row {
  std::string subject;
  enum class State : uint8_t { passed, failed, unknown, skipped, broken } state = State::passed;
  std::string text;
};

} // namespace assay::report
