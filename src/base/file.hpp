// Whole files in and out. Errors name the file and what the system says.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace assay {

Result<std::string> read_file(const std::string& path, uint64_t most = uint64_t(1) << 30);
// Writes to a neighbouring file first and renames it, so that a reader never sees half of it.
// Missing folders on the way are made.
Result<void> write_file(const std::string& path, std::string_view content);

} // namespace assay
