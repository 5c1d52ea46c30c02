// From targets to jobs: parameters, buffers, aliases, structs; and each wrong argument is one
// error.
#include "base/file.hpp"
#include "cases/case.hpp"

#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>

using namespace assay;
using namespace assay::cases;

namespace {

const char* kKernels = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry _Z5firstPfif(.param .u64 p, .param .u32 n, .param .f32 f) { ret; }
.visible .entry second(.param .u64 p) { ret; }
.visible .entry third(.param .align 8 .b8 s[24]) { ret; }
)";

class Build : public testing::Test {
protected:
  Build() : folder_(testing::TempDir() + "assay_build_test/") {
    std::filesystem::create_directories(folder_);
    EXPECT_TRUE(write_file(folder_ + "k.ptx", kKernels));
  }
  Result<Case> build_with(const std::string& line, const std::string& file = "k.ptx") {
    std::vector<Token> tokens = tokenize(line, {}).value(), rest;
    Result<Options> options = parse_options(tokens, folder_, &rest);
    if (!options) return options.error();
    Result<Prepared> prepared = prepare(folder_ + file, *options);
    if (!prepared) return prepared.error();
    return build(*prepared, prepared->variants - 1);
  }
  std::string error(const std::string& line) {
    Result<Case> built = build_with(line);
    return built ? "no error" : built.error().text();
  }
  std::string folder_;
};

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)
const std::string kLaunch = "--grid 1 --block 32 ";

} // namespace

TEST_F(Build, PlacesParametersAndBuffers) {
  Result<Case> built = build_with(kLaunch + "--entry first --arg out:64 s32:-2 f32:1.5");
  ASSERT_TRUE(built) << built.error().text();
  const vgpu::LaunchSpec& launch = built->job.launches.at(0);
  ASSERT_EQ(launch.arguments.size(), 3u);
  EXPECT_EQ(launch.arguments[0].pointers.at(0).buffer, 0u);
  EXPECT_EQ(launch.arguments[1].bytes, (std::vector<uint8_t>{0xfe, 0xff, 0xff, 0xff}));
  EXPECT_EQ(built->job.buffers.at(0).bytes, 64u);
  EXPECT_TRUE(built->job.buffers[0].data.empty()) << "out:N is poison";
  EXPECT_EQ(built->buffers[0].name, "parameter 0");
  EXPECT_EQ(built->launches[0].kernel, "first");
}

TEST_F(Build, EntriesByAnyName) {
  for (const char* name : {"_Z5firstPfif", "first", "'first(float*, int, float)'"})
    EXPECT_TRUE(build_with(kLaunch + "--entry " + name + " --arg null u32:1 f32:1")) << name;
  EXPECT_HAS(error(kLaunch + "--arg null"), "second");
  EXPECT_HAS(error(kLaunch + "--entry fourth --arg null"), "fourth");
}

TEST_F(Build, InputsDependOnTheSeed) {
  auto bytes = [&](const std::string& seed) {
    return build_with(kLaunch + "--entry second --arg rand:f32[64] --seed " + seed)
        ->job.buffers[0]
        .data;
  };
  EXPECT_EQ(bytes("3"), bytes("3"));
  EXPECT_NE(bytes("3"), bytes("4"));
  EXPECT_TRUE(
      build_with(kLaunch + "--entry second --arg rand:f32[64]")->job.buffers[0].expect_unwritten);
}

TEST_F(Build, LaunchesShareBuffers) {
  Result<Case> built = build_with(kLaunch + "--entry first --arg out:64 u32:1 f32:1 --launch " +
                                  kLaunch + "--entry second --arg same:0+16 --out 0=y.bin");
  ASSERT_TRUE(built) << built.error().text();
  ASSERT_EQ(built->job.launches.size(), 2u);
  EXPECT_EQ(built->job.buffers.size(), 1u);
  EXPECT_EQ(built->job.launches[1].arguments[0].pointers.at(0).addend, 16u);
  EXPECT_EQ(built->outs.at(0).buffer, 0u);
}

TEST_F(Build, LaunchesOnStreams) {
  auto three = [&](const std::string& second, const std::string& third) {
    const std::string one = kLaunch + "--entry second --arg out:64 ";
    return one + "--name a --launch " + one + "--name b " + second + " --launch " + one + third;
  };
  Result<Case> built = build_with(three("--stream s", "--stream t --after a,b --launch " + kLaunch +
                                                          "--entry second --arg out:64 "
                                                          "--stream s --programmatic"));
  ASSERT_TRUE(built) << built.error().text();
  const std::vector<vgpu::LaunchSpec>& l = built->job.launches;
  EXPECT_EQ(l[0].stream, 0u);
  EXPECT_EQ(l[3].stream, l[1].stream);
  EXPECT_NE(l[2].stream, l[1].stream);
  EXPECT_EQ(l[2].after, (std::vector<uint32_t>{0, 1}));
  EXPECT_TRUE(l[3].programmatic && !l[1].programmatic);
  EXPECT_HAS(error(three("--after c", "--name c")), "later");
  EXPECT_HAS(error(three("--after b", "")), "with it");
  EXPECT_HAS(error(three("", "--after aa")), "did you mean 'a'");
  EXPECT_HAS(error(three("", "--name a")), "two launches are called 'a'");
  EXPECT_HAS(error(three("", "--programmatic --after a")), "programmatic and waits for an event");
}

