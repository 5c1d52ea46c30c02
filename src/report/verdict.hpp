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
  std::string verdict = "pass";                 // pass, fail, unknown, not-applicable
  std::string reason;                           // of unknown and not-applicable
  std::optional<bool> deterministic, race_free; // nothing: not decided
  std::vector<Finding> findings;
  std::vector<Note> notes;
  Coverage coverage;
  uint64_t seed = 1;
  std::string expectation; // "met", "unmet" or empty
  std::vector<std::string> expectation_differences;
};

// One line of a run over many cases.
struct Row {
  std::string subject;
  enum class State : uint8_t { passed, failed, unknown, skipped, broken } state = State::passed;
  std::string text;
};

} // namespace assay::report
