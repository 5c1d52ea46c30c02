// What the machine code of a kernel says about it: instructions that read the time, that store
// where no patch sees it, that add floating-point numbers atomically. The encodings were read off
// `nvdisasm -hex` (CUDA 13.0) for sm_75, sm_80, sm_90, sm_100 and sm_120; they share them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay::native {

struct CodeFacts {
  bool known = false;                               // the code was looked at
  bool reads_time = false;                          // clock, globaltimer
  bool reads_placement = false;                     // which multiprocessor or warp slot it runs on
  bool tensor_loads = false, tensor_stores = false; // TMA with a tensor map
  bool surface_stores = false;
  bool programmatic = false; // griddepcontrol
  uint32_t float_atomics = 0, atomics = 0;
  uint32_t instructions = 0;
  void add(const CodeFacts& other); // of another kernel of the same launch; `known` stays
};

// What one instruction (two little-endian words) is, of what matters here.
enum class SassKind {
  other,
  time,
  placement,
  tensor_load,
  tensor_store,
  surface_store,
  programmatic,
  atomic,
  float_atomic
};
SassKind classify_sass(uint64_t low, uint64_t high);

CodeFacts examine_sass(const uint8_t* code, size_t size);
// The kind of the instruction at a byte offset; `other` outside.
SassKind sass_at(std::string_view code, uint64_t offset);

} // namespace assay::native
