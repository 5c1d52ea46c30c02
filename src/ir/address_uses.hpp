// Does a kernel use an address, or another value of the machine's choosing, otherwise than to reach
// what it names? Where buffers and variables lie is no part of a kernel's meaning, so that what
// follows from an address is proved for one placement only.
#pragma once

#include "ir/program.hpp"

#include <optional>
#include <string>

namespace assay::ir {

inline constexpr uint32_t kFunctionPointer = 0xffffffff;

struct BufferPointer { // in the kernel's parameters
  uint32_t offset = 0; // of its 8 bytes
  uint32_t buffer = 0; // kFunctionPointer: a device function
  uint32_t align = 1;  // that its allocation promises
};

// What is used so and why that counts, for reports; nothing if there is no such use. In doubt there
// is one: of a value that went through memory at an unknown place, only what is known of all values
// that may lie there is known.
std::optional<std::string> address_used_as_data(const Program& program,
                                                const std::vector<BufferPointer>& pointers);

} // namespace assay::ir
