// Streams, events and programmatic launches as a partial order; see launch_order.hpp.
#include "vgpu/launch_order.hpp"

namespace assay::vgpu {

namespace {

bool in_sequence(const JobSpec& job) { // as nearly every job is
  for (const LaunchSpec& l : job.launches)
    if (l.stream || l.programmatic) return false;
  return true;
}

class Builder {
public:
  explicit Builder(const JobSpec& job) : job_(job) {}

  void build(LaunchOrder& out) {
    const uint32_t n = uint32_t(job_.launches.size());
    for (uint32_t i = 0; i < n; ++i) {
      const LaunchSpec& l = job_.launches[i];
      std::vector<bool> before(n);
      const uint32_t previous = last_of(l.stream, i);
      if (l.programmatic && previous != kNoLaunch) {
        before = before_[previous];
        out.primary[i] = previous;
      } else {
        add_stream(before, l.stream, i);
      }
      for (uint32_t event : l.after) add_stream(before, job_.launches[event].stream, event + 1);
      before_.push_back(before);
      for (uint32_t k = 0; k < i; ++k)
        if (before[k]) out.behind[i].push_back(k);
    }
    stages(out);
  }

private:
  uint32_t last_of(uint32_t stream, uint32_t end) const {
    for (uint32_t i = end; i-- > 0;)
      if (job_.launches[i].stream == stream) return i;
    return kNoLaunch;
  }

  // All of that stream before `end`, and what those are behind.
  void add_stream(std::vector<bool>& before, uint32_t stream, uint32_t end) const {
    for (uint32_t i = 0; i < end; ++i) {
      if (job_.launches[i].stream != stream) continue;
      before[i] = true;
      for (uint32_t k = 0; k < i; ++k)
        if (before_[i][k]) before[k] = true;
    }
  }

  void stages(LaunchOrder& out) const {
    const uint32_t n = uint32_t(job_.launches.size());
    uint32_t least = n; // from here on, all launches are behind those before this one
    for (uint32_t i = n; i-- > 0;) {
      uint32_t prefix = 0;
      while (prefix < i && before_[i][prefix]) ++prefix;
      least = std::min(least, prefix);
      out.stage[i] = least == i; // a cut
    }
    uint32_t first = 0;
    for (uint32_t i = 0; i < n; ++i) {
      if (out.stage[i]) first = i;
      out.stage[i] = first;
      out.first_cta[i] =
          i == first ? 0 : out.first_cta[i - 1] + uint32_t(ctas_of(job_.launches[i - 1]));
    }
  }

  const JobSpec& job_;
  std::vector<std::vector<bool>> before_;
};

} // namespace

uint64_t ctas_of(const LaunchSpec& l) { return uint64_t(l.grid[0]) * l.grid[1] * l.grid[2]; }

LaunchOrder launch_order(const JobSpec& job) {
  const size_t n = job.launches.size();
  LaunchOrder out;
  out.behind.resize(n);
  out.primary.resize(n, kNoLaunch);
  out.stage.resize(n);
  out.first_cta.resize(n);
  if (!in_sequence(job)) {
    Builder(job).build(out);
    return out;
  }
  for (uint32_t i = 0; i < n; ++i) out.stage[i] = i; // behind all before, as stages say
  return out;
}

} // namespace assay::vgpu
