// Copies, comparison, restoring; see memory.hpp.
#include "native/inject/memory.hpp"

#include <algorithm>

namespace assay::native {
namespace {

std::string failed(const char* what, CUresult r) { return std::string(what) + ": " + text_of(r); }

uint64_t chunks_of(uint64_t size) { return (size + kChunkSize - 1) / kChunkSize; }
uint64_t rounded(uint64_t size) { return chunks_of(size) * kChunkSize; }

} // namespace

uint64_t Memory::bytes() const {
  uint64_t sum = 0;
  for (const Allocation& region : regions_) sum += region.size;
  return sum;
}

uint64_t Memory::changed_bytes() const {
  uint64_t sum = 0;
  for (const Region& region : state_)
    for (const auto& [extent, offset] : region.after) sum += extent.end - extent.begin;
  return sum;
}

CUresult Memory::copy(CUdeviceptr to, CUdeviceptr from, uint64_t size) const {
  return api.cuMemcpyAsync(to, from, size, device_.stream());
}

std::string Memory::reach(const std::vector<Allocation>& all, const std::vector<uint8_t>& arguments,
                          bool everything) {
  regions_.clear();
  if (all.empty()) return "";
  std::vector<uint8_t> reached(all.size()), scanned(all.size());
  for (size_t i : pointed_into(arguments, all)) reached[i] = 1;
  std::vector<AddressRange> ranges;
  for (size_t i = 0; i < all.size(); ++i) {
    ranges.push_back({all[i].address, all[i].end()});
    if (all[i].traits & (kModuleMemory | kRuntime)) reached[i] = 1;
  }
  Buffer table, hits;
  CUresult r = table.on_device(ranges.size() * sizeof(AddressRange));
  if (r == CUDA_SUCCESS) r = hits.on_device(all.size());
  if (r == CUDA_SUCCESS)
    r = api.cuMemcpyHtoDAsync(table.at(), ranges.data(), ranges.size() * sizeof(AddressRange),
                              device_.stream());
  if (r == CUDA_SUCCESS) r = api.cuMemsetD8Async(hits.at(), 0, all.size(), device_.stream());
  for (bool more = true; more && r == CUDA_SUCCESS;) {
    more = false;
    for (size_t i = 0; i < all.size() && r == CUDA_SUCCESS; ++i) {
      // Memory that is not private ends the examination anyway; do not touch it.
      if (!reached[i] || scanned[i] || !not_private(all[i].traits).empty()) continue;
      scanned[i] = 1;
      r = device_.find_addresses(all[i].address, all[i].size, table.at(), uint32_t(all.size()),
                                 hits.at());
    }
    std::vector<uint8_t> found(all.size());
    if (r == CUDA_SUCCESS)
      r = api.cuMemcpyDtoHAsync(found.data(), hits.at(), found.size(), device_.stream());
    if (r == CUDA_SUCCESS) r = device_.finish();
    for (size_t i = 0; i < all.size(); ++i) {
      more = more || (found[i] && !reached[i]);
      reached[i] = reached[i] || found[i];
    }
  }
  if (r != CUDA_SUCCESS) return failed("its memory could not be searched for addresses", r);
  for (size_t i = 0; i < all.size(); ++i)
    if (reached[i] || (everything && not_private(all[i].traits).empty()))
      regions_.push_back(all[i]);
  return "";
}

std::string Memory::copy_before(uint64_t host_free) {
  size_t device_free = 0, total = 0;
  CUresult r = api.cuMemGetInfo(&device_free, &total);
  if (r != CUDA_SUCCESS) return failed("free memory is not known", r);
  uint64_t size = 0;
  for (const Allocation& region : regions_) size += rounded(region.size);
  const StorageChoice choice = choose_storage(size, {device_free, host_free});
  storage_ = choice.storage;
  if (storage_ == Storage::none) return choice.reason;
  r = storage_ == Storage::device ? before_.on_device(size) : before_.on_host(size);
  if (r != CUDA_SUCCESS) return failed("no memory for a copy", r);
  std::vector<Allocation> copied;
  uint64_t offset = 0, chunk = 0;
  for (const Allocation& region : regions_) {
    r = copy(before_.at(offset), region.address, region.size);
    if (r != CUDA_SUCCESS && (region.traits & (kModuleMemory | kRuntime))) continue;
    if (r != CUDA_SUCCESS) return failed("some of its memory cannot be copied", r);
    Region state;
    state.before = offset;
    state.chunk = chunk;
    copied.push_back(region);
    for (uint64_t i = 0; i < chunks_of(region.size); ++i)
      expected_.push_back(before_.at(offset + i * kChunkSize));
    offset += rounded(region.size);
    chunk += chunks_of(region.size);
    state_.push_back(std::move(state));
  }
  regions_ = std::move(copied);
  flags_.resize(expected_.size());
  results_.resize(regions_.size());
  r = expected_table_.on_device(expected_.size() * 8);
  if (r == CUDA_SUCCESS) r = flag_table_.on_device(flags_.size());
  if (r == CUDA_SUCCESS) r = result_table_.on_device(results_.size() * sizeof(Comparison));
  if (r == CUDA_SUCCESS && !expected_.empty())
    r = api.cuMemcpyHtoDAsync(expected_table_.at(), expected_.data(), expected_.size() * 8,
                              device_.stream());
  if (r == CUDA_SUCCESS) r = device_.finish();
  return r == CUDA_SUCCESS ? "" : failed("its memory cannot be copied", r);
}

CUresult Memory::run_comparison() {
  if (regions_.empty()) return CUDA_SUCCESS;
  std::fill(results_.begin(), results_.end(), Comparison());
  CUresult r = api.cuMemcpyHtoDAsync(result_table_.at(), results_.data(),
                                     results_.size() * sizeof(Comparison), device_.stream());
  for (size_t i = 0; i < regions_.size() && r == CUDA_SUCCESS; ++i)
    r = device_.compare(regions_[i].address, regions_[i].size,
                        expected_table_.at(state_[i].chunk * 8), flag_table_.at(state_[i].chunk),
                        result_table_.at(i * sizeof(Comparison)));
  if (r == CUDA_SUCCESS)
    r = api.cuMemcpyDtoHAsync(results_.data(), result_table_.at(),
                              results_.size() * sizeof(Comparison), device_.stream());
  if (r == CUDA_SUCCESS) r = device_.finish();
  return r;
}

std::string Memory::copy_after() {
  CUresult r = run_comparison();
  if (r == CUDA_SUCCESS && !flags_.empty())
    r = api.cuMemcpyDtoHAsync(flags_.data(), flag_table_.at(), flags_.size(), device_.stream());
  if (r == CUDA_SUCCESS) r = device_.finish();
  if (r != CUDA_SUCCESS) return failed("its effect cannot be found", r);
  uint64_t size = 0;
  for (size_t i = 0; i < regions_.size(); ++i) {
    Region& state = state_[i];
    state.changed.assign(flags_.begin() + ptrdiff_t(state.chunk),
                         flags_.begin() + ptrdiff_t(state.chunk + chunks_of(regions_[i].size)));
    for (const Chunks& extent : changed_extents(state.changed, regions_[i].size)) {
      state.after.emplace_back(extent, size);
      size += rounded(extent.end - extent.begin);
    }
  }
  size_t device_free = 0, total = 0;
  r = api.cuMemGetInfo(&device_free, &total);
  if (r == CUDA_SUCCESS)
    r = device_free > size + kDeviceReserve / 2 ? after_.on_device(size) : after_.on_host(size);
  for (size_t i = 0; i < regions_.size() && r == CUDA_SUCCESS; ++i)
    for (const auto& [extent, offset] : state_[i].after) {
      if (r == CUDA_SUCCESS)
        r = copy(after_.at(offset), regions_[i].address + extent.begin, extent.end - extent.begin);
      for (uint64_t at = extent.begin; at < extent.end; at += kChunkSize)
        expected_[state_[i].chunk + at / kChunkSize] = after_.at(offset + at - extent.begin);
    }
  if (r == CUDA_SUCCESS && !expected_.empty())
    r = api.cuMemcpyHtoDAsync(expected_table_.at(), expected_.data(), expected_.size() * 8,
                              device_.stream());
  if (r == CUDA_SUCCESS) r = device_.finish();
  return r == CUDA_SUCCESS ? "" : failed("its effect cannot be copied", r);
}

std::string Memory::restore_before() {
  CUresult r = CUDA_SUCCESS;
  for (size_t i = 0; i < regions_.size(); ++i) {
    std::vector<uint8_t> both = state_[i].changed;
    for (size_t c = 0; c < state_[i].touched.size(); ++c) both[c] = both[c] || state_[i].touched[c];
    for (const Chunks& extent : changed_extents(both, regions_[i].size))
      if (r == CUDA_SUCCESS)
        r = copy(regions_[i].address + extent.begin, before_.at(state_[i].before + extent.begin),
                 extent.end - extent.begin);
    state_[i].touched.clear();
  }
  if (r == CUDA_SUCCESS) r = device_.finish();
  return r == CUDA_SUCCESS ? "" : failed("its memory cannot be restored", r);
}

std::string Memory::restore_after() {
  // What differs from the expected and was not changed by the process's run goes back to `before`.
  Difference difference;
  std::string problem = compare(difference);
  CUresult r = CUDA_SUCCESS;
  for (size_t i = 0; i < regions_.size() && problem.empty(); ++i)
    for (const Chunks& extent : changed_extents(state_[i].touched, regions_[i].size))
      for (uint64_t at = extent.begin; at < extent.end && r == CUDA_SUCCESS; at += kChunkSize)
        r = copy(regions_[i].address + at, expected_[state_[i].chunk + at / kChunkSize],
                 std::min<uint64_t>(kChunkSize, extent.end - at));
  if (r == CUDA_SUCCESS && problem.empty()) r = device_.finish();
  for (Region& state : state_) state.touched.clear();
  return !problem.empty() || r == CUDA_SUCCESS ? problem
                                               : failed("its memory cannot be restored", r);
}

std::string Memory::compare(Difference& difference) {
  difference = Difference();
  CUresult r = run_comparison();
  for (const Comparison& result : results_) difference.bytes += result.differing_bytes;
  if (r == CUDA_SUCCESS && difference.bytes) {
    r = api.cuMemcpyDtoHAsync(flags_.data(), flag_table_.at(), flags_.size(), device_.stream());
    if (r == CUDA_SUCCESS) r = device_.finish();
    for (size_t i = 0; i < regions_.size(); ++i)
      state_[i].touched.assign(flags_.begin() + ptrdiff_t(state_[i].chunk),
                               flags_.begin() +
                                   ptrdiff_t(state_[i].chunk + chunks_of(regions_[i].size)));
    auto first = std::find_if(results_.begin(), results_.end(),
                              [](const Comparison& c) { return c.differing_bytes != 0; });
    if (r == CUDA_SUCCESS)
      r = locate(difference, size_t(first - results_.begin()), first->first_chunk);
  }
  return r == CUDA_SUCCESS ? "" : failed("its memory cannot be compared", r);
}

CUresult Memory::locate(Difference& difference, size_t region, uint64_t chunk) {
  const uint64_t begin = chunk * kChunkSize;
  const uint64_t size = std::min<uint64_t>(kChunkSize, regions_[region].size - begin);
  std::vector<uint8_t> now(size), wanted(size);
  CUresult r =
      api.cuMemcpyDtoHAsync(now.data(), regions_[region].address + begin, size, device_.stream());
  if (r == CUDA_SUCCESS)
    r = copy(reinterpret_cast<CUdeviceptr>(wanted.data()), // which may lie in host memory
             expected_[state_[region].chunk + chunk], size);
  if (r == CUDA_SUCCESS) r = device_.finish();
  const auto at = std::mismatch(now.begin(), now.end(), wanted.begin()).first;
  difference.region = region;
  difference.offset = begin + uint64_t(at - now.begin());
  return r;
}

} // namespace assay::native
