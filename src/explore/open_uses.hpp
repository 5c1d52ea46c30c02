// Does the outcome follow a value that nothing defines? Decided by running again with others.
#pragma once

#include "explore/plan.hpp"

namespace assay::explore {

// A use of what the manual leaves open, or of what time and placement decide, and what it does.
struct OpenUse {
  vgpu::Event use;
  bool matters = false; // another value leaves other bytes
  // The two runs that show it; the first is null where it is the one that was looked at.
  std::shared_ptr<const vgpu::Outcome> usual, other;
};

class OpenUses {
public:
  explicit OpenUses(bool with_time) : with_time_(with_time) {}
  // Settles the uses in `out`, a run of `plan`, at operations that are not settled yet.
  std::vector<OpenUse> settle(const vgpu::JobSpec& job, const Planned& plan,
                              const vgpu::Outcome& out, const Options& options);
  // What the runs with other values showed that the usual one cannot: races and order conflicts
  // where they left the same bytes, and whatever happened where only the elected lane was another.
  struct Shown {
    vgpu::Outcome out; // without memory
    std::string policy;
  };
  std::vector<Shown> shown;
  uint64_t runs = 0;        // made
  vgpu::Outcome unfinished; // a run that its budget ended: it decides nothing

private:
  void settle(std::vector<OpenUse>& found, size_t from, bool by_time, const vgpu::JobSpec& job,
              Planned plan, const vgpu::Outcome& out, const Options& options);
  bool with_time_;                                   // also what time and placement decide
  std::vector<std::pair<uint32_t, uint32_t>> known_; // launch and operation
};

} // namespace assay::explore
