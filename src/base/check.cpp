// The end of a failed CHECK.
#include "base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace assay {

void check_failed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "assay: internal error: %s:%d: CHECK(%s) failed\n", file, line, condition);
  std::fflush(stderr);
  std::_Exit(2);
}

} // namespace assay
