// Case files: the whole schema, instantiation with symbols, and a message with a place for each
// mistake. The same for every case that the project ships.
#include "base/file.hpp"
#include "cases/case_file.hpp"
#include "cases/directives.hpp"

#include <filesystem>
#include <gtest/gtest.h>

using namespace assay;
using namespace assay::cases;

namespace {

const char* kWhole = R"toml(
kernel    = {file = "softmax.cu", entry = "softmax<float>", arch = "sm_90", flags = ["-DBLOCK=256"]}
launch    = {grid = ["rows"], block = [256], shared = "4*256"}
shape     = {rows = 64, cols = 1000, fixed = false}
variants  = [{cols = 1}, {cols = 1023}, {rows = 1, cols = 65536}]
reference = {spec = "y[r,c] = exp(x[r,c]) / sum(k: exp(x[r,k]))"}
accuracy  = {functions = "cuda", accumulate = "f32"}
allow     = {fp-atomic-order = "reason"}
expect    = {verdict = "fail", kinds = ["race"]}

[[arg]]
name = "x"
kind = "in"
dtype = "f32"
shape = ["rows", "cols"]
family = "auto"
domain = "(-inf, inf)"

[[arg]]
name = "y"
kind = "out"
dtype = "f32"
shape = ["rows", "cols"]
written = "partial"
align = 16

[[arg]]
name = "n"
kind = "scalar"
dtype = "s32"
value = "cols"
)toml";

Result<CaseFile> parse(const std::string& text) { return parse_case_file(text, "c.toml"); }
std::string error(const std::string& text) {
  Result<CaseFile> file = parse(text);
  if (!file) return file.error().text();
  Result<std::vector<LaunchGroup>> groups = instantiate(*file, file->shape);
  return groups ? "no error" : groups.error().text();
}
const std::string kHead = "kernel = {file = \"k.ptx\"}\nlaunch = {grid = [1], block = [32]}\n";
#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

} // namespace

TEST(CaseFile, ReadsTheWholeSchema) {
  Result<CaseFile> file = parse(kWhole);
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->entry, "softmax<float>");
  EXPECT_EQ(file->flags, std::vector<std::string>{"-DBLOCK=256"});
  EXPECT_EQ(file->variants.size(), 3u);
  EXPECT_TRUE(file->has_reference);
  EXPECT_EQ(file->allow["fp-atomic-order"], "reason");
  EXPECT_EQ(file->expectation.verdict, "fail");
  EXPECT_EQ(file->expectation.findings.at(0).kind, "race");

  Result<Symbols> symbols = symbols_of(*file, &file->variants[1], {{"rows", 3}});
  ASSERT_TRUE(symbols);
  Result<std::vector<LaunchGroup>> groups = instantiate(*file, *symbols);
  ASSERT_TRUE(groups) << groups.error().text();
  const LaunchGroup& group = groups->at(0);
  EXPECT_EQ(group.grid->v[0], 3u);
  EXPECT_EQ(group.shared, 1024u);
  EXPECT_EQ(group.arguments[0].bytes, 3u * 1023 * 4);
  EXPECT_EQ(group.arguments[1].written, Written::partial);
  EXPECT_EQ(group.arguments[1].align, 16u);
  EXPECT_EQ(group.arguments[2].data, (std::vector<uint8_t>{0xff, 3, 0, 0}));
  EXPECT_HAS(symbols_of(*file, nullptr, {{"col", 1}}).error().message, "did you mean 'cols'?");
}

TEST(CaseFile, SeveralLaunchesShareBuffersByName) {
  std::string text = "kernel = {file = \"k.ptx\"}\n"
                     "[[arg]]\nname = \"a\"\nkind = \"inout\"\ndtype = \"f32\"\nshape = [8]\n"
                     "[[arg]]\nname = \"tail\"\nsame = \"a\"\noffset = \"4*4\"\n"
                     "[[launch]]\ngrid = [1]\nblock = [8]\n"
                     "[[launch]]\nentry = \"second\"\ngrid = [2]\nblock = [8]\nargs = [\"a\"]\n";
  Result<CaseFile> file = parse(text);
  ASSERT_TRUE(file) << file.error().text();
  Result<std::vector<LaunchGroup>> groups = instantiate(*file, {});
  ASSERT_TRUE(groups) << groups.error().text();
  EXPECT_EQ(groups->at(0).arguments[1].role, Role::same);
  EXPECT_EQ(groups->at(0).arguments[1].offset, 16u);
  EXPECT_EQ(*groups->at(1).entry, "second");
  const Argument& shared = groups->at(1).arguments.at(0);
  EXPECT_EQ(shared.role, Role::same);
  EXPECT_EQ(shared.same_launch, 0u);
  EXPECT_EQ(shared.same_parameter, 0u);
}

