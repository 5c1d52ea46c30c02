// Names, keys and the choice of launches.
#include "native/selection.hpp"

#include <gtest/gtest.h>

namespace assay::native {
namespace {

Launch launch_of(const std::string& symbol, uint32_t blocks = 1) {
  Launch launch;
  launch.symbol = symbol;
  launch.grid.x = blocks;
  return launch;
}

TEST(Names, BaseNameLeavesArgumentsAndNamespacesOut) {
  EXPECT_EQ(base_name("k(float*)"), "k");
  EXPECT_EQ(base_name("void at::native::reduce<512, Op<float> >(Op<float>)"), "reduce");
  EXPECT_EQ(base_name("void (anonymous namespace)::softmax<int>(int*)"), "softmax");
  EXPECT_EQ(base_name("void Outer<int>::inner(float)"), "inner");
  EXPECT_EQ(base_name("plain_c_name"), "plain_c_name");
  EXPECT_EQ(base_name("broken<"), "broken");
  EXPECT_EQ(base_name(""), "");
}

TEST(Names, Demangled) {
  EXPECT_EQ(demangled("_Z1kPf"), "k(float*)");
  EXPECT_EQ(demangled("k"), "k");
  EXPECT_EQ(demangled("_Zbroken"), "_Zbroken");
}

TEST(Names, GraphsOfTheSameKernelsShareOne) {
  EXPECT_EQ(graph_symbol("a|1|b|2|", 64), graph_symbol("a|1|b|2|", 64));
  EXPECT_NE(graph_symbol("a|1|b|2|", 64), graph_symbol("a|1|b|3|", 64));
  EXPECT_NE(graph_symbol("a|1|b|2|", 64), graph_symbol("a|1|b|2|", 72));
  EXPECT_TRUE(matches_pattern("cuda_graph*", graph_symbol("", 0)));
}

TEST(Names, Patterns) {
  EXPECT_TRUE(matches_pattern("*", ""));
  EXPECT_TRUE(matches_pattern("a*c", "abbbc"));
  EXPECT_TRUE(matches_pattern("*b*b", "abab"));
  EXPECT_TRUE(matches_pattern("a?c", "abc"));
  EXPECT_FALSE(matches_pattern("a?c", "ac"));
  EXPECT_FALSE(matches_pattern("abc", "abcd"));
  EXPECT_FALSE(matches_pattern("*b", "abc"));
}

TEST(Names, AnyFormOfANameMatches) {
  Selection selection;
  selection.names = {"reduce"};
  EXPECT_TRUE(matches_name(selection, "_ZN2at6reduceIfEEvPT_"));
  EXPECT_FALSE(matches_name(selection, "_ZN2at7reducedIfEEvPT_"));
  selection.names = {"at::*"};
  EXPECT_FALSE(matches_name(selection, "_ZN2at6reduceIfEEvPT_")); // begins with its result, void
  selection.names = {"_ZN2at6reduce*"};
  EXPECT_TRUE(matches_name(selection, "_ZN2at6reduceIfEEvPT_"));
}

TEST(Selection, EachDistinctLaunchOnce) {
  Selector selector{Selection{}};
  EXPECT_EQ(selector.choose(launch_of("a")), Choice::examine);
  EXPECT_EQ(selector.choose(launch_of("a")), Choice::repeated);
  EXPECT_EQ(selector.choose(launch_of("a", 2)), Choice::examine);
  EXPECT_EQ(selector.choose(launch_of("b")), Choice::examine);
  Launch shared = launch_of("b");
  shared.shared_bytes = 16;
  EXPECT_EQ(selector.choose(shared), Choice::examine);
}

TEST(Selection, FunctionsOfOneNameAreDistinct) {
  Launch one, other; // two specialisations of a Triton kernel, say
  one.symbol = other.symbol = "kernel";
  one.code = 1;
  other.code = 2;
  EXPECT_NE(key_of(one), key_of(other));
}

TEST(Selection, SkipAndCountSpeakOfMatchingLaunches) {
  Selection selection;
  selection.names = {"a"};
  selection.skip = 1;
  selection.count = 2;
  selection.repeats = true;
  Selector selector(selection);
  EXPECT_EQ(selector.choose(launch_of("b")), Choice::other_name);
  EXPECT_EQ(selector.choose(launch_of("a")), Choice::skipped);
  EXPECT_EQ(selector.choose(launch_of("a")), Choice::examine);
  EXPECT_EQ(selector.choose(launch_of("a")), Choice::examine);
  EXPECT_EQ(selector.choose(launch_of("a")), Choice::enough);
}

TEST(Selection, ARepeatedLaunchDoesNotCount) {
  Selection selection;
  selection.count = 2;
  Selector selector(selection);
  EXPECT_EQ(selector.choose(launch_of("a")), Choice::examine);
  EXPECT_EQ(selector.choose(launch_of("a")), Choice::repeated);
  EXPECT_EQ(selector.choose(launch_of("b")), Choice::examine);
  EXPECT_EQ(selector.choose(launch_of("c")), Choice::enough);
}

} // namespace
} // namespace assay::native
