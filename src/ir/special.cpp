// Names of the special registers. Source: PTX ISA 9.0, chapter 10.
#include "ir/special.hpp"

#include <unordered_map>

namespace assay::ir {

namespace {
constexpr std::string_view kReservedOffsets[] = {"0", "1", "begin", "end"}; // by ReservedOffset

const std::unordered_map<std::string_view, Special>& table() {
  using S = Special;
  static const std::unordered_map<std::string_view, Special> kTable = {
      {"%tid", S::tid_x},
      {"%tid.x", S::tid_x},
      {"%tid.y", S::tid_y},
      {"%tid.z", S::tid_z},
      {"%ntid.x", S::ntid_x},
      {"%ntid.y", S::ntid_y},
      {"%ntid.z", S::ntid_z},
      {"%laneid", S::laneid},
      {"%warpid", S::warpid},
      {"%nwarpid", S::nwarpid},
      {"%ctaid.x", S::ctaid_x},
      {"%ctaid.y", S::ctaid_y},
      {"%ctaid.z", S::ctaid_z},
      {"%nctaid.x", S::nctaid_x},
      {"%nctaid.y", S::nctaid_y},
      {"%nctaid.z", S::nctaid_z},
      {"%smid", S::smid},
      {"%nsmid", S::nsmid},
      {"%gridid", S::gridid},
      {"%is_explicit_cluster", S::is_explicit_cluster},
      {"%clusterid.x", S::clusterid_x},
      {"%clusterid.y", S::clusterid_y},
      {"%clusterid.z", S::clusterid_z},
      {"%nclusterid.x", S::nclusterid_x},
      {"%nclusterid.y", S::nclusterid_y},
      {"%nclusterid.z", S::nclusterid_z},
      {"%cluster_ctaid.x", S::cluster_ctaid_x},
      {"%cluster_ctaid.y", S::cluster_ctaid_y},
      {"%cluster_ctaid.z", S::cluster_ctaid_z},
      {"%cluster_nctaid.x", S::cluster_nctaid_x},
      {"%cluster_nctaid.y", S::cluster_nctaid_y},
      {"%cluster_nctaid.z", S::cluster_nctaid_z},
      {"%cluster_ctarank", S::cluster_ctarank},
      {"%cluster_nctarank", S::cluster_nctarank},
      {"%lanemask_eq", S::lanemask_eq},
      {"%lanemask_le", S::lanemask_le},
      {"%lanemask_lt", S::lanemask_lt},
      {"%lanemask_ge", S::lanemask_ge},
      {"%lanemask_gt", S::lanemask_gt},
      {"%clock", S::clock},
      {"%clock_hi", S::clock_hi},
      {"%clock64", S::clock64},
      {"%globaltimer", S::globaltimer},
      {"%globaltimer_lo", S::globaltimer_lo},
      {"%globaltimer_hi", S::globaltimer_hi},
      {"%dynamic_smem_size", S::dynamic_smem_size},
      {"%total_smem_size", S::total_smem_size},
      {"%aggr_smem_size", S::aggr_smem_size},
      {"%current_graph_exec", S::current_graph_exec}};
  return kTable;
}

bool numbered(std::string_view spelling, std::string_view prefix, uint32_t limit, uint32_t& index) {
  if (!spelling.starts_with(prefix) || spelling.size() == prefix.size() ||
      spelling.size() > prefix.size() + 2)
    return false;
  uint32_t n = 0;
  for (char c : spelling.substr(prefix.size())) {
    if (c < '0' || c > '9') return false;
    n = n * 10 + uint32_t(c - '0');
  }
  index = n;
  return n < limit;
}
} // namespace

Special special_from(std::string_view spelling, uint32_t& index) {
  index = 0;
  if (auto it = table().find(spelling); it != table().end()) return it->second;
  if (numbered(spelling, "%envreg", 32, index)) return Special::envreg;
  if (numbered(spelling, "%pm", 8, index)) return Special::pm;
  constexpr std::string_view kReserved = "%reserved_smem_offset_";
  if (!spelling.starts_with(kReserved)) return Special::unknown;
  spelling.remove_prefix(kReserved.size());
  if (spelling == "cap") return Special::reserved_smem_cap;
  for (; index < 4; ++index)
    if (spelling == kReservedOffsets[index]) return Special::reserved_smem;
  return Special::unknown;
}

std::string spelling(Special special, uint32_t index) {
  if (special == Special::envreg) return "%envreg" + std::to_string(index);
  if (special == Special::pm) return "%pm" + std::to_string(index);
  if (special == Special::reserved_smem)
    return "%reserved_smem_offset_" + std::string(kReservedOffsets[index & 3]);
  if (special == Special::reserved_smem_cap) return "%reserved_smem_offset_cap";
  for (const auto& [name, s] : table())
    if (s == special) return std::string(name);
  return "a special register";
}

bool is_wide(Special special) {
  switch (special) {
  case Special::gridid:
  case Special::clock64:
  case Special::globaltimer:
  case Special::current_graph_exec: return true;
  default: return false;
  }
}

} // namespace assay::ir
