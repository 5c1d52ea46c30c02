// Which launches are on which stream and wait for which others: names become numbers. What they
// mean: vgpu/launch_order.hpp.
#include "base/text.hpp"
#include "cases/case.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace assay::cases {
namespace {

Result<uint32_t> find_launch(const std::vector<LaunchGroup>& groups, const std::string& name,
                             uint32_t waiting) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < groups.size(); ++i) {
    if (!groups[i].name) continue;
    names.push_back(*groups[i].name);
    if (*groups[i].name != name) continue;
    if (i < waiting) return i;
    return usage_error(
        fmt::format("launch {} cannot be after '{}', which is issued {}: an event is "
                    "recorded before somebody waits for it",
                    waiting, name, i == waiting ? "with it" : "later"));
  }
  return usage_error(fmt::format("launch {} is after '{}', and no launch has that name{}", waiting,
                                 name, did_you_mean(name, names)));
}

Result<void> distinct(const std::vector<LaunchGroup>& groups) {
  for (size_t i = 0; i < groups.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (groups[i].name && groups[i].name == groups[k].name)
        return usage_error(fmt::format("two launches are called '{}'", *groups[i].name));
  return {};
}

} // namespace

Result<void> order_launches(Case& out, const std::vector<LaunchGroup>& groups) {
  if (Result<void> done = distinct(groups); !done) return done;
  std::vector<std::string> streams = {""}; // the default stream is 0
  for (uint32_t i = 0; i < groups.size(); ++i) {
    const LaunchGroup& group = groups[i];
    vgpu::LaunchSpec& launch = out.job.launches[i];
    auto at = std::find(streams.begin(), streams.end(), group.stream.value_or(""));
    launch.stream = uint32_t(at - streams.begin());
    if (at == streams.end()) streams.push_back(*group.stream);
    for (const std::string& name : group.after) {
      Result<uint32_t> event = find_launch(groups, name, i);
      if (!event) return event.error();
      launch.after.push_back(*event);
    }
    launch.programmatic = group.programmatic;
    if (group.programmatic && !group.after.empty())
      return usage_error(fmt::format("launch {} is programmatic and waits for an event: only what "
                                     "directly follows another launch of its stream starts early",
                                     i));
  }
  return {};
}

} // namespace assay::cases
