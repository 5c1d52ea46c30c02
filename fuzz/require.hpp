// What every fuzzer does when something does not hold: it traps, because libFuzzer saves the input
// of a trap, not of an exit. Failed CHECKs end here too: the linker takes this check_failed and
// leaves the one of base, which exits, in its library. Included by one source file of each fuzzer.
#pragma once

#include "base/check.hpp"

#include <cstdio>

namespace assay {
[[noreturn]] void check_failed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "%s:%d: CHECK(%s) failed\n", file, line, condition);
  __builtin_trap();
}
} // namespace assay

static void require(bool condition) {
  if (!condition) __builtin_trap();
}
