// What the library has in one context of the process: its own stream, its helper kernels, the
// patches. Everything here runs while the process's own work is at rest, or before it goes on.
#pragma once

#include "native/inject/api.hpp"

#include <chrono>
#include <vector>

namespace assay::native {

struct Comparison { // as in helpers.cu
  unsigned long long differing_bytes = 0;
  unsigned long long first_chunk = ~0ull;
};

// Memory of the device, or of the host where the device can reach it; freed with the object.
class Buffer {
public:
  Buffer() = default;
  ~Buffer() { reset(); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  CUresult on_device(size_t size);
  CUresult on_host(size_t size);
  void reset();
  void forget() { address_ = 0; } // leaves the memory to the end of the process
  CUdeviceptr at(uint64_t offset = 0) const { return address_ + offset; }
  size_t size() const { return size_; }

private:
  CUdeviceptr address_ = 0;
  size_t size_ = 0;
  bool host_ = false;
};

class Device {
public:
  // Loads helpers and patches. Empty, or why not. To be called with the context current.
  std::string open(CUcontext context);

  CUstream stream() const { return stream_; }
  uint32_t processors() const { return processors_; }
  const std::vector<std::string>& missing_classes() const { return missing_; }
  const std::string& card() const { return card_; }

  // Waits for a stream; false when it takes longer than the limit. `result` tells of errors.
  static bool wait(CUstream stream, std::chrono::milliseconds limit, CUresult& result);
  // Our own stream, for as long as it takes.
  CUresult finish() const;

  // Asks for patches of all classes in a module and applies them; classes that this version of the
  // API does not know are remembered in missing_classes().
  std::string patch(CUmodule module);
  static std::string unpatch(CUmodule module);

  // Refills the shared memory of all multiprocessors; how many were reached.
  CUresult scrub(uint32_t pattern, uint32_t& reached);
  // The same with blocks of so many threads and bytes, as many as are resident together.
  CUresult scrub_as(uint64_t threads, uint32_t shared_bytes, uint32_t pattern);
  // Pressure from outside, begun on our own stream just before a repeat: it ends by itself, so that
  // nothing can wait for it for ever.
  enum class Pressure { cold_cache, memory_traffic, fewer_processors };
  static constexpr uint32_t kPressures = 3;
  static const char* pressure_name(Pressure kind);
  CUresult press(Pressure kind, uint64_t nanoseconds, uint32_t seed);
  // Gives its memory back; at the end of an examination.
  void relax() { pressure_memory_.reset(); }
  CUresult compare(CUdeviceptr memory, uint64_t size, CUdeviceptr expected, CUdeviceptr changed,
                   CUdeviceptr result) const;
  CUresult find_addresses(CUdeviceptr words, uint64_t bytes, CUdeviceptr ranges, uint32_t count,
                          CUdeviceptr hit) const;

private:
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  CUmodule helpers_ = nullptr;
  CUfunction scrub_ = nullptr, compare_ = nullptr, find_ = nullptr;
  CUfunction flush_ = nullptr, press_ = nullptr;
  Buffer pressure_memory_;
  CUdeviceptr scrub_memory_ = 0;
  uint32_t processors_ = 0, shared_bytes_ = 0, cache_bytes_ = 0;
  std::vector<std::string> missing_;
  std::string card_;
};

// The device code that is part of this library.
const void* patches_image();
const void* helpers_image();

} // namespace assay::native
