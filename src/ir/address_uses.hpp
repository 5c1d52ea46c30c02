// Does a kernel use the address of a buffer otherwise than to reach the buffer? Where buffers lie
// is the allocator's choice, so that what follows from an address is proved for one placement only.
#pragma once

#include "ir/program.hpp"

#include <optional>

namespace assay::ir {

struct BufferPointer { // in the kernel's parameters
  uint32_t offset = 0; // of its 8 bytes
  uint32_t buffer = 0;
  uint32_t align = 1; // that its allocation promises
};

// The PTX line of such a use (0: a place without a line); nothing if there is none. In doubt there
// is one: of a pointer that went through memory or calls, only what is known of them all is known.
std::optional<uint32_t> address_used_as_data(const Program& program,
                                             const std::vector<BufferPointer>& pointers);

} // namespace assay::ir
