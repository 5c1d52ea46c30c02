// The virtual address space: one 2^40-byte window per buffer, so that a stray access of any size
// lands in no other buffer and can be named. The window index is the address shifted right by 40.
//   0 null            1 shared memory of the own CTA     2 local memory of the own thread
//   3 parameters      4 device functions (16 bytes each) 8 …  buffers of the launch
//   0x8000 …  module-scope variables (.global and .const), in declaration order
// .global and .const addresses are generic addresses; .shared, .local and .param ones are offsets
// from 0. PTX ISA 9.0 section 5.1 leaves the values open; windows are our choice.
#pragma once

#include <cstdint>

namespace assay::ir {

inline constexpr unsigned kWindowBits = 40;
inline constexpr uint64_t window_base(uint64_t window) { return window << kWindowBits; }
inline constexpr uint64_t window_of(uint64_t address) { return address >> kWindowBits; }
inline constexpr uint64_t offset_of(uint64_t address) {
  return address & ((uint64_t(1) << kWindowBits) - 1);
}
inline constexpr uint64_t kSharedWindow = 1, kLocalWindow = 2, kParamWindow = 3,
                          kFunctionWindow = 4, kFirstBufferWindow = 8, kFirstModuleWindow = 0x8000;

// Addresses of local memory carry their owner (1 + thread index in the CTA) above the offset, so
// that the use of another thread's address can be told. It means the own local memory all the same.
inline constexpr unsigned kLocalOwnerShift = 24;
inline constexpr uint64_t local_tag(uint64_t thread) { return (thread + 1) << kLocalOwnerShift; }
inline constexpr uint64_t local_owner(uint64_t address) {
  return offset_of(address) >> kLocalOwnerShift;
}
inline constexpr uint64_t local_offset(uint64_t address) {
  return address & ((uint64_t(1) << kLocalOwnerShift) - 1);
}

} // namespace assay::ir
