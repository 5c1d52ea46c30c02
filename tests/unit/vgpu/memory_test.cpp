// The short ways of loads and stores: what they must leave to the general one, which reports it,
// and that they move the right bytes for every pattern of addresses, mask, size and alignment.
#include "job.hpp"

#include "base/random.hpp"
#include "vgpu/memory.hpp"

#include <algorithm>
#include <numeric>

namespace assay::vgpu::test {
namespace {

// Lanes access neighbouring words in pairs the other way round; lane 5 with one more bit set.
std::string one_lane_astray(const char* access, unsigned bit) {
  return header(".param .u64 a") +
         fmt::format(".reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<9>;\n"
                     "ld.param.u64 %d1, [a]; mov.u32 %r1, %tid.x; xor.b32 %r2, %r1, 1;\n"
                     "mul.wide.u32 %d2, %r2, 4; add.s64 %d3, %d1, %d2; setp.eq.u32 %p1, %r1, 5;\n"
                     "selp.b64 %d4, {:#x}, 0, %p1; add.s64 %d3, %d3, %d4; {}; ret; }}\n",
                     uint64_t(1) << bit, access);
}

TEST(Memory, OneLaneOutsideByOneBitOfItsAddress) {
  for (const char* access : {"ld.global.u32 %r3, [%d3]", "st.global.u32 [%d3], %r1"})
    for (unsigned bit = 7; bit < 64; ++bit) {
      JobSpec j = job(one_lane_astray(access, bit), 1, 32, {128});
      for (bool detect : {false, true}) {
        RunOptions options;
        options.detect = detect;
        Outcome o = run_with(j, "canonical", 1, options);
        ASSERT_EQ(o.events.size(), 1u) << access << ", bit " << bit;
        EXPECT_EQ(o.events[0].kind, EventKind::out_of_bounds) << access << ", bit " << bit;
        EXPECT_EQ(o.events[0].places[0].lane, 5u);
      }
    }
}

// The bits of rows against bit after bit, at all offsets of their words.
template <uint64_t Bytes> void rows_of_bits() {
  Random random(Bytes);
  for (uint64_t offset = 0; offset < 192; ++offset)
    for (int hole = -2; hole < 20; ++hole) {
      std::vector<uint64_t> init((offset + Bytes) / 64 + 9);
      for (uint64_t& w : init) w = hole == -2 ? random.next() : ~uint64_t(0);
      if (hole >= 0) { // one bit is missing: inside, or just outside
        uint64_t at = hole < 4 ? offset + (hole & 1 ? Bytes : 0) - (hole & 2 ? 1 : 0)
                               : offset + random.below(Bytes);
        if (at != ~uint64_t(0)) init[at / 64] &= ~(uint64_t(1) << at % 64);
      }
      EXPECT_EQ(init_test_long<Bytes>(init.data(), offset), init_test(init.data(), offset, Bytes))
          << Bytes << " at " << offset << ", hole " << hole;
      std::vector<uint64_t> same = init;
      init_set_long<Bytes>(init.data(), offset);
      init_set(same.data(), offset, Bytes);
      EXPECT_EQ(init, same) << Bytes << " at " << offset;
    }
}
TEST(Memory, InitialisationBitsOfRows) {
  rows_of_bits<32>();
  rows_of_bits<64>();
  rows_of_bits<128>();
  rows_of_bits<512>();
}

// An address register that first holds equal addresses, then some that only begin like a row: what
// has been seen of a pattern counts only while it cannot change.
TEST(Memory, APatternIsLookedAtAgainWhereTheAddressMayChange) {
  std::string text =
      header(".param .u64 a, .param .u64 b") +
      ".reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<9>;\n"
      "ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; mov.u32 %r1, %tid.x; mov.u32 %r2, 0;\n"
      "mov.u32 %r5, 0; sub.u32 %r6, 33, %r1; setp.lt.u32 %p2, %r1, 2; selp.u32 %r6, %r1, %r6, %p2;"
      "L: mul.lo.u32 %r3, %r6, %r2; mul.wide.u32 %d3, %r3, 4; add.s64 %d4, %d1, %d3;\n"
      "ld.global.u32 %r4, [%d4]; mad.lo.u32 %r5, %r5, 31, %r4;\n"
      "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 2; @%p1 bra L;\n"
      "mul.wide.u32 %d5, %r1, 4; add.s64 %d6, %d2, %d5; st.global.u32 [%d6], %r5; ret; }\n";
  JobSpec j = job(text, 1, 32, {128, 128});
  j.buffers[0].data.resize(128);
  for (uint32_t i = 0; i < 32; ++i) j.buffers[0].data[4 * i] = uint8_t(i + 1);
  Outcome o = run_with(j, "canonical", 1);
  ASSERT_TRUE(o.completed);
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(o.memory[1][4 * lane], 31 + (lane < 2 ? lane : 33 - lane) + 1) << lane;
}

struct Access {
  const char* type;      // of ld and st
  const char* registers; // that hold it
  uint32_t bytes;
};
constexpr Access kAccesses[] = {{"u8", "%r5", 1},
                                {"u16", "%r5", 2},
                                {"u32", "%r5", 4},
                                {"u64", "%d9", 8},
                                {"v2.u32", "{%r5, %r6}", 8},
                                {"v4.u32", "{%r5, %r6, %r7, %r8}", 16},
                                {"v2.u64", "{%d8, %d9}", 16}};

// From s + from[lane] to d + to[lane] in the lanes with a guard, by way of shared memory or not.
std::string copy_kernel(const Access& a, bool guarded, bool shared) {
  const char* guard = guarded ? "@%p1 " : "";
  std::string text = header(".param .u64 o, .param .u64 s, .param .u64 d") +
                     ".reg .b32 %r<12>; .reg .b64 %d<12>; .reg .pred %p<2>;\n"
                     ".shared .align 16 .b8 tile[2048];\n"
                     "ld.param.u64 %d1, [o]; ld.param.u64 %d2, [s]; ld.param.u64 %d3, [d];\n"
                     "mov.u32 %r1, %tid.x; mul.wide.u32 %d4, %r1, 12; add.u64 %d1, %d1, %d4;\n"
                     "ld.global.u32 %r2, [%d1]; ld.global.u32 %r3, [%d1+4];\n"
                     "ld.global.u32 %r4, [%d1+8]; setp.ne.u32 %p1, %r4, 0;\n"
                     "cvt.u64.u32 %d5, %r2; add.u64 %d5, %d5, %d2; cvt.u64.u32 %d6, %r3;\n"
                     "add.u64 %d6, %d6, %d3; mov.u32 %r9, tile; add.u32 %r9, %r9, %r3;\n";
  text += fmt::format("{}ld.global.{} {}, [%d5];\n", guard, a.type, a.registers);
  if (shared)
    text += fmt::format("{0}st.shared.{1} [%r9], {2}; bar.sync 0; {0}ld.shared.{1} {2}, [%r9];\n",
                        guard, a.type, a.registers);
  return text + fmt::format("{}st.global.{} [%d6], {}; ret; }}\n", guard, a.type, a.registers);
}

// Places of 32 lanes in units of one access: in a row, all one, the halves in rows or each one,
// pairs the other way round, any. Distinct: no two lanes at one place.
std::vector<uint32_t> places(uint32_t pattern, bool distinct, Random& random) {
  std::vector<uint32_t> at(32), any(96);
  std::iota(any.begin(), any.end(), 0);
  for (uint32_t i = 0; i < 32; ++i) std::swap(any[i], any[i + random.below(96 - i)]);
  uint32_t low = random.below(32), high = 64 + random.below(16);
  for (uint32_t i = 0; i < 32; ++i) {
    uint32_t half = i < 16 ? low : high;
    at[i] = pattern == 0               ? low + i
            : pattern == 1             ? half + i % 16
            : pattern == 2             ? low + (i ^ 1)
            : distinct || pattern == 3 ? any[i]
            : pattern == 4             ? low
                                       : half;
  }
  return at;
}

TEST(Memory, EveryPatternMovesItsBytes) {
  Random random(3);
  for (uint32_t turn = 0; turn < 700; ++turn) {
    const Access& a = kAccesses[turn % std::size(kAccesses)];
    bool guarded = random.below(2), shared = random.below(2);
    uint32_t lanes = random.below(2) ? 32 : 1 + random.below(32);
    std::vector<uint32_t> from = places(random.below(6), false, random),
                          to = places(random.below(6), true, random);
    JobSpec j = job(copy_kernel(a, guarded, shared), 1, lanes, {32 * 12, 2048, 2048});
    j.buffers[1].align = j.buffers[2].align = random.below(2) ? a.bytes : 256;
    for (uint8_t& b : j.buffers[1].data) b = uint8_t(random.next());
    j.buffers[2].data.clear();
    std::vector<uint8_t> want(2048), written(256);
    for (uint32_t i = 0; i < lanes; ++i) {
      uint32_t on = !guarded || random.below(3) != 0;
      uint32_t words[] = {from[i] * a.bytes, to[i] * a.bytes, on};
      std::memcpy(&j.buffers[0].data[i * 12], words, 12);
      for (uint32_t b = 0; b < a.bytes && on; ++b) {
        want[words[1] + b] = j.buffers[1].data[words[0] + b];
        written[(words[1] + b) / 8] |= uint8_t(1u << (words[1] + b) % 8);
      }
    }
    for (const char* level : {"portable", "avx2", "avx512"})
      for (bool detect : {false, true}) {
        RunOptions options;
        options.level = level;
        options.detect = detect;
        Outcome o = run_with(j, "canonical", 1, options);
        ASSERT_TRUE(o.completed && o.uninitialised_reads.empty()) << turn << ' ' << a.type;
        EXPECT_EQ(o.written[2], written) << turn << ' ' << a.type << ' ' << level;
        for (size_t b = 0; b < want.size(); ++b)
          if (written[b / 8] >> b % 8 & 1) {
            ASSERT_EQ(o.memory[2][b], want[b]) << turn << ' ' << a.type << ' ' << level;
          }
        for (const auto& launch : o.conflicts) EXPECT_TRUE(launch.conflicts.empty()) << turn;
      }
  }
}

} // namespace
} // namespace assay::vgpu::test
