// Where the copies of memory go, and which chunks a run changed. Two copies exist: `before`, all
// that the launch may reach, and `after`, only the chunks that the application's own run changed.
// What a run is compared with, and what is restored in the end, is `after` where there is one and
// `before` elsewhere: no trust in what patches saw is needed, and stores that no patch sees (bulk
// and tensor copies) count like all others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace assay::native {

enum class Storage { device, host, none };

struct Room {
  uint64_t device_free = 0, host_free = 0;
};

// A part of each stays free: for the application, the runtime and the conflict pass.
constexpr uint64_t kDeviceReserve = uint64_t(1) << 30;

struct StorageChoice {
  Storage storage = Storage::none;
  std::string reason; // of none
};

// Rule 5: device copy, else pinned host copy (at most half of what is free), else unknown.
StorageChoice choose_storage(uint64_t bytes, const Room& room);

constexpr uint32_t kChunkSize = 64 * 1024;

struct Chunks {
  uint64_t begin = 0, end = 0; // bytes, relative to the allocation
};

// Runs of changed chunks as byte extents; the last chunk may be short.
std::vector<Chunks> changed_extents(const std::vector<uint8_t>& changed, uint64_t size);

std::string text_of_bytes(uint64_t bytes); // "812 B", "1.5 MiB"

} // namespace assay::native
