// CHECK: assertions about our own code that stay on in release builds. A failed CHECK prints the
// place and aborts the process with exit code 2; it is never the answer to bad input.
#pragma once

namespace assay {
[[noreturn]] void check_failed(const char* file, int line, const char* condition);
}

#define CHECK(condition)                                                                           \
  (__builtin_expect(!(condition), 0) ? ::assay::check_failed(__FILE__, __LINE__, #condition)       \
                                     : (void)0)
