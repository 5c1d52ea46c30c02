// Branches whose predicate depends on the launch alone; see lane_patterns.hpp.
#include "ir/definitions.hpp"
#include "ir/lane_patterns.hpp"
#include "ir/special.hpp"

namespace assay::ir {
namespace {

bool same_for_the_block(Special special) {
  switch (special) {
  case Special::ntid_x:
  case Special::ntid_y:
  case Special::ntid_z:
  case Special::ctaid_x:
  case Special::ctaid_y:
  case Special::ctaid_z:
  case Special::nctaid_x:
  case Special::nctaid_y:
  case Special::nctaid_z:
  case Special::is_explicit_cluster:
  case Special::clusterid_x:
  case Special::clusterid_y:
  case Special::clusterid_z:
  case Special::nclusterid_x:
  case Special::nclusterid_y:
  case Special::nclusterid_z:
  case Special::cluster_ctaid_x:
  case Special::cluster_ctaid_y:
  case Special::cluster_ctaid_z:
  case Special::cluster_nctaid_x:
  case Special::cluster_nctaid_y:
  case Special::cluster_nctaid_z:
  case Special::cluster_ctarank:
  case Special::cluster_nctarank:
  case Special::envreg:
  case Special::dynamic_smem_size:
  case Special::reserved_smem:
  case Special::total_smem_size:
  case Special::aggr_smem_size: return true;
  default: return false;
  }
}

class UniformBranches {
public:
  explicit UniformBranches(VirtualFunction& f) : f_(f), definitions_(f) {}

  void run() {
    state_.assign(f_.registers.size(), State::unknown);
    for (Block& b : f_.blocks) {
      if (b.dropped) continue;
      VirtualOp& last = f_.ops[b.end - 1];
      if ((last.code == OpCode::branch || last.code == OpCode::brx) && uniform(last.a, b.end - 1))
        last.flags |= kProvedUniform;
    }
  }

private:
  enum class State : uint8_t { unknown, busy, yes, no };

  // Is the register the same for all lanes of the block at any time when op `use` reads it?
  bool uniform(uint32_t id, uint32_t use) {
    if (f_.registers[id].constant) return true;
    return definitions_.defined_once_before(id, use) && invariant(id);
  }

  bool invariant(uint32_t id) {
    if (state_[id] == State::unknown) {
      state_[id] = State::busy; // a cycle through itself is no function of the launch
      bool yes = computed_from_the_launch(definitions_.single(id));
      state_[id] = yes ? State::yes : State::no;
    }
    return state_[id] == State::yes;
  }

  bool computed_from_the_launch(uint32_t i) {
    const VirtualOp& op = f_.ops[i];
    if (op.code == OpCode::special) return same_for_the_block(Special(op.imm & 255));
    bool load = false;
    if (op.code == OpCode::ld) {
      const MemInfo& info = f_.mems[op.c].info;
      load = info.space == ptx::Space::param_entry || info.space == ptx::Space::constant;
    }
    if ((!load && !is_pure(op.code)) || (op.flags & kGuarded)) return false;
    bool yes = true;
    for_each_operand(f_, op, [&](uint32_t id) { yes = yes && uniform(id, i); }, [](uint32_t) {});
    return yes;
  }

  VirtualFunction& f_;
  Definitions definitions_;
  std::vector<State> state_;
};

} // namespace

void prove_uniform_branches(VirtualFunction& f) { UniformBranches(f).run(); }

} // namespace assay::ir
