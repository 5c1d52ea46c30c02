// What `assay run` was asked for, and how the injection library learns it.
#pragma once

#include "native/plan.hpp"
#include "native/protocol.hpp"
#include "native/selection.hpp"

namespace assay::native {

struct Options {
  Selection selection;
  Settings settings;
  std::string sanitizer; // libsanitizer-public.so
  bool debug = false;    // lines of the library's own doings
};

Message to_message(const Options& options);
Options options_of(const Message& message);

} // namespace assay::native
