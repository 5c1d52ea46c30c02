// Copies of the memory that a launch may reach: as it was before, what the process's own run
// changed, and comparison and restoring against either. See native/snapshot.hpp for the idea.
#pragma once

#include "native/allocations.hpp"
#include "native/inject/device.hpp"
#include "native/snapshot.hpp"

#include <memory>

namespace assay::native {

struct Difference {
  uint64_t bytes = 0;
  size_t region = 0;   // of the first
  uint64_t offset = 0; // in the region
};

class Memory {
public:
  explicit Memory(Device& device) : device_(device) {}

  // Which of `all` the arguments reach, directly or through memory; module variables always. Empty,
  // or why it could not be found out. `everything`: all private memory besides.
  std::string reach(const std::vector<Allocation>& all, const std::vector<uint8_t>& arguments,
                    bool everything);
  const std::vector<Allocation>& regions() const { return regions_; }
  uint64_t bytes() const;
  uint64_t changed_bytes() const;
  bool on_host() const { return storage_ == Storage::host; }

  // Copies all regions. Module variables that cannot be copied are left out (a store to them is
  // then a stray store); anything else that cannot is a reason.
  std::string copy_before(uint64_t host_free);
  // After the process's own run: finds and copies what it changed.
  std::string copy_after();
  // Puts everything back as it was before the launch.
  std::string restore_before();
  // Puts everything back as the process's own run left it.
  std::string restore_after();
  // Compares with what the process's own run left.
  std::string compare(Difference& difference);

private:
  struct Region {
    uint64_t chunk = 0;           // of the first, in the tables over all regions
    std::vector<uint8_t> changed; // by the process's own run
    std::vector<uint8_t> touched; // differing from the expected since the last restore
    uint64_t before = 0;          // offset in before_
    std::vector<std::pair<Chunks, uint64_t>> after; // extents and their offsets in after_
  };
  CUresult run_comparison();
  CUresult copy(CUdeviceptr to, CUdeviceptr from, uint64_t size) const;
  CUresult locate(Difference& difference, size_t region, uint64_t chunk);

  Device& device_;
  Storage storage_ = Storage::none;
  std::vector<Allocation> regions_;
  std::vector<Region> state_;
  std::vector<uint64_t> expected_; // for each chunk of each region: where its expected bytes stand
  std::vector<uint8_t> flags_;     // for each chunk: differs
  std::vector<Comparison> results_;
  Buffer before_, after_, expected_table_, flag_table_, result_table_;
};

} // namespace assay::native
