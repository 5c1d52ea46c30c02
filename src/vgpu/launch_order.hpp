// Which launches of a job are ordered, and which may overlap. Sources: CUDA C++ Programming Guide
// 13.0, "Streams", "Events" (a launch starts when all earlier work of its stream, and all that was
// issued to another stream before an event that it waits for, has completed) and "Programmatic
// Dependent Launch and Synchronization" (a dependent launch may start when all CTAs of the one
// before it in its stream have let their dependents go or have ended). Streams do not synchronise
// with the default stream here, as with cudaStreamNonBlocking.
//
// A stage is a run of launches, in the order of their issue, such that each launch of it is behind
// all of the stages before. Launches of one stage are in execution together.
#pragma once

#include "vgpu/launch.hpp"

namespace assay::vgpu {

inline constexpr uint32_t kNoLaunch = 0xffffffff;

struct LaunchOrder {
  // For each launch: those that have ended before it starts, ascending.
  std::vector<std::vector<uint32_t>> behind;
  // For each programmatic launch the one that lets it go; else kNoLaunch.
  std::vector<uint32_t> primary;
  // For each launch the first one of its stage, and where its CTAs begin among those of the stage.
  std::vector<uint32_t> stage, first_cta;

  uint32_t end(uint32_t first) const { // of the stage that starts there
    uint32_t i = first;
    while (i < stage.size() && stage[i] == first) ++i;
    return i;
  }
};

uint64_t ctas_of(const LaunchSpec& launch);
LaunchOrder launch_order(const JobSpec& job);

} // namespace assay::vgpu
