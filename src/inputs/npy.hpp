// NumPy's .npy files, versions 1 to 3: little-endian arrays in C order.
// Format: NumPy documentation, numpy.lib.format.
#pragma once

#include "inputs/dtype.hpp"

#include <optional>
#include <vector>

namespace assay::inputs {

struct Array {
  std::string descr;         // "<f4"
  std::optional<DType> type; // of descr; none for types that kernels do not have
  std::vector<uint64_t> shape;
  std::string data; // raw bytes
};

// `file` names the source in errors.
Result<Array> parse_npy(const std::string& content, const std::string& file);
// bf16 and fp8, which NumPy lacks, are written as unsigned integers of the same width.
std::string print_npy(DType type, const std::vector<uint64_t>& shape, std::string_view data);

bool is_npy_name(std::string_view path); // ends in .npy

} // namespace assay::inputs
