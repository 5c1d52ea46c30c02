// The table of pure handlers at one vector level, indexed by OpCode − first pure code.
#pragma once

#include "vgpu/exec.hpp"

namespace assay::vgpu {

#define CORE(name) +1
inline constexpr uint16_t kFirstPure = 0
#include "ir/ops_core.def"
    ;
#undef CORE
inline constexpr uint16_t kPureCount = uint16_t(ir::OpCode::count) - kFirstPure;
constexpr bool is_pure(ir::OpCode code) { return uint16_t(code) >= kFirstPure; }
constexpr uint16_t pure_index(ir::OpCode code) { return uint16_t(code) - kFirstPure; }

} // namespace assay::vgpu

#ifdef ASSAY_LEVEL
namespace assay::vgpu::ASSAY_LEVEL {
const PureHandlers* pure_handlers();
// Each class of ops_pure.def enters its handlers.
void add_integer(PureHandlers* table);
void add_bits(PureHandlers* table);
void add_compare(PureHandlers* table);
void add_floating(PureHandlers* table);
void add_approximate(PureHandlers* table);
void add_convert(PureHandlers* table);
void add_half(PureHandlers* table);
} // namespace assay::vgpu::ASSAY_LEVEL
#else
namespace assay::vgpu { // null for levels that this build lacks
namespace portable {
const PureHandlers* pure_handlers();
}
namespace avx2 {
const PureHandlers* pure_handlers();
}
namespace avx512 {
const PureHandlers* pure_handlers();
}
} // namespace assay::vgpu
#endif
