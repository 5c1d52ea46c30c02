// Fences of the lanes of one warp. Of two fence.sc one comes first, though nobody can know which
// (PTX ISA 9.0, 8.10.3, "Fence-SC"): lanes that execute one together do so one after another, in an
// order that exploration chooses. And nothing but what causality order says keeps a fence.sc from
// being last: a shuffle or vote, at which lanes wait for each other, orders no memory (9.7.9.6,
// 9.7.13.7), so that the fence of one lane before it may come after that of another behind it.
// That is run where reads may miss writes or writes be late: there the order decides what is seen.
// machine_fence.cpp
#pragma once

#include "race/detector.hpp"

namespace assay::ir {
struct Program;
}

namespace assay::vgpu {

struct Stage;
struct Warp;

struct PutOffFence { // of lanes that have gone on without it, to a vote or shuffle
  race::Agent agent;
  uint32_t lanes = 0;
  race::Scope scope = race::Scope::none;
};

// Does a vote or shuffle follow this fence.sc before anything that touches memory?
bool can_be_put_off(const ir::Program& program, uint32_t pc);
// Before these a lane's fence that was put off takes effect.
bool ends_put_off(const ir::Program& program, uint32_t pc);
void perform_put_off(Stage& stage, const Warp& w, uint32_t lanes);

} // namespace assay::vgpu
