// What this machine has: whether something of a size that a user chose can be held at all.
#pragma once

#include "base/result.hpp"

namespace assay {

// Bytes of memory, or what the control group of this process may use of them.
uint64_t memory_of_machine();

// An error of code environment when a run over `bytes` of buffers would need more memory than there
// is. A run keeps about five copies of them (as read, as described, in the run, at its end), and
// explorations make several runs at once.
Result<void> room_for(uint64_t bytes, const std::string& what, const Span& span);

} // namespace assay
