// Which runs a launch is given after the application's own: unperturbed repeats, and repeats with
// delays where they may matter. The paper's settings (RESOLVE: 4 plain runs, delays of up to 5,000
// cycles, probability 0.8, 8 blocks) are a preset, so that its figures can be compared.
#pragma once

#include "native/conflicts.hpp"
#include "native/launch.hpp"

#include <string>
#include <vector>

namespace assay::native {

struct Settings {
  uint32_t plain = 4;          // unperturbed repeats
  uint32_t perturbed = 6;      // for each scheme
  uint32_t cycles = 5000;      // longest delay
  uint32_t probability = 80;   // percent
  uint32_t delayed_blocks = 0; // blocks whose accesses are delayed; 0: all
  bool varied = true;          // other lengths and sites from repeat to repeat
  bool conflict_pass = true;
  bool scrub = true;
  uint32_t trace_blocks = 0; // blocks that the conflict pass looks at; 0: all
  uint32_t outside = 3;      // repeats under pressure from outside
  uint32_t extra = 18;       // further repeats for each scheme, while they cost little:
  uint32_t extra_ms = 20;    // they begin within this time
  uint32_t long_ms = 1000;   // of a scheme's repeats; after that none but the first four begins
  uint64_t seed = 1;
  uint32_t limit_seconds = 10; // for quiescing and for each run
  uint32_t most_unquiet = 3;   // launches given up before examining ends for the process
};

// The settings of a preset, or false: "default", "paper", "quick".
bool apply_preset(const std::string& name, Settings& settings);

// What the traced run showed.
struct Inventory {
  std::vector<Site> sites; // of instructions, then one slot for all other code
  uint64_t counters[kCounters] = {};
  bool mapped = false; // the conflict pass ran
  ConflictMap map;
  uint64_t accesses() const; // to shared and global memory, in lanes
  bool unobserved() const;   // bulk copies and the like: their bytes are not known
};

struct Scheme {
  Action action = kNothing;
  uint32_t region = kSiteGlobal; // whose accesses are delayed: kSiteGlobal, kSiteShared, kSiteSync
  std::vector<uint8_t> actions;
  uint32_t instructions = 0;                        // with a delay
  std::vector<std::pair<uint32_t, uint32_t>> pairs; // the conflicts behind it, the rarest first
  std::string name() const;                         // "global memory, by block"
};

// Where delays may change something. Empty: nothing to perturb. `unseen`: the code has accesses of
// which no patch sees the bytes (tensor loads); then barriers are places for delays as well, since
// a warp that comes late to one issues its copies late, or leaves a buffer late.
std::vector<Scheme> schemes_for(const Launch& launch, const Inventory& inventory,
                                bool unseen = false);

// How one repeat delays. When threads on both sides of a race wait alike, one side seldom overtakes
// the other by much. So, after one repeat with delays everywhere and one with delays ten times as
// long, repeats come in pairs (every other pair delays by warp even where blocks meet): half of the
// instructions, drawn by chance, then the other half; half of the threads' accesses. Further
// repeats (from settings.perturbed on) delay one side of one conflict: the first instruction of a
// pair, then the second; some a hundred times as long, for readers that come much later.
struct Variation {
  std::vector<uint8_t> actions;
  uint32_t cycles = 0;
  uint32_t probability = 0; // of 65536
};
Variation vary(const Scheme& scheme, const Settings& settings, uint32_t index);

// The longest delay, so that a warp that is delayed at each access waits about a tenth of a second
// at most, and that very long delays add up to about a second where warps wait for one another (as
// at a lock).
uint32_t scaled_cycles(uint32_t cycles, const Launch& launch, uint64_t accesses);

// The conflict pass looks at all of global memory, and at the shared memory of so many of 65536
// blocks that about 30 million accesses remain: blocks run the same code, and none can meet another
// there.
uint32_t shared_blocks_for(const Inventory& inventory);

// A step through the blocks of a grid that has no factor in common with their number, so that
// (block * step) % blocks visits each once.
uint32_t step_through(uint64_t blocks, uint64_t seed);

// Cells for the conflict pass: three for each granule that may be touched, within the room that is
// there; a power of two; 0: none.
uint64_t cells_for(const Inventory& inventory, uint64_t room);

// Where so many cells cannot hold the global memory that a launch of this reach may touch: the
// share (of 65536) of its lines that fill half of them. 0: all fit. A table that is too full is
// slow, and loses what it should show.
uint32_t line_share_for(const Inventory& inventory, uint64_t reachable_bytes, uint64_t cells);

} // namespace assay::native
