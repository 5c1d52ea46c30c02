// Families: what each promises, for every type; encodings; .npy in and out.
#include "inputs/family.hpp"
#include "inputs/npy.hpp"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <set>

using namespace assay;
using namespace assay::inputs;

namespace {
Source source(const char* family, DType type, uint64_t count) {
  Source s;
  s.family = family_from(family).value();
  s.type = type;
  s.count = count;
  return s;
}
DType type(int i) { return DType(i); }
} // namespace

TEST(DType, EncodesWithOneRounding) {
  EXPECT_EQ(encode(DType::f32, 1.0), 0x3f800000u);
  EXPECT_EQ(encode(DType::f16, 1.0 + 1.0 / 2048), 0x3c00u); // halfway: to even
  EXPECT_EQ(encode(DType::f16, 1.0 + 3.0 / 2048), 0x3c02u);
  EXPECT_EQ(encode(DType::f16, 65520.0), 0x7c00u); // rounds past the largest
  EXPECT_EQ(encode(DType::f16, 0x1p-24), 1u);
  EXPECT_EQ(encode(DType::f16, 0x1p-25), 0u); // halfway to the smallest subnormal
  EXPECT_EQ(encode(DType::bf16, -2.0), 0xc000u);
  EXPECT_EQ(encode(DType::e4m3, 448.0), 0x7eu);
  EXPECT_EQ(encode(DType::e5m2, 57344.0), 0x7bu);
  EXPECT_EQ(encode(DType::tf32, 1.0 + 1.0 / 1024), 0x3f802000u);
  EXPECT_EQ(encode(DType::s8, -200.0), 0x80u);
}

TEST(DType, DecodeInvertsEncodeOnEveryNarrowPattern) {
  for (DType t : {DType::e4m3, DType::e5m2, DType::f16, DType::bf16})
    for (uint64_t bits = 0; bits < (uint64_t(1) << 8 * bytes(t)); ++bits) {
      double value = decode(t, bits);
      if (std::isnan(value)) continue;
      EXPECT_EQ(encode(t, value), bits) << format(t).name;
    }
}

TEST(DType, ParsesAndPrintsValues) {
  EXPECT_EQ(parse_value(DType::f32, "0x7fc00001").value(), 0x7fc00001u);
  EXPECT_EQ(parse_value(DType::f32, "-0.0").value(), 0x80000000u);
  EXPECT_EQ(parse_value(DType::f32, "nan").value(), 0x7fc00000u);
  EXPECT_EQ(parse_value(DType::u32, "-1").value(), 0xffffffffu);
  EXPECT_EQ(parse_value(DType::f16, "1.5").value(), 0x3e00u);
  EXPECT_FALSE(parse_value(DType::u8, "256"));
  EXPECT_FALSE(parse_value(DType::u32, "1.5"));
  EXPECT_FALSE(parse_value(DType::f32, ""));
  EXPECT_FALSE(parse_value(DType::f32, "1.5x"));
  EXPECT_EQ(print_value(DType::f32, 0x3dcccccd), "0.1");
  EXPECT_EQ(print_value(DType::s16, 0xffff), "-1");
  EXPECT_EQ(print_value(DType::f32, 0x7fc00001), "0x7fc00001");
}

TEST(Family, AutoIsFiniteSignedAndDistinct) {
  for (int i = 0; i < kDTypes; ++i) {
    DType t = type(i);
    uint64_t count = bytes(t) == 1 ? 64 : t == DType::bf16 ? 2048 : 4096;
    Source s = source("auto", t, count);
    std::set<uint64_t> seen;
    bool negative = false, positive = false;
    for (uint64_t k = 0; k < count; ++k) {
      uint64_t bits = element(s, k);
      EXPECT_TRUE(seen.insert(bits).second) << format(t).name << " element " << k;
      double value = decode(t, bits);
      EXPECT_TRUE(std::isfinite(value));
      (value < 0 ? negative : positive) = true;
    }
    EXPECT_TRUE(positive);
    EXPECT_EQ(negative, format(t).kind == 'f' || format(t).kind == 's') << format(t).name;
  }
}

TEST(Family, ElementsDependOnSeedStreamAndIndexOnly) {
  for (const std::string& name : family_names())
    for (int i = 0; i < kDTypes; ++i) {
      Source s = source(name.c_str(), type(i), 100);
      std::vector<uint8_t> all = fill(s);
      uint64_t bits = element(s, 57);
      EXPECT_EQ(std::memcmp(&bits, all.data() + 57 * bytes(s.type), bytes(s.type)), 0);
      s.seed = 2;
      if (name == "auto" || name == "uniform") {
        EXPECT_NE(fill(s), all) << name;
      }
    }
}

