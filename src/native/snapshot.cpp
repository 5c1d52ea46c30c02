// Planning of copies; see snapshot.hpp.
#include "native/snapshot.hpp"

#include <algorithm>
#include <cstdio>

namespace assay::native {

std::string text_of_bytes(uint64_t bytes) {
  static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = double(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

StorageChoice choose_storage(uint64_t bytes, const Room& room) {
  if (room.device_free > kDeviceReserve && bytes <= room.device_free - kDeviceReserve)
    return {Storage::device, ""};
  if (bytes <= room.host_free / 2) return {Storage::host, ""};
  return {Storage::none, "no room for a copy of the " + text_of_bytes(bytes) +
                             " that it may reach (free: device " + text_of_bytes(room.device_free) +
                             ", host " + text_of_bytes(room.host_free) + ")"};
}

std::vector<Chunks> changed_extents(const std::vector<uint8_t>& changed, uint64_t size) {
  std::vector<Chunks> out;
  for (size_t i = 0; i < changed.size(); ++i) {
    if (!changed[i]) continue;
    const uint64_t begin = uint64_t(i) * kChunkSize;
    const uint64_t end = std::min(size, begin + kChunkSize);
    if (!out.empty() && out.back().end == begin)
      out.back().end = end;
    else
      out.push_back({begin, end});
  }
  return out;
}

} // namespace assay::native
