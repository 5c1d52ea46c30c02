// A run's decisions in replayable form: what was picked, for how many scheduling points, what was
// chosen, which accesses were held back, and the hashes that must match for a replay to mean
// anything.
#pragma once

#include "base/hash.hpp"
#include "base/result.hpp"
#include "schedule/policy.hpp"

namespace assay::schedule {

struct Trace {
  static constexpr uint32_t kVersion = 6;
  Digest program, launch, inputs;            // of PTX, launch options, input bytes
  std::string device = "-", semantics = "2"; // model name; version of the virtual GPU's semantics
  std::string policy;                        // that made it
  uint64_t seed = 0;
  uint64_t budget = 0; // thread-instructions after which the run was cut off; 0: none
  Digest outcome;      // of the memory that it left
  struct Vary {        // what the run found where nothing defines a value (vgpu::RunOptions)
    uint32_t poison = 0, open = 0, time = 0, launch = 0, pc = 0xffffffff;
    bool operator==(const Vary&) const = default;
  } vary;
  struct Step {
    uint32_t launch = 0;
    AgentId agent;
    uint32_t limit = 0; // scheduling points that it was given
    bool operator==(const Step&) const = default;
  };
  struct Armed {                    // an access held until another one had run
    uint32_t launch = 0, space = 0; // space: race::Space
    uint64_t address = 0;
    // 1: not held, the second reads as if the first had not been; 2: and fences of the writer are
    uint32_t missed = 0;
    struct Side {
      uint32_t pc, cta, warp, lane, time;
    } sides[2];
  };
  // What the trace is a witness of, so that it can be aimed at a kernel that was changed since. It
  // decides nothing in a replay.
  struct Site {            // a place of the finding
    std::string operation; // read, write, update (atomics), copy; - for what is no access
    uint32_t cta = 0, warp = 0, lane = 0;
    uint32_t line = 0, ptx_line = 0;
    std::string file;
    std::string text, above, below; // the source line and its neighbours, trimmed
    std::string instruction;        // PTX
    bool operator==(const Site&) const = default;
  };
  std::string finding; // its kind; empty: of none
  std::string command; // target and launch options that the trace was made with, quoted
  std::vector<Site> sites;
  std::vector<Step> steps;
  std::vector<uint32_t> choices; // answers of choose(), in order
  std::vector<Armed> arms;
  std::string text() const;
};

Result<Trace> parse_trace(const std::string& text, const std::string& file);

// Gives the recorded answers again; asks for an impossible agent (index = size) when it cannot.
std::unique_ptr<Policy> make_replay(const Trace& trace);
// Follows the trace where it can and goes on canonically where not, counting in `preemptions` how
// often an agent had to make room that could have gone on. For minimisation.
std::unique_ptr<Policy> make_guided(const Trace& trace, uint64_t& preemptions);
// Passes `inner`'s answers on and writes them down in `trace`.
std::unique_ptr<Policy> make_recorder(Policy& inner, Trace& trace);

} // namespace assay::schedule
