// fp/soft.hpp against the processor: fma, conversions and integers in every rounding mode, on
// corners and random patterns; f16 and bf16 against exact arithmetic in wider types.
#include "fp/approximate.hpp"
#include "fp/fp8.hpp"
#include "fp/integer.hpp"
#include "fp/soft.hpp"

#include "base/random.hpp"

#include <cfenv>
#include <cmath>
#include <gtest/gtest.h>

namespace assay::fp {
namespace {

constexpr Rounding kModes[] = {Rounding::rn, Rounding::rz, Rounding::rm, Rounding::rp};
constexpr int kFenv[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

// Runs `f` in a mode; volatile operands and result keep the compiler from moving it.
template <class F> auto under(int mode, F f) -> decltype(f()) {
  std::fesetround(kFenv[mode]);
  volatile auto r = f();
  std::fesetround(FE_TONEAREST);
  return r;
}

uint32_t pattern32(Random& random) {
  uint64_t r = random.next();
  switch ((r >> 40) % 4) {
  case 0: return uint32_t(r);
  case 1: return (uint32_t(r) & 0x807fffff) | uint32_t(120 + (r >> 50) % 16) << 23;
  case 2: return (uint32_t(r) & 0x80ffffff); // subnormal and the least normal numbers
  default: return (uint32_t(r) & 0x80000007) | uint32_t((r >> 45) % 256) << 23;
  }
}
uint64_t pattern64(Random& random) {
  uint64_t r = random.next(), e = random.next();
  switch (e % 4) {
  case 0: return r;
  case 1: return (r & 0x800fffffffffffffull) | (1015 + (e >> 8) % 16) << 52;
  case 2: return r & 0x801fffffffffffffull;
  default: return (r & 0x8000000000000007ull) | ((e >> 8) % 2048) << 52;
  }
}

bool equal(float x, float y) { return bits(x) == bits(y) || (x != x && y != y); }
bool equal(double x, double y) { return bits(x) == bits(y) || (x != x && y != y); }

TEST(Soft, FmaEqualsTheLibrary) {
  Random random(1);
  for (int n = 0; n < 200000; ++n) {
    int mode = n & 3;
    volatile float a = real(pattern32(random)), b = real(pattern32(random)),
                   c = real(pattern32(random));
    if (n % 5 == 0) c = -(a * b); // cancellation
    float want = under(mode, [&] { return std::fma(float(a), float(b), float(c)); });
    float got = real(uint32_t(fma(bits(a), bits(b), bits(c), kF32, kModes[mode], false)));
    ASSERT_TRUE(equal(got, want)) << a << " " << b << " " << c << " " << mode;
    volatile double x = real(pattern64(random)), y = real(pattern64(random)),
                    z = real(pattern64(random));
    if (n % 5 == 0) z = -(x * y);
    double wide = under(mode, [&] { return std::fma(double(x), double(y), double(z)); });
    double mine = real(fma(bits(x), bits(y), bits(z), kF64, kModes[mode], false));
    ASSERT_TRUE(equal(mine, wide)) << x << " " << y << " " << z << " " << mode;
  }
}

TEST(Soft, ConversionsEqualTheProcessor) {
  Random random(2);
  for (int n = 0; n < 200000; ++n) {
    int mode = n & 3;
    volatile double x = real(pattern64(random));
    if (n % 3 == 0) x = double(real(pattern32(random))) * 1.0000000001;
    float want = under(mode, [&] { return float(x); });
    float got = real(uint32_t(convert(bits(x), kF64, kF32, kModes[mode])));
    ASSERT_EQ(bits(got), bits(want)) << x << " " << mode;
    volatile int64_t i = int64_t(random.next()) >> (random.next() & 63);
    uint64_t magnitude = i < 0 ? 0 - uint64_t(i) : uint64_t(i);
    float f = under(mode, [&] { return float(i); });
    ASSERT_EQ(from_integer(magnitude, i < 0, kF32, kModes[mode]), bits(f)) << i;
  }
}

TEST(Half, EveryPatternSurvives) {
  for (uint32_t h = 0; h < 65536; ++h) {
    if ((h & 0x7fff) <= 0x7c00) {
      double value = h & 0x7c00 ? std::ldexp(1024 + (h & 0x3ff), int(h >> 10 & 31) - 25)
                                : std::ldexp(h & 0x3ff, -24);
      if ((h & 0x7fff) == 0x7c00) value = INFINITY;
      if (h & 0x8000) value = -value;
      ASSERT_EQ(bits(f16_to_f32(h)), bits(float(value))) << h;
      ASSERT_EQ(f32_to_f16(f16_to_f32(h)), h);
    } else {
      ASSERT_EQ(f32_to_f16(f16_to_f32(h)), kNan16);
    }
    bool nan = (h & 0x7fff) > 0x7f80;
    ASSERT_EQ(f32_to_bf16(bf16_to_f32(h)), nan ? kNan16 : h);
  }
}

TEST(Half, NarrowingEqualsTheExactRounding) {
  Random random(3);
  for (int n = 0; n < 400000; ++n) {
    uint32_t b = pattern32(random);
    if (n % 2) b = (uint32_t(random.next()) & 0x80001fff) | uint32_t(random.next() % 0x48000) << 13;
    if (n % 3 == 0) b &= ~0xfffu; // ties
    if (real(b) != real(b)) continue;
    ASSERT_EQ(f32_to_f16(real(b)), convert(b, kF32, kF16, Rounding::rn)) << std::hex << b;
    ASSERT_EQ(f32_to_bf16(real(b)), convert(b, kF32, kBf16, Rounding::rn)) << std::hex << b;
  }
}

TEST(Half, FmaRoundsOnce) {
  Random random(4);
  for (int n = 0; n < 400000; ++n) {
    uint64_t r = random.next();
    uint32_t a = r & 0xffff, b = r >> 16 & 0xffff, c = r >> 32 & 0xffff;
    uint32_t f16 = F16::narrow(F16::fma(f16_to_f32(a), f16_to_f32(b), f16_to_f32(c)));
    ASSERT_EQ(f16, fma(a, b, c, kF16, Rounding::rn, false))
        << std::hex << a << " " << b << " " << c;
    uint32_t bf16 = Bf16::narrow(Bf16::fma(bf16_to_f32(a), bf16_to_f32(b), bf16_to_f32(c)));
    ASSERT_EQ(bf16, fma(a, b, c, kBf16, Rounding::rn, false))
        << std::hex << a << " " << b << " " << c;
    uint32_t sum = F16::narrow(f16_to_f32(a) + f16_to_f32(b));
    ASSERT_EQ(sum, fma(a, 0x3c00, b, kF16, Rounding::rn, false)) << std::hex << a << " " << b;
    if (!is_nan16<Bf16>(a) && !is_nan16<Bf16>(b)) {
      uint32_t wide = Bf16::narrow(bf16_to_f32(a) + bf16_to_f32(b));
      ASSERT_EQ(wide, fma(a, 0x3f80, b, kBf16, Rounding::rn, false)) << std::hex << a << " " << b;
    }
  }
}

TEST(Fp8, EveryPatternSurvives) {
  for (uint32_t x = 0; x < 256; ++x) {
    bool nan4 = (x & 0x7f) == 0x7f, nan5 = (x & 0x7f) > 0x7c, infinite = (x & 0x7f) == 0x7c;
    ASSERT_EQ(f32_to_e4m3(f16_to_f32(e4m3_to_f16(x))), nan4 ? kNan8 : x);
    ASSERT_EQ(f32_to_e5m2(f16_to_f32(e5m2_to_f16(x))), nan5 ? kNan8 : infinite ? x - 1 : x);
  }
}

TEST(Integer, ClampsAndRounds) {
  EXPECT_EQ((to_integer<int32_t, Rounding::rn>(2.5f)), 2);
  EXPECT_EQ((to_integer<int32_t, Rounding::rp>(2.1f)), 3);
  EXPECT_EQ((to_integer<int32_t, Rounding::rm>(-2.1f)), -3);
  EXPECT_EQ((to_integer<int32_t, Rounding::rz>(-2.9f)), -2);
  EXPECT_EQ((to_integer<int32_t, Rounding::rz>(3e9f)), INT32_MAX);
  EXPECT_EQ((to_integer<uint32_t, Rounding::rz>(-1.0f)), 0u);
  EXPECT_EQ((to_integer<uint32_t, Rounding::rz>(4294967040.0f)), 4294967040u);
  EXPECT_EQ((to_integer<uint64_t, Rounding::rz>(1.8446744e19f)), UINT64_MAX);
  EXPECT_EQ((to_integer<int64_t, Rounding::rz>(-9.3e18)), INT64_MIN);
  EXPECT_EQ((to_integer<int32_t, Rounding::rz>(NAN)), 0);
  EXPECT_EQ((to_integer<int64_t, Rounding::rz>(NAN)), INT64_MIN);
}

// Within one unit in the last place of a double, so that one rounding to f32 is right but for near
// ties.
TEST(Approximate, DoublePrecision) {
  Random random(5);
  auto close = [](double got, long double want) {
    return std::fabs((long double)(got)-want) <= std::fabs(want) * 0x1p-49L;
  };
  for (int n = 0; n < 100000; ++n) {
    double x = (double(random.next() >> 11) * 0x1p-53 - 0.5) * 250;
    ASSERT_TRUE(close(exp2_of(x), exp2l(x))) << x;
    double positive = double(absolute(real(pattern32(random))));
    if (positive > 0 && positive < 0x1p128) {
      ASSERT_TRUE(close(log2_of(positive), log2l(positive))) << positive;
    }
    double t = x / 100;
    ASSERT_TRUE(std::fabs(tanh_of(t) - tanhl(t)) <= std::fabs(tanhl(t)) * 0x1p-40L) << t;
    float turns = float(x);
    long double angle = (turns - std::rint(turns)) * 6.283185307179586476925286766559L;
    ASSERT_LE(std::fabs(sine_of_turns(turns, 0) - sinl(angle)), 0x1p-48L) << turns;
    ASSERT_LE(std::fabs(sine_of_turns(turns, 1) - cosl(angle)), 0x1p-48L) << turns;
  }
  EXPECT_TRUE(std::signbit(sine_of_turns(-0.0, 0)) && std::signbit(tanh_of(-0.0)));
  EXPECT_EQ(log2_of(0.0), -INFINITY);
  EXPECT_TRUE(std::isnan(log2_of(-1.0)));
  EXPECT_EQ(float(exp2_of(-INFINITY)), 0.0f);
  EXPECT_EQ(float(exp2_of(INFINITY)), INFINITY);
}

} // namespace
} // namespace assay::fp
