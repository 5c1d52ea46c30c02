// One maker per policy file; use make_policy() from policy.hpp to get one by name.
#pragma once

#include "schedule/policy.hpp"

namespace assay::schedule {

std::unique_ptr<Policy> make_canonical();
std::unique_ptr<Policy> make_reverse();
std::unique_ptr<Policy> make_random(uint64_t seed);
std::unique_ptr<Policy> make_lane_split(uint64_t seed);
std::unique_ptr<Policy> make_cta_shuffle(uint64_t seed);
std::unique_ptr<Policy> make_alternate(uint64_t seed);
std::unique_ptr<Policy> make_pct(uint64_t seed);
std::unique_ptr<Policy> make_weak_memory(uint64_t seed);
std::unique_ptr<Policy> make_late_writes(uint64_t seed);
std::unique_ptr<Policy> make_torn_vectors(uint64_t seed);
std::unique_ptr<Policy> make_async_late(uint64_t seed);
std::unique_ptr<Policy> make_async_early(uint64_t seed);

} // namespace assay::schedule
