// Cost of the race detector alone, in nanoseconds a warp instruction, for the patterns that kernels
// are made of. Each pattern is sound: nothing is reported, as in most runs.
#include "harness.hpp"

#include "race/detector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <functional>
#include <memory>
#include <string_view>

using namespace assay;
using namespace assay::race;

namespace {

constexpr uint64_t kBuffer = uint64_t(1) << 40;
constexpr uint32_t kWarps = 8;

AccessInfo load(uint32_t pc, uint8_t bytes = 4) {
  AccessInfo info;
  info.pc = pc;
  info.bytes = bytes;
  return info;
}
AccessInfo store(uint32_t pc, uint8_t bytes = 4) {
  AccessInfo info = load(pc, bytes);
  info.write = true;
  info.read = false;
  return info;
}
AccessInfo add(uint32_t pc) {
  AccessInfo info = store(pc);
  info.read = info.atomic = info.strong = true;
  info.scope = Scope::gpu;
  return info;
}

// The short ways for weak accesses of whole warps and of one place.
void affine(Detector& d, Space space, Agent agent, uint64_t address, const AccessInfo& info) {
  d.affine(space, agent, address, info.pc, weak_attributes(info.write, false, info.bytes));
}
void broadcast(Detector& d, Space space, Agent agent, uint32_t lanes, uint64_t address,
               const AccessInfo& info) {
  d.broadcast(space, agent, lanes, address, info.pc, weak_attributes(false, false, info.bytes));
}

void full_barrier(Detector& d, uint32_t cta) {
  std::vector<uint32_t> all(kWarps, ~0u), none(kWarps);
  d.barrier({cta, all, all, none});
}

// Runs a body on a fresh detector and prints nanoseconds for one of the instructions that it says
// it executed.
struct Bench {
  std::vector<std::string> chosen;
  bench::Table table = {{"pattern", "ns a warp instruction", "conflicts"}, {}};
  void run(const char* name, uint32_t ctas, const std::function<uint64_t(Detector&)>& body) {
    std::string_view title = name;
    if (!chosen.empty() && std::none_of(chosen.begin(), chosen.end(),
                                        [&](auto& c) { return title.find(c) != title.npos; }))
      return;
    uint64_t instructions = 0;
    size_t conflicts = 0;
    double seconds = 1e9; // the best of some runs, in time on the core: others may use the machine
    for (int run = 0; run < 5; ++run) {
      Detector d({ctas, kWarps, 32}, Limits{});
      d.track(kBuffer, uint64_t(1) << 28);
      d.cta_begin(0, 98304);
      std::clock_t start = std::clock();
      instructions = body(d);
      seconds = std::min(seconds, double(std::clock() - start) / CLOCKS_PER_SEC);
      conflicts = d.conflicts().size();
    }
    table.rows.push_back({name, fmt::format("{:.1f}", seconds * 1e9 / double(instructions)),
                          fmt::format("{}", conflicts)});
  }
};

// Tiles: every warp stores its rows, all load all rows, with barriers between.
uint64_t shared_tiles(Detector& d) {
  uint64_t n = 0;
  for (int phase = 0; phase < 500; ++phase) {
    for (uint32_t w = 0; w < kWarps; ++w)
      for (uint32_t r = 0; r < 8; ++r, ++n)
        affine(d, Space::shared, {0, w}, (w * 8 + r) * 128, store(r));
    full_barrier(d, 0);
    for (uint32_t w = 0; w < kWarps; ++w)
      for (uint32_t r = 0; r < 64; ++r, ++n)
        affine(d, Space::shared, {0, w}, r * 128, load(100 + r % 4));
    full_barrier(d, 0);
  }
  return n;
}

uint64_t shared_broadcast(Detector& d) {
  uint64_t n = 0;
  for (int phase = 0; phase < 500; ++phase) {
    for (uint32_t w = 0; w < kWarps; ++w) affine(d, Space::shared, {0, w}, w * 128, store(1));
    full_barrier(d, 0);
    for (uint32_t w = 0; w < kWarps; ++w)
      for (uint32_t k = 0; k < 256; ++k, ++n)
        broadcast(d, Space::shared, {0, w}, ~0u, k * 4, load(2));
    full_barrier(d, 0);
  }
  return n;
}

// `stride` words between lanes: 32 distinct cells.
uint64_t shared_gather(Detector& d, uint32_t stride, bool write) {
  uint64_t n = 0;
  std::array<uint64_t, 32> address;
  std::array<uint32_t, 32> values{};
  for (int phase = 0; phase < 200; ++phase) {
    for (uint32_t w = 0; w < kWarps; ++w)
      for (uint32_t k = 0; k < 32; ++k, ++n) {
        for (uint32_t l = 0; l < 32; ++l)
          address[l] = ((l * stride + k + (write ? w * 32 : 0)) * 4) % 65536;
        d.access(Space::shared, {0, w}, ~0u, address.data(), write ? store(1) : load(1),
                 values.data(), 4, 0);
      }
    full_barrier(d, 0);
  }
  return n;
}

// 16 × 16 threads: lanes l and l + 16 load the same word.
uint64_t shared_halves(Detector& d) {
  uint64_t n = 0;
  std::array<uint64_t, 32> address;
  for (int phase = 0; phase < 200; ++phase) {
    for (uint32_t w = 0; w < kWarps; ++w)
      for (uint32_t k = 0; k < 16; ++k, ++n) {
        for (uint32_t l = 0; l < 32; ++l) address[l] = (k * 16 + l % 16) * 4;
        d.access(Space::shared, {0, w}, ~0u, address.data(), load(1), nullptr, 0, 0);
      }
    full_barrier(d, 0);
  }
  return n;
}

uint64_t global_stream(Detector& d, uint8_t bytes) {
  uint64_t n = 0, rows = (uint64_t(1) << 24) / (32 * bytes);
  for (uint64_t r = 0; r < rows; ++r, ++n)
    affine(d, Space::global, {0, uint32_t(r % kWarps)}, kBuffer + r * 32 * bytes, store(1, bytes));
  return n;
}

uint64_t global_in_place(Detector& d) {
  uint64_t n = 0;
  for (int round = 0; round < 20; ++round)
    for (uint64_t r = 0; r < 4096; ++r, n += 2) {
      affine(d, Space::global, {0, uint32_t(r % kWarps)}, kBuffer + r * 128, load(1));
      affine(d, Space::global, {0, uint32_t(r % kWarps)}, kBuffer + r * 128, store(2));
    }
  return n;
}

// Many CTAs load the same rows, one after the other.
uint64_t global_readers(Detector& d) {
  uint64_t n = 0;
  for (uint32_t c = 1; c < 1000; ++c) {
    d.cta_begin(c, 0);
    for (uint32_t w = 0; w < kWarps; ++w)
      for (uint64_t r = 0; r < 64; ++r, ++n)
        affine(d, Space::global, {c, w}, kBuffer + r * 128, load(1));
    d.cta_end(c);
  }
  return n;
}

uint64_t warp_syncs(Detector& d) {
  uint64_t n = 0;
  for (int round = 0; round < 2000; ++round)
    for (uint32_t w = 0; w < kWarps; ++w, n += 2) {
      affine(d, Space::shared, {0, w}, w * 256, store(1));
      d.warp_sync({0, w}, ~0u);
      affine(d, Space::shared, {0, w}, w * 256 + 4, load(2));
      d.warp_sync({0, w}, ~0u);
    }
  return n;
}

// Two halves of the CTA, each with a barrier of its own.
uint64_t named_barriers(Detector& d) {
  uint64_t n = 0;
  std::vector<uint32_t> none(kWarps);
  for (int round = 0; round < 2000; ++round)
    for (uint32_t half = 0; half < 2; ++half) {
      std::vector<uint32_t> part(kWarps);
      for (uint32_t w = half * 4; w < half * 4 + 4; ++w, n += 2) {
        part[w] = ~0u;
        affine(d, Space::shared, {0, w}, w * 128, store(1));
      }
      d.barrier({0, part, part, none});
      for (uint32_t w = half * 4; w < half * 4 + 4; ++w)
        affine(d, Space::shared, {0, w}, (w ^ 1) * 128, load(2));
      d.barrier({0, part, part, none});
    }
  return n;
}

uint64_t histogram(Detector& d, bool global) {
  uint64_t n = 0, seed = 1;
  std::array<uint64_t, 32> address;
  Space space = global ? Space::global : Space::shared;
  for (uint32_t c = 1; c < 64; ++c) {
    d.cta_begin(c, 4096);
    for (int k = 0; k < 16; ++k)
      for (uint32_t w = 0; w < kWarps; ++w, ++n) {
        for (uint64_t& a : address) {
          seed = seed * 6364136223846793005ull + 1442695040888963407ull;
          a = (global ? kBuffer : 0) + (seed >> 56) * 4;
        }
        d.access(space, {c, w}, ~0u, address.data(), add(1), nullptr, 0, 0);
        for (uint32_t l = 0; l < 32; ++l)
          d.read_modify_write(space, {c, w}, l, address[l], 4, Detector::Order::relaxed, Scope::gpu,
                              true);
      }
    d.cta_end(c);
  }
  return n;
}

// The last CTA to arrive sums up: fence and atomic by thread 0 of every CTA.
uint64_t last_block(Detector& d) {
  uint64_t n = 0;
  for (uint32_t c = 1; c < 1000; ++c, n += 10) {
    d.cta_begin(c, 1024);
    for (uint32_t w = 0; w < kWarps; ++w)
      affine(d, Space::global, {c, w}, kBuffer + 4096 + (c * 8 + w) * 128, store(1));
    full_barrier(d, c);
    uint64_t counter = kBuffer;
    d.fence({c, 0}, 1, Detector::Fence::sc, Scope::gpu);
    d.access(Space::global, {c, 0}, 1, &counter, add(2), nullptr, 0, 0);
    d.read_modify_write(Space::global, {c, 0}, 0, counter, 4, Detector::Order::relaxed, Scope::gpu,
                        false);
    d.fence({c, 0}, 1, Detector::Fence::sc, Scope::gpu);
    full_barrier(d, c);
    d.cta_end(c);
  }
  return n;
}

} // namespace

