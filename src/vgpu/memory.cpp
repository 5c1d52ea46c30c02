// Device memory: allocation, poison, export of the final bytes.
#include "vgpu/memory.hpp"

#include "base/check.hpp"
#include "base/hash.hpp"

#include <cstring>

namespace assay::vgpu {

namespace {
uint32_t poison_word(uint64_t index, Poison poison) {
  // As 32-bit words: NaN-like 0x7fffdead (also a NaN as two halves and in f64), small finite
  // 0x3f000000 + position (0.5 upward), index-like: small numbers below 7. All zero is what a test
  // of a flag tells from every other, and what memory most often holds in fact.
  const auto k = uint32_t(index);
  switch (poison) {
  case Poison::zero: return 0;
  case Poison::nan_like: return 0x7fffdeadu;
  case Poison::small_finite: return 0x3f000000u + (k * 0x9e37u & 0x3fffffu);
  default: return (k * 5u + 3u) % 7u;
  }
}
} // namespace

void poison_fill(uint8_t* host, uint64_t size, Poison poison) {
  if (poison == Poison::zero) {
    if (size) std::memset(host, 0, size);
    return;
  }
  for (uint64_t i = 0; i < size; i += 4) {
    const uint32_t word = poison_word(i >> 2, poison);
    std::memcpy(host + i, &word, size - i < 4 ? size - i : 4);
  }
}

uint8_t poison_byte(uint64_t offset, Poison poison) {
  return uint8_t(poison_word(offset >> 2, poison) >> 8 * (offset & 3));
}

Region Memory::make(uint64_t base, uint64_t size, const std::vector<uint8_t>* data, Poison poison) {
  Region r;
  r.host = behind_slack(storage_.emplace_back(with_slack(size))) + base % 64;
  r.size = size;
  r.base = base;
  if (data) {
    CHECK(data->size() <= size);
    if (!data->empty()) std::memcpy(r.host, data->data(), data->size());
  } else {
    poison_fill(r.host, size, poison);
    auto& init = init_storage_.emplace_back((size + 63) / 64 + 8, uint64_t(0));
    r.init = init.data();
  }
  return r;
}

Memory::Memory(const JobSpec& job, Poison poison, const std::vector<bool>& tracked_inputs)
    : poison_(poison) {
  for (uint32_t i = 0; i < job.buffers.size(); ++i) {
    const BufferSpec& b = job.buffers[i];
    // Bases are aligned to 256 unless the job asks for less: then the base sits at that alignment.
    uint64_t base =
        ir::window_base(ir::kFirstBufferWindow + i) + (b.align >= 256 ? 0x100 : 0x100 + b.align);
    bool initialised = !b.data.empty() || b.bytes == 0;
    Region r = make(base, b.bytes, initialised ? &b.data : nullptr, poison);
    r.index = i;
    r.tracked = !b.expect_unwritten || tracked_inputs[i];
    r.retrack_on_store = b.expect_unwritten && !tracked_inputs[i];
    buffers_.push_back(r);
    names_.push_back(b.name);
  }
  first_buffer_ = buffers_.data();
  buffer_count_ = buffers_.size();
}

void Memory::load_module(const ir::Program& program) {
  if (module_ == program.module.get()) return;
  CHECK(module_ == nullptr); // all launches of a job come from one module
  module_ = program.module.get();
  for (uint32_t i = 0; i < program.globals.size(); ++i) {
    const ir::GlobalVariable& g = program.globals[i];
    std::vector<uint8_t> data = g.init;
    data.resize(g.bytes); // without an initialiser: zeros
    Region r = make(g.address, g.bytes, &data, poison_);
    r.index = uint32_t(names_.size());
    r.read_only = g.read_only;
    r.tracked = !g.read_only;
    CHECK(g.address == ir::window_base(ir::kFirstModuleWindow + i));
    globals_.push_back(r);
    names_.push_back(g.name);
  }
  first_global_ = globals_.data();
  global_count_ = globals_.size();
}

std::vector<Region*> Memory::regions() {
  std::vector<Region*> all;
  for (Region& r : buffers_) all.push_back(&r);
  for (Region& r : globals_) all.push_back(&r);
  return all;
}

void Memory::export_to(Outcome& outcome) {
  Hasher hasher;
  for (Region* r : regions()) {
    outcome.memory_names.push_back(names_[r->index]);
    std::vector<uint8_t> bytes(r->host, r->host + r->size), init;
    if (r->init) {
      init.resize((r->size + 7) / 8);
      std::memcpy(init.data(), r->init, init.size());
      // Bytes that nobody wrote stay out of the digest: they count as zero there.
      std::vector<uint8_t> masked = bytes;
      for (uint64_t i = 0; i < r->size; ++i)
        if (!(init[i >> 3] >> (i & 7) & 1)) masked[i] = 0;
      hasher.add(masked.data(), masked.size());
      hasher.add(init.data(), init.size());
    } else {
      hasher.add(bytes.data(), bytes.size());
    }
    outcome.memory.push_back(std::move(bytes));
    outcome.written.push_back(init);
    outcome.initialised.push_back(std::move(init));
  }
  outcome.digest = hasher.digest();
}

} // namespace assay::vgpu
