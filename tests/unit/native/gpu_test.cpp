// What a job left in its outputs and inputs.
#include "native/gpu.hpp"

#include <gtest/gtest.h>

namespace assay::native {
namespace {

using Memory = std::vector<std::vector<uint8_t>>;

TEST(GpuJob, BytesThatFollowThePatternWereNeverWritten) {
  GpuBuffer y{4, {}, "y"};
  y.output = true;
  const std::vector<GpuBuffer> buffers = {y};
  EXPECT_FALSE(looks_unwritten(buffers, Memory{{1, 2, 3, 4}}));
  const Memory first = {{1, 0xa5, 0xa5, 4}};
  EXPECT_TRUE(looks_unwritten(buffers, first));
  // The second byte is written, with the value of the first pattern.
  const auto found = findings_in(buffers, first, Memory{{1, 0xa5, 0x5a, 4}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0], "unwritten-output: 1 of the 4 bytes of the output y were never written; the "
                      "first is byte 2");
  EXPECT_TRUE(findings_in(buffers, Memory{{1, 2, 3, 4}}, {}).empty());
}

TEST(GpuJob, InputsStayAsTheyWere) {
  GpuBuffer x{2, {7, 8}, "x"};
  x.input = true;
  EXPECT_TRUE(findings_in({x}, Memory{{7, 8}}, {}).empty());
  const auto found = findings_in({x}, Memory{{7, 9}}, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0], "input-modified: 1 bytes of the input x were changed");
}

} // namespace
} // namespace assay::native
