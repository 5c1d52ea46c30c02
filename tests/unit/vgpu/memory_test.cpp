// What the short ways of loads and stores must leave to the general one, which reports it.
#include "job.hpp"

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

} // namespace
} // namespace assay::vgpu::test
