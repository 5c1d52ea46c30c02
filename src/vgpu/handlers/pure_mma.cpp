// mma.sync: fragments in registers become dense matrices and back. Fragment layouts: PTX ISA 9.0,
// section 9.7.15.5 (one figure a shape); arithmetic: fp/tensor.hpp.
#include "fp/tensor.hpp"
#include "vgpu/handlers/mma.hpp"

#include "base/check.hpp"

namespace assay::vgpu::ASSAY_LEVEL {
namespace {

using ptx::Type;

struct Place {
  int row, column;
};

// Where element `i` of a lane's fragment lies. `per` elements share a 32-bit register; a lane holds
// pairs or quads of consecutive columns of A (rows of B), the halves of M and K in later registers.
ASSAY_INLINE Place place_a(const ir::MmaInfo& info, int per, int lane, int i) {
  int group = lane >> 2, inside = lane & 3, reg = i / per;
  bool halves_m = info.m == 16;
  int row = group + (halves_m && (reg & 1) ? 8 : 0);
  int k_block = halves_m ? reg >> 1 : reg;
  return {row, k_block * 4 * per + inside * per + i % per};
}
ASSAY_INLINE Place place_b(int per, int lane, int i) {
  int inside = lane & 3, reg = i / per;
  return {reg * 4 * per + inside * per + i % per, lane >> 2};
}
ASSAY_INLINE Place place_c(int lane, int i) {
  return {(lane >> 2) + (i & 2 ? 8 : 0), (lane & 3) * 2 + (i & 1)};
}

fp::Format format_of(Type type) {
  switch (type) {
  case Type::f16: return fp::kF16;
  case Type::bf16: return fp::kBf16;
  default: return fp::kTf32;
  }
}

uint32_t word(char* regs, uint16_t slot, int lane) { return lanes<uint32_t>(regs, slot).v[lane]; }

// The pattern of element i of a fragment of 16- or 32-bit elements.
ASSAY_INLINE uint32_t element(const std::vector<ir::Slot>& regs_of, char* regs, int per, int lane,
                              int i) {
  uint32_t bits = word(regs, regs_of[i / per], lane);
  if (per == 2) return i & 1 ? bits >> 16 : bits & 0xffff;
  return bits;
}

void load_c(const ir::MmaInfo& info, char* regs, fp::TensorProblem& p) {
  int per = p.half_result ? 2 : 1;
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < int(info.c.size()) * per; ++i) {
      Place at = place_c(lane, i);
      p.c[at.row][at.column] = element(info.c, regs, per, lane, i);
    }
}

void store_d(const ir::MmaInfo& info, char* regs, const fp::TensorProblem& p) {
  for (int lane = 0; lane < kLanes; ++lane)
    for (int reg = 0; reg < int(info.d.size()); ++reg) {
      uint32_t& to = lanes<uint32_t>(regs, info.d[reg]).v[lane];
      if (p.half_result) {
        Place low = place_c(lane, 2 * reg), high = place_c(lane, 2 * reg + 1);
        to = p.c[low.row][low.column] | p.c[high.row][high.column] << 16;
      } else {
        Place at = place_c(lane, reg);
        to = p.c[at.row][at.column];
      }
    }
}

void multiply_floats(const ir::MmaInfo& info, char* regs, uint32_t compute_capability) {
  fp::TensorProblem p;
  p.m = info.m, p.n = info.n, p.k = info.k;
  p.ab = format_of(info.a_type);
  p.half_result = info.d_type == Type::f16;
  std::memset(p.a.pattern, 0, sizeof p.a.pattern); // what the shape leaves out
  std::memset(p.b.pattern, 0, sizeof p.b.pattern);
  bool is_tf32 = info.a_type == Type::tf32;
  int per = is_tf32 ? 1 : 2, down = is_tf32 ? 13 : 0; // tf32 reads the upper 19 bits
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < int(info.a.size()) * per; ++i) {
      Place at = place_a(info, per, lane, i);
      p.a.pattern[at.row][at.column] = element(info.a, regs, per, lane, i) >> down;
    }
    for (int i = 0; i < int(info.b.size()) * per; ++i) {
      Place at = place_b(per, lane, i);
      p.b.pattern[at.row][at.column] = element(info.b, regs, per, lane, i) >> down;
    }
  }
  load_c(info, regs, p);
  fp::tensor_multiply(p, fp::tensor_unit(compute_capability), is_tf32 ? 4 : 2);
  store_d(info, regs, p);
}

