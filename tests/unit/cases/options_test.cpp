// SPECs, launch options and directives: what they become, and one clear message for each mistake.
#include "base/file.hpp"
#include "cases/directives.hpp"

#include <gtest/gtest.h>

using namespace assay;
using namespace assay::cases;

namespace {
Argument spec(const std::string& text) {
  Result<Argument> argument = parse_spec(text, "", {});
  EXPECT_TRUE(argument) << text << ": " << (argument ? "" : argument.error().message);
  return argument ? *argument : Argument();
}
std::string spec_error(const std::string& text) {
  Result<Argument> argument = parse_spec(text, "", {});
  return argument ? "no error" : argument.error().message;
}
Result<Options> options(const std::string& line, std::vector<Token>* rest = nullptr) {
  std::vector<Token> unused, tokens = tokenize(line, {"f", 1, 0}).value();
  return parse_options(tokens, "", rest ? rest : &unused);
}
std::string option_error(const std::string& line) {
  Result<Options> parsed = options(line);
  return parsed ? "no error" : parsed.error().message;
}
#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)
} // namespace

TEST(Spec, Buffers) {
  Argument out = spec("out:128");
  EXPECT_EQ(out.role, Role::out);
  EXPECT_EQ(out.bytes, 128u);
  EXPECT_EQ(out.content, Argument::Content::poison);
  EXPECT_EQ(spec("out:4:0xff").data, std::vector<uint8_t>(4, 255));
  Argument random = spec("rand:f32[2,3]:cancellation");
  EXPECT_EQ(random.bytes, 24u);
  EXPECT_EQ(random.shape, (std::vector<uint64_t>{2, 3}));
  EXPECT_EQ(random.family.kind, inputs::FamilyKind::cancellation);
  EXPECT_EQ(spec("zeros:u8[3]").data, std::vector<uint8_t>(3, 0));
  Argument list = spec("list:f32[1.0,0x7fc00001,-2*2]");
  EXPECT_EQ(list.role, Role::in);
  EXPECT_EQ(list.data, (std::vector<uint8_t>{0, 0, 0x80, 0x3f, 1, 0, 0xc0, 0x7f, 0, 0, 0, 0xc0, 0,
                                             0, 0, 0xc0}));
  EXPECT_EQ(spec("inlist:u8[1]").role, Role::inout);
}

TEST(Spec, ScalarsPointersAndStructs) {
  EXPECT_EQ(spec("s32:-1").data, std::vector<uint8_t>(4, 255));
  EXPECT_EQ(spec("bytes:00ff").data, (std::vector<uint8_t>{0, 255}));
  EXPECT_EQ(spec("null").role, Role::null);
  Argument same = spec("same:1.2+16");
  EXPECT_EQ(same.same_launch, 1u);
  EXPECT_EQ(same.same_parameter, 2u);
  EXPECT_EQ(same.offset, 16u);
  EXPECT_EQ(spec("func:helper").function, "helper");
  Argument structure = spec("struct:24{0:list:f32[1,2],8:s32:7,16:same:0}");
  ASSERT_EQ(structure.fields.size(), 3u);
  EXPECT_EQ(structure.fields[0].value.bytes, 8u);
  EXPECT_EQ(structure.fields[1].offset, 8u);
  EXPECT_EQ(structure.fields[2].value.role, Role::same);
}

TEST(Spec, ReadsFiles) {
  std::string path = testing::TempDir() + "assay_spec.bin";
  ASSERT_TRUE(write_file(path, "abcd"));
  EXPECT_EQ(spec("in:" + path).bytes, 4u);
  EXPECT_EQ(parse_spec("inout:assay_spec.bin", testing::TempDir(), {})->data.size(), 4u);
  EXPECT_HAS(spec_error("in:" + path + ".missing"), "cannot read");
}

TEST(Spec, MistakesAreErrors) {
  EXPECT_HAS(spec_error("ouy:4"), "did you mean 'out'?");
  EXPECT_HAS(spec_error("128"), "is not an argument");
  EXPECT_HAS(spec_error("out:x"), "number of bytes");
  EXPECT_HAS(spec_error("out:4:300"), "not one byte");
  EXPECT_HAS(spec_error("out:99999999999999"), "larger than 64 GiB");
  EXPECT_HAS(spec_error("rand:f32"), "type and a shape");
  EXPECT_HAS(spec_error("rand:f99[4]"), "unknown type");
  EXPECT_HAS(spec_error("rand:f32[4]:unifrom"), "did you mean 'uniform'?");
  EXPECT_HAS(spec_error("rand:f32[4294967296,4294967296]"), "larger");
  EXPECT_HAS(spec_error("u32:1.5"), "not a u32 value");
  EXPECT_HAS(spec_error("bytes:abc"), "hexadecimal");
  EXPECT_HAS(spec_error("same:x"), "number of a parameter");
  EXPECT_HAS(spec_error("struct:8"), "fields");
  EXPECT_HAS(spec_error("struct:8{zero:s32:1}"), "offset");
  EXPECT_HAS(spec_error("list:f32[1,x]"), "not a f32 value");
  EXPECT_HAS(spec_error("list:u8[1*99999999999]"), "64 GiB");
}

