// The detector's name for how a strong operation publishes and takes.
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

} // namespace assay::vgpu
