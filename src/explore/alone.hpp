// Racing pairs within one CTA, turned round in a run of that CTA alone, which costs a small part of
// a run of its launch. That is enough where no CTA touches what another one writes: then it does
// alone what it does among the others. What such a run shows is a pair whose other order leaves the
// same bytes; wherever anything differs, the whole launch is run, and every trace is of such a run.
#pragma once

#include "explore/pairs.hpp"
#include "explore/plan.hpp"

#include <map>

namespace assay::explore {

class Alone {
public:
  Alone(const vgpu::JobSpec& job, const Options& options) : job_(job), options_(options) {}

  // Marks those of `pairs` whose other order, run alone, left the same bytes; returns the others.
  // `all` are the conflicts so far, `first` the canonical run.
  std::vector<Pair*> settle(const std::vector<Pair*>& pairs, Pairs& all,
                            const vgpu::Outcome& first);

private:
  struct Usual { // what a CTA does alone in the canonical schedule
    bool completed = false;
    Digest digest;
    std::shared_ptr<race::Touched> touched;
  };
  bool independent(Pairs& all, const vgpu::Outcome& first) const;
  const Usual& usual(uint32_t cta);
  vgpu::Outcome run(uint32_t cta, const std::vector<vgpu::Arm>& arms) const;

  const vgpu::JobSpec& job_;
  const Options& options_;
  std::map<uint32_t, Usual> usual_; // by CTA
};

// The access that is held back, and the one that is let through, of that pair.
vgpu::Arm arm_of(const Pair& pair);

} // namespace assay::explore
