// Atomic updates that take effect late: a directed run lets one whose result nobody uses take
// effect as late as the PTX memory model admits (PTX ISA 9.0, chapter 8: nothing but causality
// order keeps operations on different locations in the order of the program). Whoever then follows
// it in causality order finds its effect; everybody else may come before it. machine_late.cpp
#pragma once

#include "race/detector.hpp"
#include "vgpu/memory.hpp"

namespace assay::vgpu {

struct LateEffect {
  race::LateUpdateRef update;
  const ir::MemInfo* info = nullptr;
  Region* region = nullptr;
  uint64_t offset = 0;
  uint64_t address = 0; // of shared memory: the offset
  uint32_t cta = 0;
  uint64_t operand[2] = {0, 0};
};

} // namespace assay::vgpu
