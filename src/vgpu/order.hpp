// The detector's names for how a strong operation publishes and takes, and for its scope.
#pragma once

#include "ir/program.hpp"
#include "race/detector.hpp"

namespace assay::vgpu {

inline race::Detector::Order order_of(ir::Semantics s) {
  using O = race::Detector::Order;
  return s == ir::Semantics::acquire                             ? O::acquire
         : s == ir::Semantics::release                           ? O::release
         : s == ir::Semantics::acq_rel || s == ir::Semantics::sc ? O::acq_rel
                                                                 : O::relaxed;
}

inline race::Scope scope_of(const ir::MemInfo& info) {
  return info.semantics == ir::Semantics::volatile_ || info.semantics == ir::Semantics::mmio
             ? race::Scope::sys
             : race::Scope(uint8_t(info.scope));
}

} // namespace assay::vgpu
