// What each operation code reads and writes; the conventions of ops_core.def as data.
#include "ir/virtual_code.hpp"

#include <array>

namespace assay::ir {

bool is_terminator(OpCode code) {
  switch (code) {
  case OpCode::jump:
  case OpCode::branch:
  case OpCode::brx:
  case OpCode::call:
  case OpCode::call_indirect:
  case OpCode::ret:
  case OpCode::exit:
  case OpCode::trap: return true;
  default: return false;
  }
}

bool is_memory(OpCode code) {
  switch (code) {
  case OpCode::ld:
  case OpCode::st:
  case OpCode::atom:
  case OpCode::red:
  case OpCode::prefetch:
  case OpCode::cp_async:
  case OpCode::cp_async_arrive:
  case OpCode::mbarrier_init:
  case OpCode::mbarrier_inval:
  case OpCode::mbarrier_arrive:
  case OpCode::mbarrier_tx:
  case OpCode::mbarrier_wait:
  case OpCode::ldmatrix:
  case OpCode::stmatrix: return true;
  default: return false;
  }
}

bool is_mbarrier(OpCode code) {
  switch (code) {
  case OpCode::cp_async_arrive:
  case OpCode::mbarrier_init:
  case OpCode::mbarrier_inval:
  case OpCode::mbarrier_arrive:
  case OpCode::mbarrier_tx:
  case OpCode::mbarrier_wait: return true;
  default: return false;
  }
}

namespace {
constexpr uint16_t first_pure() {
  // The core operations are counted by including their table with a counter.
  uint16_t n = 0;
#define PURE(name, ...)
#define CORE(name) ++n;
#include "ir/ops_core.def"
#undef PURE
#undef CORE
  return n;
}
} // namespace

bool is_pure(OpCode code) { return uint16_t(code) >= first_pure() && code < OpCode::count; }

bool may_be_guarded(OpCode code) {
  switch (code) {
  case OpCode::ld:
  case OpCode::st:
  case OpCode::atom:
  case OpCode::red:
  case OpCode::cp_async: return true;
  default: return is_pure(code);
  }
}

namespace {
constexpr OperandRoles roles_of(OpCode code) {
  using R = OperandRoles;
  switch (code) {
  case OpCode::jump:
  case OpCode::join:
  case OpCode::call:
  case OpCode::ret:
  case OpCode::exit:
  case OpCode::trap:
  case OpCode::unsupported:
  case OpCode::cp_async_commit:
  case OpCode::cp_async_wait:
  case OpCode::mma:
  case OpCode::fence:
  case OpCode::fence_proxy:
  case OpCode::grid_dependents:
  case OpCode::assertfail: return R{};
  case OpCode::branch:
  case OpCode::brx:
  case OpCode::call_indirect:
  case OpCode::stackrestore:
  case OpCode::ld:
  case OpCode::st:
  case OpCode::red:
  case OpCode::prefetch:
  case OpCode::ldmatrix:
  case OpCode::stmatrix:
  case OpCode::bar_warp_sync:
  case OpCode::nanosleep:
  case OpCode::cp_async_arrive:
  case OpCode::mbarrier_inval:
  case OpCode::free_: return R{.a = true};
  case OpCode::special:
  case OpCode::frame_address:
  case OpCode::activemask:
  case OpCode::stacksave:
  case OpCode::movmatrix: return R{.d = true};
  case OpCode::alloca_:
  case OpCode::atom:
  case OpCode::isspacep:
  case OpCode::mbarrier_pending:
  case OpCode::malloc_: return R{.d = true, .a = true};
  case OpCode::cp_async:
  case OpCode::mbarrier_init:
  case OpCode::mbarrier_tx:
  case OpCode::meet: return R{.a = true, .b = true};
  case OpCode::vote:
  case OpCode::redux: return R{.d = true, .b = true};
  case OpCode::match:
  case OpCode::elect: return R{.d = true, .b = true, .c = true, .c_defined = true};
  case OpCode::mbarrier_arrive:
  case OpCode::mbarrier_wait:
  case OpCode::vprintf: return R{.d = true, .a = true, .b = true};
  default: return R{.d = true, .a = true, .b = true, .c = true}; // shfl, bar, pure operations
  }
}

constexpr auto kRoles = [] {
  std::array<OperandRoles, size_t(OpCode::count) + 1> table{};
  for (size_t i = 0; i < table.size(); ++i) table[i] = roles_of(OpCode(i));
  return table;
}();
} // namespace

const OperandRoles* const kOperandRoles = kRoles.data();

const char* name(OpCode code) {
  static constexpr const char* kNames[] = {
#define PURE(name, ...) #name,
#define CORE(name) #name,
#include "ir/ops_core.def"
#include "ir/ops_pure.def"
#undef PURE
#undef CORE
      "?"};
  return kNames[code <= OpCode::count ? uint16_t(code) : uint16_t(OpCode::count)];
}

} // namespace assay::ir
