// Messages, reports, and a command that is run and listened to. The children are this program
// itself.
#include "native/channel.hpp"
#include "native/parent.hpp"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

namespace assay::native {
namespace {

TEST(Protocol, MessagesSurviveAnyCutting) {
  Message a{"one", {}}, b{"two", {}};
  a.add("x", "with\ttab and\nline").add("n", uint64_t(1) << 63).add("x", "second");
  const std::string bytes = encode(a) + encode(b);
  for (size_t step = 1; step < 9; ++step) {
    Decoder decoder;
    std::vector<Message> got;
    for (size_t at = 0; at < bytes.size(); at += step) {
      decoder.feed(std::string_view(bytes).substr(at, step));
      for (Message m; decoder.next(m);) got.push_back(m);
    }
    ASSERT_EQ(got.size(), 2u);
    EXPECT_EQ(got[0].fields, a.fields);
    EXPECT_EQ(got[0].number("n"), uint64_t(1) << 63);
    EXPECT_EQ(got[0].all("x").size(), 2u);
    EXPECT_EQ(got[0].get("absent"), "");
    EXPECT_EQ(got[1].kind, "two");
  }
}

TEST(Protocol, NonsenseBreaksTheStream) {
  for (const std::string& bytes :
       {std::string("\xff\xff\xff\xff", 4), std::string("\x02\0\0\0ab", 6),
        std::string("\x04\0\0\0k\0a\0", 8), std::string("\0\0\0\0", 4)}) {
    Decoder decoder;
    decoder.feed(bytes);
    Message message;
    EXPECT_FALSE(decoder.next(message));
    EXPECT_TRUE(decoder.broken());
  }
}

TEST(Protocol, OptionsTravel) {
  Options o;
  o.selection.names = {"a*", "b"};
  o.selection.skip = 3;
  o.selection.count = 4;
  o.settings.cycles = 77;
  o.settings.scrub = false;
  o.settings.delayed_blocks = 8;
  o.sanitizer = "/x/y.so";
  const Options got = options_of(to_message(o));
  EXPECT_EQ(got.selection.names, o.selection.names);
  EXPECT_EQ(got.selection.skip, 3u);
  EXPECT_EQ(got.selection.count, 4u);
  EXPECT_EQ(got.settings.cycles, 77u);
  EXPECT_FALSE(got.settings.scrub);
  EXPECT_TRUE(got.settings.conflict_pass);
  EXPECT_EQ(got.settings.delayed_blocks, 8u);
  EXPECT_EQ(got.settings.most_unquiet, o.settings.most_unquiet);
  EXPECT_EQ(got.sanitizer, "/x/y.so");
}

KernelReport report_of(Verdict verdict) {
  KernelReport r;
  r.process = 12;
  r.number = 3;
  r.launch.symbol = "_Z1kPf";
  r.launch.name = "k(float*)";
  r.launch.grid = {4, 2, 1};
  r.launch.block = {256, 1, 1};
  r.verdict = verdict;
  r.reason = "some reason";
  r.milliseconds = 2.5;
  return r;
}

TEST(Reports, Travel) {
  KernelReport r = report_of(Verdict::fail);
  r.kind = "nondeterministic";
  r.pairs = {"p", "q"};
  r.notes = {"n"};
  r.figures = {{"ms.copy", "0.25"}};
  const KernelReport got = kernel_report(to_message(r));
  EXPECT_EQ(got.verdict, Verdict::fail);
  EXPECT_EQ(got.launch.grid, r.launch.grid);
  EXPECT_EQ(got.launch.name, "k(float*)");
  EXPECT_EQ(got.pairs, r.pairs);
  EXPECT_EQ(got.notes, r.notes);
  EXPECT_EQ(got.figures, r.figures);
  EXPECT_DOUBLE_EQ(got.milliseconds, 2.5);
}

TEST(Reports, Table) {
  KernelReport r = report_of(Verdict::fail);
  r.kind = "nondeterministic";
  r.place = "parameter 1, byte 0";
  EXPECT_EQ(table({r}),
            "kernel     grid x block      verdict  ms        why\n"
            "k(float*)  4x2 x 256         fail     2.5       nondeterministic: some reason\n"
            "    first difference: parameter 1, byte 0\n");
  EXPECT_EQ(closing_line({r, report_of(Verdict::pass), report_of(Verdict::unknown)}),
            "3 launches examined: 1 pass, 1 fail, 1 unknown");
}

TEST(Reports, ExitCodes) {
  const std::vector<KernelReport> pass = {report_of(Verdict::pass)};
  const std::vector<KernelReport> unknown = {report_of(Verdict::pass), report_of(Verdict::unknown)};
  const std::vector<KernelReport> fail = {report_of(Verdict::unknown), report_of(Verdict::fail)};
  EXPECT_EQ(exit_code(pass, {true, 0}), 0);
  EXPECT_EQ(exit_code(pass, {true, 7}), 7);
  EXPECT_EQ(exit_code(pass, {false, 9}), 137);
  EXPECT_EQ(exit_code(unknown, {true, 0}), 3);
  EXPECT_EQ(exit_code(unknown, {true, 7}), 7);
  EXPECT_EQ(exit_code({}, {true, 0}), 3);
  EXPECT_EQ(exit_code(fail, {true, 0}), 1);
}

Started run(const std::string& child) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  Options options;
  options.sanitizer = "/the/library.so";
  Result<Started> started = run_command({self, "--gtest_also_run_disabled_tests", "--gtest_brief=1",
                                         "--gtest_filter=Child.DISABLED_" + child},
                                        options, "/no/library.so", [](const Message&) {});
  EXPECT_TRUE(started) << started.error().text();
  return started ? *started : Started{};
}

// What a watched process does; see Command.IsHeard.
TEST(Child, DISABLED_Speaks) {
  EXPECT_STREQ(std::getenv("CUDA_INJECTION64_PATH"), "/no/library.so");
  Channel channel;
  Options options;
  ASSERT_TRUE(channel.open(options));
  channel.send(Message{"hello", {}}.add("program", options.sanitizer));
  for (int i = 0; i < 2000; ++i) channel.send(to_message(report_of(Verdict::pass)));
  channel.remark("a remark");
  std::_Exit(5);
}
TEST(Child, DISABLED_Dies) { std::abort(); }
TEST(Child, DISABLED_Talks) {
  Channel channel;
  Options options;
  ASSERT_TRUE(channel.open(options));
  channel.send(to_message(report_of(Verdict::fail)));
  std::_Exit(0);
}

TEST(Command, IsHeard) {
  const Started started = run("Speaks");
  EXPECT_TRUE(started.program.exited);
  EXPECT_EQ(started.program.code, 5);
  ASSERT_EQ(started.processes.size(), 1u);
  EXPECT_EQ(started.processes[0].get("program"), "/the/library.so")
      << "options reached the process";
  EXPECT_EQ(started.reports.size(), 2000u);
  EXPECT_EQ(started.remarks, (std::vector<std::string>{"a remark"}));
}

TEST(Command, ReportsBeforeTheEndAreKept) { EXPECT_EQ(run("Talks").reports.size(), 1u); }

TEST(Command, ASignalIsNoExitCode) {
  const Started started = run("Dies");
  EXPECT_FALSE(started.program.exited);
  EXPECT_TRUE(started.reports.empty());
}

TEST(Command, OneThatCannotBeStarted) {
  Result<Started> started =
      run_command({"/no/such/program"}, {}, "/no/library.so", [](const Message&) {});
  ASSERT_TRUE(started);
  EXPECT_EQ(started->program.code, 127);
}

TEST(Command, AnotherToolIsRefused) {
  ::setenv("CUDA_INJECTION64_PATH", "/other.so", 1);
  Result<Started> started = run_command({"true"}, {}, "/no/library.so", [](const Message&) {});
  ::unsetenv("CUDA_INJECTION64_PATH");
  ASSERT_FALSE(started);
  EXPECT_NE(started.error().message.find("/other.so"), std::string::npos);
}

TEST(Channel, WithoutAParentNothingHappens) {
  ::unsetenv(kSocketVariable);
  Channel channel;
  Options options;
  EXPECT_FALSE(channel.open(options));
  channel.send(Message{"hello", {}});
  ::setenv(kSocketVariable, "/no/such/socket", 1);
  EXPECT_FALSE(channel.open(options));
  ::unsetenv(kSocketVariable);
}

} // namespace
} // namespace assay::native