TEST(Options, FillLaunchesInOrder) {
  std::vector<Token> rest;
  Result<Options> parsed =
      options("--entry \"k<float, 4>\" --grid 2,3 --block=64 --arg out:128 u32:7 null "
              "--out 0=y.bin --json --launch --grid 1 --block 32 --arg same:0 --seed 9",
              &rest);
  ASSERT_TRUE(parsed) << parsed.error().message;
  ASSERT_EQ(parsed->launches.size(), 2u);
  const LaunchGroup& first = parsed->launches[0];
  EXPECT_EQ(*first.entry, "k<float, 4>");
  EXPECT_EQ(first.grid->v[1], 3u);
  EXPECT_EQ(first.arguments.size(), 3u);
  EXPECT_EQ(first.outs[0].file, "y.bin");
  EXPECT_EQ(parsed->launches[1].block->v[0], 32u);
  EXPECT_EQ(parsed->seed, 9u);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].text, "--json");
}

TEST(Options, JobOptionsAndCompileFlags) {
  Result<Options> parsed =
      options("--budget 2.5s --fail-on race -DN=4 -I include -G --set n=7 --set m=0x10");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_DOUBLE_EQ(parsed->budget->seconds, 2.5);
  EXPECT_EQ(parsed->compile_flags, (std::vector<std::string>{"-DN=4", "-Iinclude", "-G"}));
  EXPECT_EQ(parsed->set["m"], 16);
}

TEST(Options, MistakesAreErrors) {
  EXPECT_HAS(option_error("--grid"), "--grid needs a value");
  EXPECT_HAS(option_error("--grid 0"), "outside");
  EXPECT_HAS(option_error("--grid 1,1,1,1"), "more than three");
  EXPECT_HAS(option_error("--grid 1 --grid 2"), "given twice");
  EXPECT_HAS(option_error("--grid 99999999999"), "outside");
  EXPECT_HAS(option_error("--budget soon"), "neither");
  EXPECT_HAS(option_error("--fail-on rase"), "did you mean 'race'?");
  EXPECT_HAS(option_error("--out y.bin"), "N=FILE");
  EXPECT_HAS(option_error("--show 0=f99"), "unknown type");
  EXPECT_HAS(option_error("--set n"), "SYMBOL=NUMBER");
  EXPECT_FALSE(tokenize("--entry \"k", {}));
}

TEST(Directives, ReadEverything) {
  Result<Directives> parsed = parse_directives("// launch: --entry k --grid 1\n"
                                               "//launch: --block 32 --arg out:128\n"
                                               "// row: mul24.lo.s32\n"
                                               "// want 0 u32: 0x3f800000 7*3\n"
                                               "// want 0 u32: -1\n"
                                               "// expect: race shared @A @B\n"
                                               "st.shared.u32 [%r1], %r2; // @A\n"
                                               "ld.shared.u32 %r1, [%r2]; // @B\n",
                                               "dir/test.ptx");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_TRUE(parsed->has_launch);
  EXPECT_EQ(parsed->rows, std::vector<std::string>{"mul24.lo.s32"});
  const LaunchGroup& group = parsed->options.launches[0];
  EXPECT_EQ(group.block->v[0], 32u);
  ASSERT_EQ(group.values.size(), 1u);
  EXPECT_EQ(group.values[0].data.size(), 20u);
  ASSERT_EQ(parsed->expectation.findings.size(), 1u);
  EXPECT_EQ(parsed->expectation.findings[0].lines, (std::vector<uint32_t>{7, 8}));
  EXPECT_TRUE(parsed->expectation.in_ptx);
}

TEST(Directives, MistakesNameTheLine) {
  auto error = [](const char* text) {
    Result<Directives> parsed = parse_directives(text, "t.ptx");
    return parsed ? "no error" : parsed.error().text();
  };
  EXPECT_HAS(error("\n// launch: --gird 1"),
             "t.ptx:2: unknown launch option '--gird'; did you mean '--grid'?");
  EXPECT_HAS(error("// expect: rase @A"),
             "t.ptx:1: 'rase' is no kind of finding; did you mean 'race'?");
  EXPECT_HAS(error("// expect: race @A"), "no line of this file is marked");
  EXPECT_HAS(error("// expect: race sharde"), "neither a memory space nor a mark");
  EXPECT_HAS(error("// want 0: 1"), "needs a parameter and a type");
  EXPECT_HAS(error("// want 0 u32: x"), "not a u32 value");
}

TEST(Expectation, ComparesExactly) {
  Expectation expected;
  ASSERT_TRUE(parse_expectation("race shared @A @B", {{"A", 3}, {"B", 5}}, {}, expected));
  Observed seen{"fail", false, {{"race", "shared", {3, 5}}}, {}};
  EXPECT_TRUE(compare(expected, seen).empty());
  seen.findings.push_back({"race", "shared", {4, 5}});
  EXPECT_EQ(compare(expected, seen).size(), 1u);
  seen.findings = {{"race", "global", {3, 5}}};
  EXPECT_EQ(compare(expected, seen).size(), 2u);

  Expectation proved;
  ASSERT_TRUE(parse_expectation("pass proved", {}, {}, proved));
  EXPECT_FALSE(compare(proved, {"pass", false, {}, {}}).empty());
  EXPECT_TRUE(compare(proved, {"pass", true, {}, {}}).empty());
  EXPECT_FALSE(compare(proved, {"unknown", true, {}, {}}).empty());

  Expectation note;
  ASSERT_TRUE(parse_expectation("value-race global @A @A", {{"A", 3}}, {}, note));
  EXPECT_TRUE(compare(note, {"pass", false, {}, {{"value-race", "global", {3}}}}).empty());
  EXPECT_FALSE(compare(note, {"pass", false, {}, {}}).empty());
  EXPECT_FALSE(compare(note, {"unknown", false, {}, {{"value-race", "global", {3}}}}).empty());
}
