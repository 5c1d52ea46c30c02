// A scheduling policy: three methods. The engine asks it only at scheduling points; in between an
// agent runs undisturbed. Decisions are recorded as a Trace, which is itself a policy (replay).
// The three-method interface follows the Shuttle model checker; see docs/recipes/policy.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace assay::schedule {

// Something that can run: a warp or part of one, or an asynchronous copy. Ids are unique among the
// agents alive at a moment and stable between runs with the same decisions.
struct AgentId {
  uint32_t cta = 0;
  uint32_t unit = 0; // warp·32 + lowest lane of the group; copies: kCopyUnit + sequence number
  bool operator==(const AgentId&) const = default;
  auto operator<=>(const AgentId&) const = default;
};
inline constexpr uint32_t kCopyUnit = 0x10000;

struct Launch {
  uint32_t index = 0; // of the job
  uint32_t ctas = 0, warps_per_cta = 0;
  uint64_t residency = 0;
};

// What can be chosen: run one of these agents for at most `points` scheduling points.
struct Decision {
  uint32_t pick = 0;            // index into the runnable list
  uint32_t points = 0xffffffff; // it also returns when it blocks or its quantum ends
};

enum class Choice : uint8_t {
  lane_order,   // order of the lanes of one atomic instruction: 0 ascending, 1 descending, else a
                // seed
  store_winner, // lanes of one store act in 0 ascending, 1 descending order, for a whole launch
  split,   // how to split a group here: 0 no, 1 halves, 2 odd and even, 3 first lane, 4 last lane
  admit,   // which not yet started CTA comes next: n = how many there are
  version, // how many of the last writes a strong read misses, of those that it may miss
  late,    // how many accesses that may do so come before this strong write takes effect; n - 1:
           // all of them
  delay,   // does this fence.sc wait until nobody else can run? 0 no, 1 yes
  refuse,  // a wait for an mbarrier phase that is not complete: 0 suspends, 1 is told so at once
};

// When asynchronous copies take place.
enum class Copies : uint8_t {
  scheduled, // they are agents that can run from their issue on, and pick() chooses
  at_issue,
  on_demand, // as agents that can run from when somebody waits for them on
};

class Policy {
public:
  virtual ~Policy() = default;
  virtual std::string name() const = 0;
  virtual void begin(const Launch& launch) = 0;
  // `runnable` is sorted by AgentId; `last` is the index of the agent that ran last, or −1.
  virtual Decision pick(std::span<const AgentId> runnable, int last) = 0;
  // A number in [0, n); of lane_order any number.
  virtual uint32_t choose(Choice kind, uint32_t n) = 0;

  // Traits, constant per policy.
  virtual bool admit_all() const { return false; }     // admit CTAs up to residency at once
  virtual bool reconverge() const { return true; }     // prefer to join at post-dominators
  virtual bool splits() const { return false; }        // may split warps at scheduling points
  virtual bool tears_vectors() const { return false; } // with it: element by element
  virtual bool misses_writes() const { return false; } // strong reads may return older values
  virtual bool delays_writes() const { return false; } // strong writes: Choice::late is asked
  virtual bool delays_fences() const { return false; } // fence.sc: Choice::delay is asked
  virtual Copies copies() const { return Copies::scheduled; }
};

// Policies by name: see policy_names(). Null for unknown names.
std::unique_ptr<Policy> make_policy(const std::string& name, uint64_t seed);
const std::vector<std::string>& policy_names();
bool is_for_copies(const std::string& name); // of use where there are asynchronous operations only

} // namespace assay::schedule