TEST(CaseFile, StridesStructsAndLiterals) {
  std::string text = kHead + R"(
shape = {n = 3}
[[arg]]
name = "m"
kind = "in"
dtype = "f16"
shape = ["n", 4]
strides = [10, 1]
[[arg]]
name = "s"
kind = "struct"
size = 16
fields = [{offset = 0, same = "m"}, {offset = 8, dtype = "f32", value = "1.0/n"}]
[[arg]]
name = "inf"
kind = "scalar"
dtype = "f32"
value = "-inf"
)";
  Result<CaseFile> file = parse(text);
  ASSERT_TRUE(file) << file.error().text();
  Result<std::vector<LaunchGroup>> groups = instantiate(*file, file->shape);
  ASSERT_TRUE(groups) << groups.error().text();
  EXPECT_EQ(groups->at(0).arguments[0].bytes, 2u * (2 * 10 + 3 + 1));
  EXPECT_EQ(groups->at(0).arguments[1].fields.at(1).value.data,
            (std::vector<uint8_t>{0xab, 0xaa, 0xaa, 0x3e}));
  EXPECT_EQ(groups->at(0).arguments[2].data, (std::vector<uint8_t>{0, 0, 0x80, 0xff}));
}

TEST(CaseFile, MistakesHaveAPlace) {
  EXPECT_HAS(error("kernal = 1\n"),
             "c.toml:1:1: unknown key 'kernal' in the case file; did you mean 'kernel'?");
  EXPECT_HAS(error("kernel = {fle = \"x\"}"), "did you mean 'file'?");
  EXPECT_HAS(error("kernel = 3"), "must be a table");
  EXPECT_HAS(error("launch = {}"), "needs kernel");
  EXPECT_HAS(error("kernel = {file = \"k.ptx\"}"), "needs launch");
  EXPECT_HAS(error("kernel = {file = \"k.ptx\"\n"), "c.toml:");
  EXPECT_HAS(error(kHead + "[[arg]]\nname = \"x\"\nknid = \"in\"\n"),
             "c.toml:5:1: unknown key 'knid'");
  EXPECT_HAS(error(kHead + "[[arg]]\nname = \"x\"\nkind = \"inn\"\n"), "did you mean 'in'?");
  EXPECT_HAS(error(kHead + "[[arg]]\nname = \"x\"\nkind = \"in\"\nshape = [4]\n"), "needs a dtype");
  EXPECT_HAS(error(kHead + "[[arg]]\nname = \"x\"\nkind = \"out\"\ndtype = \"f32\"\n"),
             "needs a shape");
  EXPECT_HAS(
      error(kHead + "[[arg]]\nname = \"x\"\nkind = \"out\"\ndtype = \"f32\"\nshape = [\"n\"]\n"),
      "no shape symbol 'n'");
  EXPECT_HAS(
      error(kHead + "[[arg]]\nname = \"x\"\nkind = \"out\"\ndtype = \"f32\"\nshape = [-1]\n"),
      "outside 0");
  EXPECT_HAS(
      error(kHead + "[[arg]]\nname = \"x\"\nkind = \"scalar\"\ndtype = \"u8\"\nvalue = 256\n"),
      "does not fit");
  EXPECT_HAS(
      error(kHead +
            "[[arg]]\nname = \"x\"\nkind = \"out\"\ndtype = \"f32\"\nshape = [1]\nalign = 3\n"),
      "power of two");
  EXPECT_HAS(error(kHead + "variants = [{n = 1}]"), "unknown key 'n'");
  EXPECT_HAS(error(kHead + "allow = {races = \"x\"}"), "unknown key 'races' in allow");
  EXPECT_HAS(error(kHead + "allow = {value-race = \"\"}"), "needs a reason");
  EXPECT_HAS(error(kHead + "expect = {verdict = \"good\"}"), "pass, fail or unknown");
  EXPECT_HAS(error("kernel = {file = \"k.ptx\"}\nlaunch = {grid = [\"0\"], block = [1]}"),
             "grid is 0");
  EXPECT_HAS(error("kernel = {file = \"k.ptx\"}\nlaunch = {grid = [1], block = [1,1,1,1]}"),
             "more than three");
}

TEST(CaseFile, EveryShippedCaseReads) {
  size_t files = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::string(ASSAY_SOURCE_DIR) + "/cases")) {
    std::string path = entry.path().string();
    if (!path.ends_with(".toml")) continue;
    Result<CaseFile> file = parse_case_file(read_file(path).value(), path);
    ASSERT_TRUE(file) << file.error().text();
    Result<std::vector<LaunchGroup>> groups = instantiate(*file, file->shape);
    EXPECT_TRUE(groups) << groups.error().text();
    std::string source = path.substr(0, path.rfind('/') + 1) + file->source;
    Result<Directives> directives = parse_directives(read_file(source).value(), source);
    EXPECT_TRUE(directives) << directives.error().text();
    EXPECT_TRUE(directives && directives->expectation.present) << source;
    ++files;
  }
  EXPECT_GT(files, 0u);
}

TEST(CaseFile, EveryOneFileTestReads) {
  for (const char* folder : {"/tests/isa", "/tests/litmus"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(ASSAY_SOURCE_DIR + std::string(folder))) {
      std::string path = entry.path().string();
      if (!path.ends_with(".ptx")) continue;
      Result<Directives> directives = parse_directives(read_file(path).value(), path);
      EXPECT_TRUE(directives) << directives.error().text();
      EXPECT_TRUE(directives && directives->has_launch) << path;
    }
}
