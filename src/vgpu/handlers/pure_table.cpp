// The table of pure handlers of this vector level.
#include "vgpu/handlers/table.hpp"

#include "base/check.hpp"

#include <memory>

namespace assay::vgpu::ASSAY_LEVEL {
namespace {

const PureHandlers* build() {
  static PureHandlers table[kPureCount];
  add_integer(table);
  add_bits(table);
  add_compare(table);
  add_floating(table);
  add_approximate(table);
  add_convert(table);
  add_half(table);
  for (const PureHandlers& row : table) CHECK(row.full && row.masked && row.guarded);
  return table;
}

} // namespace

const PureHandlers* pure_handlers() {
  static const PureHandlers* const table = build();
  return table;
}

} // namespace assay::vgpu::ASSAY_LEVEL
