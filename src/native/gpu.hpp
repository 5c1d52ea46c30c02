// A job on this machine's GPU: PTX, buffers, launches in order, through the CUDA driver, which is
// looked up at run time. What a case file describes, done as an ordinary CUDA program would do it.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::native {

struct GpuBuffer {
  uint64_t bytes = 0;
  std::vector<uint8_t> data; // initial bytes; shorter: a pattern behind them
  std::string name = {};
  bool output = false; // every byte has to be written
  bool input = false;  // no byte may change
};

struct GpuPointer { // an address inside an argument
  uint32_t offset = 0, buffer = 0;
  uint64_t addend = 0;
};

struct GpuArgument {
  std::vector<uint8_t> bytes;
  std::vector<GpuPointer> pointers;
};

struct GpuLaunch {
  std::string symbol;
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, cluster[3] = {1, 1, 1};
  uint32_t shared = 0; // dynamic
  bool cooperative = false;
  std::vector<GpuArgument> arguments;
};

struct GpuJob {
  std::string ptx;
  std::vector<GpuBuffer> buffers;
  std::vector<GpuLaunch> launches;
  uint32_t limit_seconds = 60; // for each launch; the process has to end afterwards
};

// Runs it. The value: what is wrong with outputs and inputs, a sentence each that begins with the
// kind of finding. Where bytes of an output look unwritten, the job runs once more over another
// pattern. Errors: environment (no driver, no device), unsupported (the driver refuses the PTX or a
// launch), usage (a launch ended with an error).
Result<std::vector<std::string>> run_on_gpu(const GpuJob& job);

// The same for buffers as they were left, over each of two patterns: `second` may be empty when the
// first run left no byte of an output as it was.
std::vector<std::string> findings_in(const std::vector<GpuBuffer>& buffers,
                                     const std::vector<std::vector<uint8_t>>& first,
                                     const std::vector<std::vector<uint8_t>>& second);
bool looks_unwritten(const std::vector<GpuBuffer>& buffers,
                     const std::vector<std::vector<uint8_t>>& first);

} // namespace assay::native
