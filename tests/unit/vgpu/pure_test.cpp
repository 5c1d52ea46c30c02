// Every pure operation of the table on random operands: the three handlers agree lane by lane,
// lanes outside the mask stay as they were, a destination may be one of its sources, and all vector
// levels give the same bits.
#include "evaluate.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

namespace assay::vgpu {
namespace {

struct Row {
  const char* name;
  ir::OpCode code;
  std::string_view text;
};
constexpr Row kRows[] = {
#define PURE(name, kind, text) {#name, ir::OpCode::name, text},
#include "ir/ops_pure.def"
#undef PURE
};

constexpr ir::Slot kD = 0, kA = 4, kB = 8, kC = 12, kGuard = 16, kSlots = 20;
using Store = std::vector<Lanes<uint32_t>>;

uint32_t slots_of(char letter) {
  return letter == 'o' ? 4 : letter == 'q' || letter == 'd' ? 2 : 1;
}

uint32_t word_of(Random& random, char letter) {
  constexpr uint32_t kCorners[] = {0,          1,          2,          31,         32,
                                   33,         63,         64,         255,        0x7fff,
                                   0x8000,     0xffff,     0x3f800000, 0xbf800000, 0x7f800000,
                                   0xff800000, 0x7fc00001, 0xffc00002, 0x00800000, 0x00000003,
                                   0x80000003, 0x7f7fffff, 0x80000000, 0xffffffff, 0x3ff00000,
                                   0x7ff00000, 0x7ff80000, 0xfff80000, 0x4b000001, 0x00108000};
  uint64_t r = random.next();
  uint32_t word = (r >> 40) % 3 == 0 ? kCorners[(r >> 44) % std::size(kCorners)] : uint32_t(r);
  if (letter == 'p') return r & 1 ? ~0u : 0;
  if (letter == 'h') return (word ^ word >> 16) & 0xffff;
  if ((letter == 'f' || letter == 'd') && (r >> 42) % 3 == 0) // exponents near each other
    return (word & 0x807fffff) | 0x3f800000;
  return word;
}

void fill(Store& store, ir::Slot slot, char letter, Random& random) {
  for (uint32_t s = 0; s < slots_of(letter); ++s)
    for (uint32_t& word : store[slot + s].v) word = word_of(random, letter);
}

struct Case {
  ir::Op op;
  Store store;
  std::string_view signature; // d=abc
};

Case random_case(const Row& row, Random& random) {
  Case c;
  c.signature = row.text.substr(0, row.text.find_first_of(" ;"));
  c.store.resize(kSlots);
  c.op.code = row.code;
  c.op.d = kD;
  c.op.guard = kGuard;
  c.op.imm = random.next() & 255;
  ir::Slot* fields[] = {&c.op.a, &c.op.b, &c.op.c};
  constexpr ir::Slot places[] = {kA, kB, kC};
  fill(c.store, kD, c.signature[0], random);
  fill(c.store, kGuard, 'p', random);
  for (size_t k = 2; k < c.signature.size(); ++k) {
    if (c.signature[k] == 'i') continue;
    *fields[k - 2] = places[k - 2];
    fill(c.store, places[k - 2], c.signature[k], random);
  }
  bool carry = std::string_view(row.name).find("carry") != std::string_view::npos;
  if (carry)
    for (uint32_t& word : c.store[kC].v) word &= 1;
  return c;
}

Store run(const Case& c, const PureHandlers& h, int mode, uint32_t exec) {
  WarpMasks masks;
  for (int lane = 0; lane < kLanes; ++lane) masks.exec.v[lane] = exec >> lane & 1 ? -1 : 0;
  masks.exec_bits = exec;
  Store store = c.store;
  Handler stop = [](const Exec* e, Warp*, char*) { return e; };
  Handler handler = mode == 0 ? h.full : mode == 1 ? h.masked : h.guarded;
  Exec code[2] = {make_exec(handler, c.op), {stop, {}}};
  handler(code, reinterpret_cast<Warp*>(&masks), reinterpret_cast<char*>(store.data()));
  return store;
}

// One lane's bytes of a value at `slot`.
std::string lane_of(const Store& store, ir::Slot slot, char letter, int lane) {
  size_t bytes = slots_of(letter) * 4;
  const char* base = reinterpret_cast<const char*>(store.data() + slot) + lane * bytes;
  return std::string(base, bytes);
}

bool same(const Store& x, const Store& y, const Case& c, uint32_t lanes) {
  for (int lane = 0; lane < kLanes; ++lane)
    if ((lanes >> lane & 1) &&
        lane_of(x, kD, c.signature[0], lane) != lane_of(y, kD, c.signature[0], lane))
      return false;
  return true;
}

TEST(Pure, HandlersOfEveryOperationAgree) {
  Random random(7);
  auto levels = levels_under_test();
  ASSERT_FALSE(levels.empty());
  for (const Row& row : kRows)
    for (int round = 0; round < 8; ++round) {
      Case c = random_case(row, random);
      uint32_t exec = uint32_t(random.next());
      bool negated = random.next() & 1;
      if (negated) c.op.flags |= ir::kGuardNegated;
      Store first = run(c, levels[0].handlers[pure_index(row.code)], 0, ~0u);
      for (const LevelUnderTest& level : levels) {
        const PureHandlers& h = level.handlers[pure_index(row.code)];
        EXPECT_TRUE(same(run(c, h, 0, ~0u), first, c, ~0u)) << level.name << " " << row.name;
        Store masked = run(c, h, 1, exec);
        EXPECT_TRUE(same(masked, first, c, exec)) << level.name << " masked " << row.name;
        EXPECT_TRUE(same(masked, c.store, c, ~exec)) << level.name << " masked " << row.name;
        uint32_t guard = 0;
        for (int lane = 0; lane < kLanes; ++lane)
          guard |= uint32_t((c.store[kGuard].v[lane] != 0) != negated) << lane;
        Store guarded = run(c, h, 2, exec);
        EXPECT_TRUE(same(guarded, first, c, exec & guard)) << level.name << " guarded " << row.name;
        EXPECT_TRUE(same(guarded, c.store, c, ~(exec & guard)))
            << level.name << " guarded " << row.name;
      }
    }
}

TEST(Pure, DestinationMayBeASourceOfItsWidth) {
  Random random(8);
  for (const Row& row : kRows) {
    Case c = random_case(row, random);
    for (size_t k = 2; k < c.signature.size(); ++k) {
      if (c.signature[k] == 'i' || slots_of(c.signature[k]) != slots_of(c.signature[0])) continue;
      for (const LevelUnderTest& level : levels_under_test()) {
        const PureHandlers& h = level.handlers[pure_index(row.code)];
        Store apart = run(c, h, 0, ~0u);
        Case shared = c;
        ir::Slot* fields[] = {&shared.op.a, &shared.op.b, &shared.op.c};
        shared.op.d = *fields[k - 2];
        Store together = run(shared, h, 0, ~0u);
        bool equal = true;
        for (int lane = 0; lane < kLanes; ++lane)
          equal &= lane_of(together, shared.op.d, c.signature[0], lane) ==
                   lane_of(apart, kD, c.signature[0], lane);
        EXPECT_TRUE(equal) << level.name << " " << row.name << " source " << k - 2;
      }
    }
  }
}

TEST(Pure, PairsOfFloatsAreTwoOperations) {
  for (const LevelUnderTest& level : levels_under_test()) {
    Recorder recorder;
    for (const char* name : {"a", "b", "c", "d"}) recorder.declare(name, 64);
    auto instruction = parse_statement("fma.rn.f32x2 d, a, b, c;", recorder);
    ASSERT_TRUE(instruction.ok()) << instruction.error().text();
    auto lowered = ir::lower_pure(*instruction, recorder);
    ASSERT_TRUE(lowered.ok() && *lowered);
    Frame frame(recorder);
    auto pair = [](float low, float high) {
      return uint64_t(std::bit_cast<uint32_t>(high)) << 32 | std::bit_cast<uint32_t>(low);
    };
    frame.set(recorder.slot("a"), 64, 3, pair(2, 3));
    frame.set(recorder.slot("b"), 64, 3, pair(5, 7));
    frame.set(recorder.slot("c"), 64, 3, pair(1, -1));
    frame.run(recorder, level, true, ~0u);
    EXPECT_EQ(frame.get(recorder.slot("d"), 64, 3), pair(11, 20));
  }
}

// 8-bit integer products by hand: A's first row is 1 in column 0 and −1 in column 1, B's first
// column 5, 7.
TEST(Pure, IntegerMma) {
  for (const LevelUnderTest& level : levels_under_test()) {
    Recorder recorder;
    for (const char* name : {"a0", "a1", "b0", "c0", "c1", "c2", "c3"}) recorder.declare(name, 32);
    for (const char* name : {"d0", "d1", "d2", "d3"}) recorder.declare(name, 32);
    auto instruction = parse_statement("mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.u8.s32 "
                                       "{d0,d1,d2,d3}, {a0,a1}, {b0}, {c0,c1,c2,c3};",
                                       recorder);
    ASSERT_TRUE(instruction.ok()) << instruction.error().text();
    auto lowered = ir::lower_pure(*instruction, recorder);
    ASSERT_TRUE(lowered.ok() && *lowered) << lowered.error().text();
    Frame frame(recorder);
    frame.set(recorder.slot("a0"), 32, 0, 0x0000ff01);
    frame.set(recorder.slot("b0"), 32, 0, 0x00000705);
    frame.set(recorder.slot("c0"), 32, 0, 100);
    frame.set(recorder.slot("c1"), 32, 0, 0x7fffffff);
    frame.run(recorder, level, true, ~0u);
    EXPECT_EQ(frame.get(recorder.slot("d0"), 32, 0), 98u);
    EXPECT_EQ(frame.get(recorder.slot("d1"), 32, 0), 0x7fffffffu);
    EXPECT_EQ(frame.get(recorder.slot("d2"), 32, 0), 0u);
  }
}

// f64: one chain of fma along k.
TEST(Pure, DoubleMma) {
  for (const LevelUnderTest& level : levels_under_test()) {
    Recorder recorder;
    for (const char* name : {"a", "b", "c0", "c1", "d0", "d1"}) recorder.declare(name, 64);
    auto instruction = parse_statement(
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {d0,d1}, {a}, {b}, {c0,c1};", recorder);
    ASSERT_TRUE(instruction.ok()) << instruction.error().text();
    auto lowered = ir::lower_pure(*instruction, recorder);
    ASSERT_TRUE(lowered.ok() && *lowered) << lowered.error().text();
    Frame frame(recorder);
    for (int lane = 0; lane < kLanes; ++lane) { // A[row][k] = row + 1, B[k][column] = k + 10 column
      frame.set(recorder.slot("a"), 64, lane, std::bit_cast<uint64_t>(double(lane / 4 + 1)));
      double b = lane % 4 + 10.0 * (lane / 4);
      frame.set(recorder.slot("b"), 64, lane, std::bit_cast<uint64_t>(b));
      frame.set(recorder.slot("c0"), 64, lane, std::bit_cast<uint64_t>(0.5));
      frame.set(recorder.slot("c1"), 64, lane, 0);
    }
    frame.run(recorder, level, true, ~0u);
    for (int lane = 0; lane < kLanes; ++lane) {
      double row = lane / 4 + 1, column = lane % 4 * 2;
      double want0 = row * (6 + 40 * column) + 0.5, want1 = row * (6 + 40 * (column + 1));
      EXPECT_EQ(frame.get(recorder.slot("d0"), 64, lane), std::bit_cast<uint64_t>(want0));
      EXPECT_EQ(frame.get(recorder.slot("d1"), 64, lane), std::bit_cast<uint64_t>(want1));
    }
  }
}

// Statements of several operations in which a destination is a source.
TEST(Pure, LoweringReadsSourcesBeforeItWrites) {
  struct Statement {
    const char* text;
    uint64_t d, e; // after it, with d = 5, e = 9, p = true
  };
  constexpr uint64_t kTrue = 0xffffffff;
  const Statement statements[] = {
      {"add.cc.u32 d, d, e;", 14, 9},
      {"sub.u32 d, e, d;", 4, 9},
      {"lop3.b32 d, d, e, d, 0x3c;", 5 ^ 9, 9},
      {"bfi.b32 d, e, d, 4, 4;", 0x95, 9},
      {"slct.u32.s32 d, e, d, d;", 9, 9},
      {"cvt.u8.u32 d, d;", 5, 9},
      {"prmt.b32 d, d, e, 0x0004;", 0x05050509, 9},
      {"selp.u32 d, e, d, p;", 9, 9},
      {"setp.lt.and.u32 p|q, d, e, p;", kTrue, 0},
      {"setp.gt.or.u32 p|q, d, e, p;", kTrue, kTrue},
      {"setp.eq.xor.u32 p|q, d, e, !p;", 0, kTrue},
  };
  for (const LevelUnderTest& level : levels_under_test())
    for (const Statement& s : statements) {
      Recorder recorder;
      recorder.declare("d", 32);
      recorder.declare("e", 32);
      recorder.declare("p", 1);
      recorder.declare("q", 1);
      auto instruction = parse_statement(s.text, recorder);
      ASSERT_TRUE(instruction.ok()) << s.text << instruction.error().text();
      auto lowered = ir::lower_pure(*instruction, recorder);
      ASSERT_TRUE(lowered.ok() && *lowered) << s.text;
      Frame frame(recorder);
      for (int lane = 0; lane < kLanes; ++lane) {
        frame.set(recorder.slot("d"), 32, lane, 5);
        frame.set(recorder.slot("e"), 32, lane, 9);
        frame.set(recorder.slot("p"), 1, lane, 1);
      }
      frame.run(recorder, level, true, ~0u);
      bool predicates = std::string_view(s.text).starts_with("setp");
      EXPECT_EQ(frame.get(recorder.slot(predicates ? "p" : "d"), 32, 7), s.d) << s.text;
      EXPECT_EQ(frame.get(recorder.slot(predicates ? "q" : "e"), 32, 7), s.e) << s.text;
    }
}

} // namespace
} // namespace assay::vgpu
