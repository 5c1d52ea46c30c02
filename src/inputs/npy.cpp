// Reading and writing .npy; see npy.hpp. The header is a Python dictionary with three known keys,
// so a scan for each key is enough.
#include "inputs/npy.hpp"

#include <cctype>
#include <cstring>
#include <fmt/format.h>

namespace assay::inputs {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

// What follows `'key':` in the header, without leading blanks.
std::string_view value_of(std::string_view header, std::string_view key) {
  for (char quote : {'\'', '"'}) {
    std::string quoted = quote + std::string(key) + quote;
    size_t at = header.find(quoted);
    if (at == std::string_view::npos) continue;
    at = header.find_first_not_of(" :", at + quoted.size());
    return at == std::string_view::npos ? std::string_view{} : header.substr(at);
  }
  return {};
}

std::optional<DType> type_of(std::string_view descr) {
  struct Row {
    std::string_view descr;
    DType type;
  };
  static constexpr Row kRows[] = {
      {"u1", DType::u8},  {"u2", DType::u16}, {"u4", DType::u32}, {"u8", DType::u64},
      {"i1", DType::s8},  {"i2", DType::s16}, {"i4", DType::s32}, {"i8", DType::s64},
      {"f2", DType::f16}, {"f4", DType::f32}, {"f8", DType::f64}, {"b1", DType::u8},
  };
  for (const Row& row : kRows)
    if (descr.size() == 3 && descr.substr(1) == row.descr) return row.type;
  return std::nullopt;
}

uint64_t item_bytes(std::string_view descr) {
  uint64_t size = 0;
  for (char c : descr.substr(std::min<size_t>(2, descr.size()))) {
    if (!std::isdigit(uint8_t(c)) || size > 1'000'000) return 0;
    size = size * 10 + uint64_t(c - '0');
  }
  return size;
}

} // namespace

bool is_npy_name(std::string_view path) { return path.ends_with(".npy"); }

Result<Array> parse_npy(const std::string& content, const std::string& file) {
  auto wrong = [&](std::string why) {
    return usage_error(fmt::format("'{}' is not a .npy file that Assay reads: {}", file, why));
  };
  if (content.size() < 10 || std::string_view(content).substr(0, 6) != kMagic)
    return wrong("it does not start with the NumPy magic bytes");
  uint8_t major = uint8_t(content[6]);
  size_t length_bytes = major == 1 ? 2 : 4, start = 8 + length_bytes;
  if (major < 1 || major > 3) return wrong(fmt::format("version {} is unknown", major));
  if (content.size() < start) return wrong("its header is cut off");
  uint32_t length = 0;
  std::memcpy(&length, content.data() + 8, length_bytes);
  if (content.size() - start < length) return wrong("its header is cut off");
  std::string_view header = std::string_view(content).substr(start, length);

  Array array;
  std::string_view descr = value_of(header, "descr");
  if (descr.size() < 3 || (descr[0] != '\'' && descr[0] != '"'))
    return wrong("its element type is not a simple one");
  array.descr = std::string(descr.substr(1, descr.find(descr[0], 1) - 1));
  if (array.descr.empty() || array.descr[0] == '>') return wrong("it is big-endian");
  uint64_t item = item_bytes(array.descr);
  if (item == 0) return wrong(fmt::format("element type '{}' has no fixed size", array.descr));
  array.type = type_of(array.descr);
  if (!value_of(header, "fortran_order").starts_with("False"))
    return wrong("it is in Fortran order; save numpy.ascontiguousarray(x) instead");
  std::string_view shape = value_of(header, "shape");
  if (!shape.starts_with("(")) return wrong("it has no shape");
  uint64_t total = item;
  for (size_t i = 1; i < shape.size() && shape[i] != ')';) {
    if (!std::isdigit(uint8_t(shape[i]))) {
      ++i;
      continue;
    }
    uint64_t extent = 0;
    for (; i < shape.size() && std::isdigit(uint8_t(shape[i])); ++i)
      if (__builtin_mul_overflow(extent, uint64_t(10), &extent) ||
          __builtin_add_overflow(extent, uint64_t(shape[i] - '0'), &extent))
        return wrong("its shape is too large");
    array.shape.push_back(extent);
    if (__builtin_mul_overflow(total, extent, &total)) return wrong("its shape is too large");
  }
  if (content.size() - start - length != total)
    return wrong(fmt::format("its shape needs {} bytes of data and it holds {}", total,
                             content.size() - start - length));
  array.data = content.substr(start + length);
  return array;
}

std::string print_npy(DType type, const std::vector<uint64_t>& shape, std::string_view data) {
  const Format& f = format(type);
  bool native = f.kind != 'f' || type == DType::f16 || type == DType::f32 || type == DType::f64 ||
                type == DType::tf32;
  char kind = !native || f.kind == 'b' ? 'u' : f.kind == 's' ? 'i' : f.kind;
  std::string extents;
  for (uint64_t extent : shape) extents += fmt::format("{}, ", extent);
  if (shape.size() > 1) extents.resize(extents.size() - 2);
  if (shape.size() == 1) extents.pop_back();
  std::string header = fmt::format("{{'descr': '{}{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                   f.bytes == 1 ? '|' : '<', kind, f.bytes, extents);
  // The data starts at a multiple of 64; the header ends in a newline.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  uint16_t length = uint16_t(header.size());
  std::string out(kMagic);
  out += std::string("\x01\x00", 2);
  out.append(reinterpret_cast<const char*>(&length), 2);
  return out + header + std::string(data);
}

} // namespace assay::inputs
