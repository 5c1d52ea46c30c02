// Strong writes that take effect late: stores, and atomic updates whose result nobody uses. Nothing
// but causality order keeps operations on different locations in the order of the program (PTX ISA
// 9.0, chapter 8). Whoever follows the write in causality order finds its effect; everybody else
// may come before it, until all others wait. A directed run does so with one instruction
// (Arm::late), a policy with many writes (Policy::delays_writes). machine_late.cpp
#pragma once

#include "race/detector.hpp"
#include "vgpu/memory.hpp"

namespace assay::vgpu {

struct LateWrite {
  race::LateUpdateRef update;
  const ir::MemInfo* info = nullptr;
  Region* region = nullptr;
  uint64_t offset = 0;
  uint64_t address = 0; // of shared memory: the offset
  uint64_t operand[2] = {0, 0};
  race::Side by;
  uint32_t passes = kAll; // so many accesses may come before it
  bool armed = false;     // a directed run wants it so
  size_t choice = 0;      // else: which answer of the policy it was
  size_t told = SIZE_MAX; // where it is told which access came before it
  static constexpr uint32_t kAll = 0xffffffff;
};

} // namespace assay::vgpu