// Words on the command line select the patterns whose names contain one of them.
int main(int argc, char** argv) {
  fmt::print("processor     {}\n\n", bench::processor());
  Bench b{{argv + 1, argv + argc}};
  b.run("shared tiles, affine", 1, shared_tiles);
  b.run("shared broadcast", 1, shared_broadcast);
  b.run("shared gather, stride 1", 1, [](Detector& d) { return shared_gather(d, 1, false); });
  b.run("shared gather, stride 33", 1, [](Detector& d) { return shared_gather(d, 33, false); });
  b.run("shared scatter, stride 257", 1, [](Detector& d) { return shared_gather(d, 257, true); });
  b.run("shared, both half-warps alike", 1, shared_halves);
  b.run("global store once, 4 bytes", 1, [](Detector& d) { return global_stream(d, 4); });
  b.run("global store once, 16 bytes", 1, [](Detector& d) { return global_stream(d, 16); });
  b.run("global in place", 1, global_in_place);
  b.run("global read by 1000 CTAs", 1000, global_readers);
  b.run("warp syncs", 1, warp_syncs);
  b.run("named barriers", 1, named_barriers);
  b.run("shared histogram", 64, [](Detector& d) { return histogram(d, false); });
  b.run("global histogram", 64, [](Detector& d) { return histogram(d, true); });
  b.run("last block sums", 1000, last_block);
  fmt::print("{}", b.table.text());
  return 0;
}
