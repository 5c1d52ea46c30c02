// Machine code, as far as it matters here; see sass.hpp. An instruction has 16 bytes; the operation
// is bits 0 to 8 of the first word (bits 9 to 11 say what kinds of operands it has), the special
// register of S2R and its kin bits 8 to 15 of the second.
#include "native/sass.hpp"

#include <cstring>

namespace assay::native {
namespace {

SassKind special_register(uint64_t high) {
  const uint32_t number = (high >> 8) & 0xff;
  if (number >= 0x50 && number <= 0x53) return SassKind::time; // CLOCKLO/HI, GLOBALTIMERLO/HI
  // VIRTCFG (nsmid, nwarpid), VIRTID (warpid, smid), VIRTUALSMID.
  if (number == 0x02 || number == 0x03 || number == 0x43) return SassKind::placement;
  return SassKind::other;
}

// sm_75 to sm_89 have one operation for all types: bits 9 to 11 say which. 3 F32, 4 F16x2, 6 F64.
SassKind typed_atomic(uint64_t high) {
  const uint32_t type = (high >> 9) & 7;
  return type == 3 || type == 4 || type == 6 ? SassKind::float_atomic : SassKind::atomic;
}

} // namespace

SassKind classify_sass(uint64_t low, uint64_t high) {
  switch (low & 0x1ff) {
  case 0x119:                                 // S2R
  case 0x1c3:                                 // S2UR
  case 0x005:                                 // CS2R
  case 0x0cb: return special_register(high);  // CS2UR
  case 0x1b4: return SassKind::tensor_load;   // UTMALDG
  case 0x1b5:                                 // UTMASTG
  case 0x1b6: return SassKind::tensor_store;  // UTMAREDG
  case 0x19d: return SassKind::surface_store; // SUST
  case 0x02e:                                 // ACQBULK
  case 0x02d: return SassKind::programmatic;  // PREEXIT
  case 0x1a3:                                 // ATOMG of floating point, from sm_90
  case 0x1a6: return SassKind::float_atomic;  // REDG of floating point
  case 0x18e:                                 // RED, REDG
  case 0x18a:                                 // ATOM, generic address
  case 0x1a8: return typed_atomic(high);      // ATOMG
  case 0x1a9:                                 // ATOMG.CAS
  case 0x18c: return SassKind::atomic;        // ATOMS
  default: return SassKind::other;
  }
}

CodeFacts examine_sass(const uint8_t* code, size_t size) {
  CodeFacts facts;
  facts.known = true;
  for (size_t at = 0; at + 16 <= size; at += 16, ++facts.instructions) {
    uint64_t words[2];
    std::memcpy(words, code + at, 16);
    switch (classify_sass(words[0], words[1])) {
    case SassKind::other: break;
    case SassKind::time: facts.reads_time = true; break;
    case SassKind::placement: facts.reads_placement = true; break;
    case SassKind::tensor_load: facts.tensor_loads = true; break;
    case SassKind::tensor_store: facts.tensor_stores = true; break;
    case SassKind::surface_store: facts.surface_stores = true; break;
    case SassKind::programmatic: facts.programmatic = true; break;
    case SassKind::float_atomic: ++facts.float_atomics; [[fallthrough]];
    case SassKind::atomic: ++facts.atomics; break;
    }
  }
  return facts;
}

void CodeFacts::add(const CodeFacts& other) {
  reads_time = reads_time || other.reads_time;
  reads_placement = reads_placement || other.reads_placement;
  tensor_loads = tensor_loads || other.tensor_loads;
  tensor_stores = tensor_stores || other.tensor_stores;
  surface_stores = surface_stores || other.surface_stores;
  programmatic = programmatic || other.programmatic;
  float_atomics += other.float_atomics;
  atomics += other.atomics;
  instructions += other.instructions;
}

SassKind sass_at(std::string_view code, uint64_t offset) {
  if (offset > code.size() || code.size() - offset < 16) return SassKind::other;
  uint64_t words[2];
  std::memcpy(words, code.data() + offset, 16);
  return classify_sass(words[0], words[1]);
}

} // namespace assay::native