// 8-bit integers: wrapping or saturating 32-bit sums.
void multiply_integers(const ir::MmaInfo& info, char* regs) {
  int64_t a[16][32], b[32][8], c[16][8];
  auto byte = [](uint32_t bits, int i, Type type) -> int64_t {
    uint32_t value = bits >> (8 * (i & 3)) & 255;
    return type == Type::s8 ? int64_t(int8_t(value)) : int64_t(value);
  };
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < int(info.a.size()) * 4; ++i) {
      Place at = place_a(info, 4, lane, i);
      a[at.row][at.column] = byte(word(regs, info.a[i / 4], lane), i, info.a_type);
    }
    for (int i = 0; i < int(info.b.size()) * 4; ++i) {
      Place at = place_b(4, lane, i);
      b[at.row][at.column] = byte(word(regs, info.b[i / 4], lane), i, info.b_type);
    }
    for (int i = 0; i < int(info.c.size()); ++i) {
      Place at = place_c(lane, i);
      c[at.row][at.column] = int32_t(word(regs, info.c[i], lane));
    }
  }
  for (int row = 0; row < info.m; ++row)
    for (int k = 0; k < info.k; ++k)
      for (int column = 0; column < info.n; ++column) c[row][column] += a[row][k] * b[k][column];
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < int(info.d.size()); ++i) {
      Place at = place_c(lane, i);
      int64_t sum = c[at.row][at.column];
      if (info.satfinite) sum = sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum;
      lanes<uint32_t>(regs, info.d[i]).v[lane] = uint32_t(sum);
    }
}

void multiply_doubles(const ir::MmaInfo& info, char* regs) {
  double a[16][16], b[16][8], c[16][8];
  auto value = [&](uint16_t slot, int lane) { return lanes<double>(regs, slot).v[lane]; };
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < int(info.a.size()); ++i) {
      Place at = place_a(info, 1, lane, i);
      a[at.row][at.column] = value(info.a[i], lane);
    }
    for (int i = 0; i < int(info.b.size()); ++i) {
      Place at = place_b(1, lane, i);
      b[at.row][at.column] = value(info.b[i], lane);
    }
    for (int i = 0; i < int(info.c.size()); ++i) {
      Place at = place_c(lane, i);
      c[at.row][at.column] = value(info.c[i], lane);
    }
  }
  for (int row = 0; row < info.m; ++row)
    for (int column = 0; column < info.n; ++column)
      for (int k = 0; k < info.k; ++k)
        c[row][column] =
            fp::fused<fp::Rounding::rn, false>(a[row][k], b[k][column], c[row][column]);
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < int(info.d.size()); ++i) {
      Place at = place_c(lane, i);
      lanes<double>(regs, info.d[i]).v[lane] = c[at.row][at.column];
    }
}

} // namespace

void mma_execute(const ir::MmaInfo& info, char* regs, uint32_t compute_capability) {
  CHECK(info.m <= fp::kTensorM && info.n == fp::kTensorN && info.k <= fp::kTensorK);
  if (info.a_type == Type::f64) return multiply_doubles(info, regs);
  if (info.a_type == Type::s8 || info.a_type == Type::u8) return multiply_integers(info, regs);
  multiply_floats(info, regs, compute_capability);
}

} // namespace assay::vgpu::ASSAY_LEVEL