TEST_F(Build, StructsHoldPointersAndScalars) {
  Result<Case> built =
      build_with(kLaunch + "--entry third --arg struct:24{0:out:64,8:s32:7,16:same:0}");
  EXPECT_FALSE(built) << "same:0 refers to the struct itself";
  built = build_with(kLaunch + "--entry third --arg struct:24{0:out:64,8:s32:7}");
  ASSERT_TRUE(built) << built.error().text();
  const vgpu::Argument& argument = built->job.launches[0].arguments[0];
  EXPECT_EQ(argument.bytes.size(), 24u);
  EXPECT_EQ(argument.bytes[8], 7);
  EXPECT_EQ(argument.pointers.at(0).offset, 0u);
  EXPECT_HAS(error(kLaunch + "--entry third --arg struct:16{0:out:64}"),
             "16 bytes, the parameter 24");
  EXPECT_HAS(error(kLaunch + "--entry third --arg struct:24{20:out:64}"), "ends beyond");
}

TEST_F(Build, WrongArgumentsAreErrors) {
  std::string first = kLaunch + "--entry first --arg ";
  EXPECT_HAS(error(first + "null"), "takes 3 arguments and 1 is given");
  EXPECT_HAS(error(first + "null f32:1 f32:1"), "a f32 is given and the parameter is a u32");
  EXPECT_HAS(error(first + "null u32:1 u32:1"), "a u32 is given and the parameter is a f32");
  EXPECT_HAS(error(first + "u32:1 u32:1 f32:1"), "it has 4 bytes");
  EXPECT_HAS(error(first + "null u32:1 out:4"), "parameter 2");
  EXPECT_HAS(error(first + "null u32:1 f32:1 --want 1=x"), "no buffer");
  EXPECT_HAS(error(first + "func:helper u32:1 f32:1"), "no device function is called 'helper'");
  // cudaErrorCooperativeLaunchTooLarge
  EXPECT_HAS(error("--grid 100000 --block 32 --cooperative --entry second --arg null"),
             "can be resident at once");
}

TEST_F(Build, WantsAndVariantsOfACaseFile) {
  ASSERT_TRUE(
      write_file(folder_ + "case.toml",
                 "kernel = {file = \"k.ptx\", entry = \"second\"}\n"
                 "launch = {grid = [\"n\"], block = [32]}\nshape = {n = 2}\n"
                 "variants = [{n = 5}]\n"
                 "[[arg]]\nname = \"y\"\nkind = \"out\"\ndtype = \"f32\"\nshape = [\"n\"]\n"));
  Result<Case> built = build_with("", "case.toml");
  ASSERT_TRUE(built) << built.error().text();
  EXPECT_EQ(built->job.launches[0].grid[0], 5u);
  EXPECT_HAS(built->name, "[n=5]");
  EXPECT_TRUE(built->buffers[0].declared);
  built = build_with("--set n=9 --block 64", "case.toml");
  EXPECT_EQ(built->job.launches[0].grid[0], 9u);
  EXPECT_EQ(built->job.launches[0].block[0], 64u);
}

TEST_F(Build, FoldersGiveCaseFilesAndOneFileTests) {
  std::string folder = folder_ + "tree/";
  ASSERT_TRUE(write_file(folder + "a/case.toml",
                         "kernel = {file = \"k.ptx\"}\nlaunch = {grid = [1], block = [1]}\n"));
  ASSERT_TRUE(write_file(folder + "a/k.ptx", std::string("// launch: --grid 1\n") + kKernels));
  ASSERT_TRUE(write_file(folder + "test.ptx", std::string("// launch: --grid 1\n") + kKernels));
  ASSERT_TRUE(write_file(folder + "plain.ptx", kKernels));
  Result<std::vector<std::string>> found = find_cases(folder);
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, (std::vector<std::string>{folder + "a/case.toml", folder + "test.ptx"}));
}

