// The policies by name.
#include "schedule/policies.hpp"

namespace assay::schedule {

const std::vector<std::string>& policy_names() {
  static const std::vector<std::string> names = {
      "canonical", "reverse",     "random",      "lane-split", "cta-shuffle", "alternate",
      "pct",       "weak-memory", "late-writes", "async-late", "async-early"};
  return names;
}

bool is_for_copies(const std::string& name) {
  return name == "async-late" || name == "async-early";
}

std::unique_ptr<Policy> make_policy(const std::string& name, uint64_t seed) {
  if (name == "canonical") return make_canonical();
  if (name == "reverse") return make_reverse();
  if (name == "random") return make_random(seed);
  if (name == "lane-split") return make_lane_split(seed);
  if (name == "cta-shuffle") return make_cta_shuffle(seed);
  if (name == "alternate") return make_alternate(seed);
  if (name == "pct") return make_pct(seed);
  if (name == "weak-memory") return make_weak_memory(seed);
  if (name == "late-writes") return make_late_writes(seed);
  if (name == "torn-vectors") return make_torn_vectors(seed);
  if (name == "async-late") return make_async_late(seed);
  if (name == "async-early") return make_async_early(seed);
  return nullptr;
}

} // namespace assay::schedule
