// Machine code and cubins.
#include "native/cubin.hpp"
#include "native/sass.hpp"

#include "base/file.hpp"

#include <gtest/gtest.h>
#include <set>

namespace assay::native {
namespace {

// Words as `nvdisasm -hex` prints them for sm_90 unless said otherwise.
TEST(Sass, Kinds) {
  EXPECT_EQ(classify_sass(0x0000000000047805, 0x000fcc0000015000), SassKind::time); // CS2R CLOCKLO
  EXPECT_EQ(classify_sass(0x00000000000679c3, 0x000e620000005200),
            SassKind::time); // S2UR GLOBALTIMERLO
  EXPECT_EQ(classify_sass(0x0000000000077919, 0x000e620000004300),
            SassKind::placement); // S2R VIRTUALSMID
  EXPECT_EQ(classify_sass(0x0000000000077919, 0x000e220000002100), SassKind::other); // S2R TID.X
  EXPECT_EQ(classify_sass(0x00000008040075b4, 0x0003d80008008000), SassKind::tensor_load);
  EXPECT_EQ(classify_sass(0x00000004080073b5, 0x0005e40008008000), SassKind::tensor_store);
  EXPECT_EQ(classify_sass(0x7000040204007f9d, 0x004fe2000810a900), SassKind::surface_store);
  EXPECT_EQ(classify_sass(0x000000000000782e, 0x000fca0000000000), SassKind::programmatic);
  EXPECT_EQ(classify_sass(0x00000007020079a6, 0x000fe2000c10f384),
            SassKind::float_atomic);                                                  // REDG F32
  EXPECT_EQ(classify_sass(0x000000050200098e, 0x000fe2000c10e184), SassKind::atomic); // REDG ADD
  EXPECT_EQ(classify_sass(0x000000050200798e, 0x000fe2000c10e784),
            SassKind::float_atomic); // sm_80, F32
  EXPECT_EQ(classify_sass(0x000000040200798e, 0x000fe2000c10ed84),
            SassKind::float_atomic); // sm_80, F64
}

struct CubinTest : testing::Test {
  std::string bytes;
  void SetUp() override {
    Result<std::string> read = read_file(ASSAY_SOURCE_DIR "/tests/unit/native/data/lines.cubin");
    ASSERT_TRUE(read);
    bytes = *read;
  }
};

TEST_F(CubinTest, CodeAndExternals) {
  const Cubin cubin(bytes);
  ASSERT_TRUE(cubin.ok());
  EXPECT_FALSE(cubin.code("plain").empty());
  EXPECT_EQ(cubin.code("plain").size() % 16, 0u);
  EXPECT_TRUE(cubin.code("absent").empty());
  EXPECT_TRUE(cubin.externals("plain").empty());
  EXPECT_EQ(cubin.variables(), (std::vector<std::string>{"seen", "$str"}));
  EXPECT_EQ(cubin.externals("speaks"), (std::vector<std::string>{"vprintf"}));
  const std::string_view code = cubin.code("speaks");
  const CodeFacts facts = examine_sass(reinterpret_cast<const uint8_t*>(code.data()), code.size());
  EXPECT_EQ(facts.float_atomics, 1u);
  EXPECT_FALSE(facts.reads_time);
}

TEST_F(CubinTest, LinesOfTheKernelsOwnFileThroughInlining) {
  const Cubin cubin(bytes);
  std::set<uint32_t> plain, speaks;
  for (uint64_t at = 0; at < cubin.code("plain").size(); at += 16) {
    const SourceLine line = source_line(cubin, "plain", at);
    EXPECT_TRUE(line.file.ends_with("lines.cu")) << line.file;
    plain.insert(line.line);
  }
  for (uint64_t at = 0; at < cubin.code("speaks").size(); at += 16)
    speaks.insert(source_line(cubin, "speaks", at).line);
  EXPECT_TRUE(plain.count(8) && plain.count(12)) << "the store stands in put()";
  EXPECT_TRUE(speaks.count(18)) << "atomicAdd, not the toolkit's header";
  for (uint32_t line : speaks) EXPECT_TRUE(line >= 16 && line <= 19) << line;
  EXPECT_EQ(source_line(cubin, "absent", 0).line, 0u);
}

TEST_F(CubinTest, BrokenOnesAreRefusedOrEmpty) {
  EXPECT_FALSE(Cubin("").ok());
  EXPECT_FALSE(
      Cubin("not an ELF file at all, but long enough for a header, sixty-four bytes").ok());
  // Every prefix, and bytes turned over: no crash, no endless loop.
  for (size_t size = 0; size < bytes.size(); size += 37) {
    const Cubin cubin(std::string_view(bytes).substr(0, size));
    cubin.externals("speaks");
    source_line(cubin, "plain", 16);
  }
  for (size_t at = 0; at < bytes.size(); at += 11) {
    std::string turned = bytes;
    turned[at] = char(~turned[at]);
    const Cubin cubin(turned);
    cubin.externals("speaks");
    source_line(cubin, "plain", 16);
  }
}

} // namespace
} // namespace assay::native
