// What a run left, for --out and --show; see buffers.hpp.
#include "cli/buffers.hpp"

#include "base/file.hpp"
#include "cli/outputs.hpp"
#include "inputs/npy.hpp"

#include <cstring>
#include <fmt/format.h>

namespace assay::cli {
namespace {

// The bytes of a buffer as --out writes them: 0xFF where nobody stored anything.
std::string bytes_of(const vgpu::Outcome& outcome, uint32_t buffer) {
  const auto& memory = outcome.memory[buffer];
  const auto& init = outcome.initialised[buffer];
  std::string out(memory.begin(), memory.end());
  if (!init.empty())
    for (size_t i = 0; i < out.size(); ++i)
      if (!(init[i / 8] >> (i % 8) & 1)) out[i] = char(0xff);
  return out;
}

} // namespace

Result<void> write_outs(const cases::Case& subject, const vgpu::Outcome& outcome) {
  if (outcome.memory.size() < subject.buffers.size()) return {};
  for (const cases::Out& out : subject.outs) {
    // write_file() would make the folder; of a name that a person gave, that is a slip of the pen.
    if (Result<void> good = can_be_written(out.file); !good) return good;
    std::string data = bytes_of(outcome, out.buffer);
    const cases::BufferInfo& info = subject.buffers[out.buffer];
    if (inputs::is_npy_name(out.file)) {
      inputs::DType type = info.dtype.value_or(inputs::DType::u8);
      uint64_t count = data.size() / inputs::bytes(type), product = 1;
      for (uint64_t extent : info.shape) product *= extent;
      data = inputs::print_npy(
          type, product == count && !info.shape.empty() ? info.shape : std::vector<uint64_t>{count},
          data);
    }
    if (Result<void> done = write_file(out.file, data); !done) return done;
  }
  return {};
}

namespace {

std::string show(const cases::Case& subject, const vgpu::Outcome& outcome,
                 const cases::ShowBuffer& show) {
  const auto& memory = outcome.memory[show.buffer];
  const auto& init = outcome.initialised[show.buffer];
  size_t step = inputs::bytes(show.type), count = memory.size() / step;
  std::string out = fmt::format("{}: {}[{}]\n", subject.buffers[show.buffer].name,
                                inputs::format(show.type).name, count);
  size_t row = step >= 8 ? 4 : 8;
  for (size_t i = 0; i < count; ++i) {
    if (i % row == 0) out += fmt::format("{:>8}:", i);
    uint64_t bits = 0;
    std::memcpy(&bits, memory.data() + i * step, step);
    bool written = init.empty();
    for (size_t k = i * step; !written && k < (i + 1) * step; ++k)
      written = init[k / 8] >> (k % 8) & 1;
    out += " " + (written ? inputs::print_value(show.type, bits) : "-");
    if (i % row == row - 1 || i + 1 == count) out += "\n";
  }
  return out;
}

} // namespace

std::string shown_buffers(const cases::Case& subject, const vgpu::Outcome& outcome) {
  std::string out;
  if (outcome.memory.size() < subject.buffers.size()) return out;
  for (const cases::ShowBuffer& buffer : subject.shows) out += show(subject, outcome, buffer);
  return out;
}

} // namespace assay::cli
