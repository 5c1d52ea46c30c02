// Special registers (PTX ISA 9.0, chapter 10), the imm of Op `special`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::ir {

// Which place of the shared memory that is the system's a register holds.
enum class ReservedOffset : uint8_t { offset_0, offset_1, begin, end };

enum class Special : uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  laneid,
  warpid,
  nwarpid,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  smid,
  nsmid,
  gridid,
  is_explicit_cluster,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi,
  envreg, // envreg N: N in imm bits 8..15
  dynamic_smem_size,
  reserved_smem, // offsets in shared memory: %reserved_smem_offset_0, _1, _begin, _end
  total_smem_size,
  aggr_smem_size,
  reserved_smem_cap,
  current_graph_exec,
  pm, // pm counters read as zero
  unknown
};

// "%tid.x", "%envreg2"; index is N of envregN, pmN, and a ReservedOffset.
Special special_from(std::string_view spelling, uint32_t& index);
bool is_wide(Special special); // 64-bit registers
std::string spelling(Special special, uint32_t index);

// Who decides a value that is no function of the launch: time and placement (clocks, %smid), or the
// machine and its driver (%nsmid, %gridid, %envregN).
constexpr bool is_decided_by_schedule(Special s) {
  return (s >= Special::clock && s <= Special::globaltimer_hi) || s == Special::smid ||
         s == Special::warpid || s == Special::pm;
}
constexpr bool is_decided_by_machine(Special s) {
  return s == Special::nsmid || s == Special::nwarpid || s == Special::gridid ||
         s == Special::envreg ||
         (s >= Special::total_smem_size && s <= Special::current_graph_exec);
}

// Does the place of a thread in the launch fix the value? Then nothing that runs can change it.
constexpr bool is_fixed_place(Special s) {
  return s <= Special::laneid || (s >= Special::ctaid_x && s <= Special::nctaid_z) ||
         (s >= Special::clusterid_x && s <= Special::lanemask_gt);
}
// And is it the same for one warp index of every CTA of the launch?
constexpr bool is_same_in_all_ctas(Special s) {
  return s <= Special::laneid || (s >= Special::nctaid_x && s <= Special::nctaid_z) ||
         (s >= Special::lanemask_eq && s <= Special::lanemask_gt);
}

} // namespace assay::ir