// `want` of a case file, and marks in the Python source of a PTX file.
TEST_F(Build, WantedValuesOfACaseFile) {
  const std::string bytes("\0\0\x80\x3f\0\0\0\x40", 8); // 1.0f, 2.0f
  EXPECT_TRUE(write_file(folder_ + "want.bin", bytes));
  EXPECT_TRUE(write_file(folder_ + "k.py", "a = 1  # @A\nb = 2  # no mark\n# expect: pass\n"));
  auto text = [](const std::string& keys) {
    return "kernel = {file = \"k.ptx\", source = \"k.py\", entry = \"second\"}\n"
           "launch = {grid = [1], block = [32]}\nshape = {n = 2}\n[[arg]]\nname = \"y\"\n"
           "kind = \"out\"\ndtype = \"f32\"\nshape = [\"n\"]\n" +
           keys;
  };
  EXPECT_TRUE(write_file(folder_ + "c.toml", text("want = \"want.bin\"\nwithin = 1e-3\n")));
  Result<Case> built = build_with("", "c.toml");
  ASSERT_TRUE(built) << built.error().text();
  ASSERT_EQ(built->wants.size(), 1u);
  EXPECT_EQ(built->wants[0].data.size(), 8u);
  EXPECT_EQ(built->wants[0].within, 1e-3);
  EXPECT_EQ(built->wants[0].type, inputs::DType::f32);
  built = build_with("--seed 2", "c.toml"); // other inputs have other results
  ASSERT_TRUE(built) << built.error().text();
  EXPECT_TRUE(built->wants.empty());

  EXPECT_TRUE(write_file(folder_ + "c.toml", text("within = 1e-3\n")));
  EXPECT_HAS(build_with("", "c.toml").error().text(), "how close 'want' is to be met");
  EXPECT_TRUE(write_file(folder_ + "c.toml", text("want = \"want.bin\"\nwithin = -1.0\n")));
  EXPECT_HAS(build_with("", "c.toml").error().text(), "'within' is a distance");
  EXPECT_TRUE(write_file(folder_ + "c.toml", text("want = \"none.bin\"\n")));
  EXPECT_HAS(build_with("", "c.toml").error().text(), "none.bin");
}

TEST_F(Build, MarksOfThePythonSource) {
  EXPECT_TRUE(write_file(folder_ + "k.py", "a = 1  # @A\nb = 2\nc = 3 # @B\n# expect: pass\n"));
  const std::string head = "kernel = {file = \"k.ptx\", source = \"k.py\", entry = \"second\"}\n"
                           "launch = {grid = [1], block = [32]}\n";
  const std::string argument = "[[arg]]\nname = \"y\"\nkind = \"out\"\nshape = [8]\n";
  EXPECT_TRUE(write_file(folder_ + "c.toml", head + argument));
  Result<Prepared> prepared = prepare(folder_ + "c.toml", {});
  ASSERT_TRUE(prepared) << prepared.error().text();
  EXPECT_EQ(prepared->expectation.verdict, "pass");
  EXPECT_TRUE(write_file(folder_ + "c.toml",
                         head + "expect = {kinds = [\"race shared @A @B\"]}\n" + argument));
  prepared = prepare(folder_ + "c.toml", {});
  ASSERT_TRUE(prepared) << prepared.error().text();
  ASSERT_EQ(prepared->expectation.findings.size(), 1u);
  EXPECT_EQ(prepared->expectation.findings[0].lines, (std::vector<uint32_t>{1, 3}));
  EXPECT_FALSE(prepared->expectation.in_ptx);
  EXPECT_TRUE(write_file(folder_ + "c.toml",
                         head + "expect = {kinds = [\"race shared @C\"]}\n" + argument));
  EXPECT_FALSE(prepare(folder_ + "c.toml", {}));
}

// A buffer may stand inside a struct first, and be named again by later structs and arguments.
TEST_F(Build, ABufferThatFirstStandsInAStruct) {
  EXPECT_TRUE(write_file(folder_ + "c.toml", R"toml(
kernel = {file = "k.ptx", entry = "third"}
arg = [
  {name = "temp", kind = "scratch", dtype = "u8", shape = [64]},
  {name = "a", kind = "struct", size = 24, fields = [{offset = 8, same = "temp"}]},
  {name = "b", kind = "struct", size = 24, fields = [{offset = 16, same = "temp"}]},
]
[[launch]]
grid = [1]
block = [32]
args = ["a"]
[[launch]]
grid = [1]
block = [32]
args = ["b"]
[[launch]]
entry = "second"
grid = [1]
block = [32]
args = ["temp"]
)toml"));
  Result<Case> built = build_with("", "c.toml");
  ASSERT_TRUE(built) << built.error().text();
  ASSERT_EQ(built->job.buffers.size(), 1u);
  EXPECT_EQ(built->job.buffers[0].bytes, 64u);
  for (const vgpu::LaunchSpec& launch : built->job.launches) {
    ASSERT_EQ(launch.arguments.at(0).pointers.size(), 1u);
    EXPECT_EQ(launch.arguments[0].pointers[0].buffer, 0u);
  }
  EXPECT_EQ(built->job.launches[1].arguments[0].pointers[0].offset, 16u);
}