TEST(Family, DomainsHold) {
  for (const char* name : {"auto", "uniform", "normal", "ties", "magnitude", "cancellation"})
    for (const char* text : {"[0, 1)", "(0, inf)", "[-3, -2]", "[0, 7)"}) {
      for (DType t : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::s32, DType::u64}) {
        Source s = source(name, t, 256);
        s.domain = domain_from(text).value();
        if (!is_float(t) && s.domain.high <= 1) continue;
        if (format(t).kind == 'u' && s.domain.high < 0) continue;
        for (uint64_t k = 0; k < s.count; ++k)
          EXPECT_TRUE(s.domain.contains(decode(t, element(s, k))))
              << name << " " << text << " " << format(t).name << " " << decode(t, element(s, k));
      }
    }
  EXPECT_FALSE(domain_from("0, 1"));
  EXPECT_FALSE(domain_from("(1, 0)"));
  EXPECT_FALSE(domain_from("[a, 0)"));
}

TEST(Family, SentinelHasNanAndInfinity) {
  Source s = source("sentinel", DType::f32, 1000);
  int nans = 0, infinities = 0;
  for (uint64_t k = 0; k < s.count; ++k) {
    double value = decode(s.type, element(s, k));
    nans += std::isnan(value);
    infinities += std::isinf(value);
  }
  EXPECT_GT(nans, 0);
  EXPECT_GT(infinities, 0);
}

TEST(Family, CancellationPairsSumToZero) {
  Source s = source("cancellation/pairs", DType::f32, 64);
  for (uint64_t k = 0; k < s.count; k += 2)
    EXPECT_EQ(decode(s.type, element(s, k)) + decode(s.type, element(s, k + 1)), 0);
}

TEST(Family, QuantumIsHalfwayBetweenNeighbours) {
  Source s = source("quantum/f16", DType::f32, 64);
  for (uint64_t k = 0; k < s.count; ++k) {
    double value = std::fabs(decode(s.type, element(s, k)));
    uint64_t near = encode(DType::f16, value);
    double gap = std::fabs(value - decode(DType::f16, near));
    EXPECT_EQ(
        gap,
        std::fabs(decode(DType::f16, near + (decode(DType::f16, near) < value ? 1 : -1)) - value));
    EXPECT_GT(gap, 0);
  }
}

TEST(Family, StructureKeepsItsPromises) {
  Source s = source("structure/permutation", DType::s32, 100);
  std::set<uint64_t> seen;
  for (uint64_t k = 0; k < 100; ++k) seen.insert(element(s, k));
  EXPECT_EQ(seen.size(), 100u);
  EXPECT_EQ(*seen.rbegin(), 99u);
  s = source("structure/offsets", DType::s32, 33);
  s.domain = domain_from("[0, 1000]").value();
  EXPECT_EQ(element(s, 0), 0u);
  EXPECT_EQ(element(s, 32), 1000u);
  for (uint64_t k = 1; k < 33; ++k) EXPECT_LE(element(s, k - 1), element(s, k));
  s = source("structure/mask", DType::u8, 100);
  for (uint64_t k = 0; k < 100; ++k) EXPECT_LE(element(s, k), 1u);
}

TEST(Family, UnknownNamesAreErrors) {
  EXPECT_NE(family_from("unifrom").error().message.find("did you mean 'uniform'"),
            std::string::npos);
  EXPECT_NE(family_from("degenerate/x").error().message.find("one-hot"), std::string::npos);
}

TEST(Npy, RoundTrips) {
  std::string data(24, '\0');
  for (size_t i = 0; i < data.size(); ++i) data[i] = char(i);
  for (auto shape : {std::vector<uint64_t>{6}, {2, 3}, {1, 2, 3}}) {
    std::string file = print_npy(DType::f32, shape, data);
    EXPECT_EQ((file.size() - 24) % 64, 0u);
    Result<Array> array = parse_npy(file, "x.npy");
    ASSERT_TRUE(array) << array.error().message;
    EXPECT_EQ(array->shape, shape);
    EXPECT_EQ(array->data, data);
    EXPECT_EQ(array->type, DType::f32);
  }
}

TEST(Npy, BrokenFilesAreErrors) {
  std::string good = print_npy(DType::f32, {2}, std::string(8, 'x'));
  EXPECT_FALSE(parse_npy(good.substr(0, good.size() - 1), "x"));
  EXPECT_FALSE(parse_npy(good.substr(0, 20), "x"));
  EXPECT_FALSE(parse_npy("text", "x"));
  std::string fortran = good;
  fortran.replace(fortran.find("False"), 5, "True ");
  EXPECT_NE(parse_npy(fortran, "x").error().message.find("Fortran"), std::string::npos);
}
