// Tests of whole rows of lanes, and gathers: what the memory handlers need of each vector level.
// Included once per level by core.cpp and pure_floating.cpp. The intrinsics stand where g++ 12
// makes poor code of the loop (a reduction to one bit, a gather).
#pragma once

#include "vgpu/lanes.hpp"

#include <type_traits>

#include <immintrin.h>

namespace assay::vgpu::ASSAY_LEVEL {

// a[i] == a[0] + Stride·i in all lanes?
#if defined(__AVX512F__) && defined(__AVX512DQ__)
template <int Stride> ASSAY_INLINE bool affine(const Lanes<uint32_t>& a) {
  const __m512i base = _mm512_set1_epi32(int(a.v[0]));
  const __m512i step = _mm512_setr_epi32(
      0, Stride, 2 * Stride, 3 * Stride, 4 * Stride, 5 * Stride, 6 * Stride, 7 * Stride, 8 * Stride,
      9 * Stride, 10 * Stride, 11 * Stride, 12 * Stride, 13 * Stride, 14 * Stride, 15 * Stride);
  __m512i low = _mm512_add_epi32(base, step);
  __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(16 * Stride));
  __mmask16 bad = _kor_mask16(_mm512_cmpneq_epi32_mask(_mm512_load_si512(a.v), low),
                              _mm512_cmpneq_epi32_mask(_mm512_load_si512(a.v + 16), high));
  return _kortestz_mask16_u8(bad, bad);
}
template <int Stride> ASSAY_INLINE bool affine(const Lanes<uint64_t>& a) {
  const __m512i step = _mm512_setr_epi64(0, Stride, 2 * Stride, 3 * Stride, 4 * Stride, 5 * Stride,
                                         6 * Stride, 7 * Stride);
  __m512i want = _mm512_add_epi64(_mm512_set1_epi64(int64_t(a.v[0])), step), bad{};
  const __m512i next = _mm512_set1_epi64(8 * Stride);
  for (int k = 0; k < 4; ++k) {
    bad = _mm512_or_si512(bad, _mm512_xor_si512(_mm512_load_si512(a.v + 8 * k), want));
    want = _mm512_add_epi64(want, next);
  }
  return !_mm512_test_epi64_mask(bad, bad);
}
#elif defined(__AVX2__)
template <int Stride> ASSAY_INLINE bool affine(const Lanes<uint32_t>& a) {
  const __m256i step = _mm256_setr_epi32(0, Stride, 2 * Stride, 3 * Stride, 4 * Stride, 5 * Stride,
                                         6 * Stride, 7 * Stride);
  __m256i want = _mm256_add_epi32(_mm256_set1_epi32(int(a.v[0])), step), bad{};
  const __m256i next = _mm256_set1_epi32(8 * Stride);
  for (int k = 0; k < 4; ++k) {
    __m256i lane = _mm256_load_si256(reinterpret_cast<const __m256i*>(a.v) + k);
    bad = _mm256_or_si256(bad, _mm256_xor_si256(lane, want));
    want = _mm256_add_epi32(want, next);
  }
  return _mm256_testz_si256(bad, bad);
}
template <int Stride> ASSAY_INLINE bool affine(const Lanes<uint64_t>& a) {
  const __m256i step = _mm256_setr_epi64x(0, Stride, 2 * Stride, 3 * Stride);
  __m256i want = _mm256_add_epi64(_mm256_set1_epi64x(int64_t(a.v[0])), step), bad{};
  const __m256i next = _mm256_set1_epi64x(4 * Stride);
  for (int k = 0; k < 8; ++k) {
    __m256i lane = _mm256_load_si256(reinterpret_cast<const __m256i*>(a.v) + k);
    bad = _mm256_or_si256(bad, _mm256_xor_si256(lane, want));
    want = _mm256_add_epi64(want, next);
  }
  return _mm256_testz_si256(bad, bad);
}
#else
template <int Stride, class A> ASSAY_INLINE bool affine(const Lanes<A>& a) {
  A base = a.v[0], bad = 0;
  for (int i = 0; i < kLanes; ++i) bad |= a.v[i] - base - A(Stride * i);
  return bad == 0;
}
#endif

// Both halves of a warp consecutive, or both constant: a[16h + j] = a[16h] + Stride·j?
template <int Stride> ASSAY_INLINE bool halves(const Lanes<uint32_t>& a) {
  const uint32_t low = a.v[0], high = a.v[16];
  uint32_t bad[16];
  for (int i = 0; i < 16; ++i)
    bad[i] =
        (a.v[i] ^ (low + uint32_t(Stride * i))) | (a.v[16 + i] ^ (high + uint32_t(Stride * i)));
  uint32_t any = 0;
  for (uint32_t b : bad) any |= b;
  return any == 0;
}

// The bits of a predicate's lanes.
ASSAY_INLINE uint32_t predicate_bits(const Lanes<int32_t>& p) {
#if defined(__AVX2__)
  uint32_t r = 0;
  for (int k = 0; k < 4; ++k)
    r |= uint32_t(_mm256_movemask_ps(_mm256_load_ps(reinterpret_cast<const float*>(p.v) + 8 * k)))
         << (8 * k);
  return r;
#else
  uint32_t parts[4] = {0, 0, 0, 0};
  for (int k = 0; k < 4; ++k)
    for (int i = 0; i < 8; ++i) parts[k] |= uint32_t(p.v[k * 8 + i] & 1) << (k * 8 + i);
  return parts[0] | parts[1] | parts[2] | parts[3];
#endif
}

// Is any lane not zero?
ASSAY_INLINE bool any(const Lanes<uint32_t>& a) {
#if defined(__AVX512F__)
  __m512i all = _mm512_or_si512(_mm512_load_si512(a.v), _mm512_load_si512(a.v + 16));
  return _mm512_test_epi32_mask(all, all) != 0;
#else
  uint32_t parts[8] = {};
  for (int k = 0; k < 4; ++k)
    for (int i = 0; i < 8; ++i) parts[i] |= a.v[k * 8 + i];
  uint32_t all = 0;
  for (uint32_t p : parts) all |= p;
  return all != 0;
#endif
}

// Is any lane a NaN?
ASSAY_INLINE bool any_nan(const Lanes<float>& a) {
#if defined(__AVX512F__)
  const __m512 low = _mm512_load_ps(a.v), high = _mm512_load_ps(a.v + 16);
  return _mm512_cmp_ps_mask(low, high, _CMP_UNORD_Q) != 0;
#elif defined(__AVX2__)
  __m256 bad{};
  for (int k = 0; k < 32; k += 16)
    bad = _mm256_or_ps(
        bad, _mm256_cmp_ps(_mm256_load_ps(a.v + k), _mm256_load_ps(a.v + k + 8), _CMP_UNORD_Q));
  return _mm256_movemask_ps(bad) != 0;
#else
  int32_t bad = 0;
  for (int i = 0; i < kLanes; ++i) bad |= a.v[i] != a.v[i];
  return bad != 0;
#endif
}

// Do Bytes bytes at two places differ? Bytes: a multiple of 32.
template <int Bytes> ASSAY_INLINE bool differ(const uint8_t* x, const uint8_t* y) {
#if defined(__AVX512F__)
  if constexpr (Bytes % 64 == 0) {
    __m512i bad{};
    for (int k = 0; k < Bytes; k += 64)
      bad = _mm512_or_si512(bad,
                            _mm512_xor_si512(_mm512_loadu_si512(x + k), _mm512_loadu_si512(y + k)));
    return _mm512_test_epi32_mask(bad, bad) != 0;
  }
#endif
#if defined(__AVX2__)
  __m256i bad{};
  for (int k = 0; k < Bytes; k += 32) {
    auto row = [k](const uint8_t* p) {
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + k));
    };
    bad = _mm256_or_si256(bad, _mm256_xor_si256(row(x), row(y)));
  }
  return !_mm256_testz_si256(bad, bad);
#else
  uint64_t bad[4] = {};
  for (int k = 0; k < Bytes; k += 32)
    for (int i = 0; i < 4; ++i) {
      uint64_t a, b;
      std::memcpy(&a, x + k + 8 * i, 8);
      std::memcpy(&b, y + k + 8 * i, 8);
      bad[i] |= a ^ b;
    }
  return (bad[0] | bad[1] | bad[2] | bad[3]) != 0;
#endif
}

// Rows of 16 bytes, one for each lane at place(lane), to four registers, and back. Lanes n, n + 4,
// n + 8 … stand in the quarters of one vector: transposing each quarter then leaves whole rows of a
// register, which the next operation reads without waiting for parts.
#if defined(__AVX512F__)
inline constexpr int kQuadLanes = 16;
using Quad = __m512;
template <class At> ASSAY_INLINE Quad quad_from(At place, int i) {
  auto row = [&](int k) { return _mm_loadu_ps(reinterpret_cast<const float*>(place(i + k))); };
  Quad q = _mm512_castps128_ps512(row(0));
  q = _mm512_insertf32x4(q, row(4), 1);
  q = _mm512_insertf32x4(q, row(8), 2);
  return _mm512_insertf32x4(q, row(12), 3);
}
template <class At> ASSAY_INLINE void quad_to(At place, int i, Quad q) {
  auto row = [&](int k) { return reinterpret_cast<float*>(place(i + k)); };
  _mm_storeu_ps(row(0), _mm512_castps512_ps128(q));
  _mm_storeu_ps(row(4), _mm512_extractf32x4_ps(q, 1));
  _mm_storeu_ps(row(8), _mm512_extractf32x4_ps(q, 2));
  _mm_storeu_ps(row(12), _mm512_extractf32x4_ps(q, 3));
}
ASSAY_INLINE Quad low_halves(Quad a, Quad b) { return _mm512_unpacklo_ps(a, b); }
ASSAY_INLINE Quad high_halves(Quad a, Quad b) { return _mm512_unpackhi_ps(a, b); }
ASSAY_INLINE Quad low_pairs(Quad a, Quad b) { return _mm512_shuffle_ps(a, b, 0x44); }
ASSAY_INLINE Quad high_pairs(Quad a, Quad b) { return _mm512_shuffle_ps(a, b, 0xee); }
#elif defined(__AVX2__)
inline constexpr int kQuadLanes = 8;
using Quad = __m256;
template <class At> ASSAY_INLINE Quad quad_from(At place, int i) {
  auto row = [&](int k) { return _mm_loadu_ps(reinterpret_cast<const float*>(place(i + k))); };
  return _mm256_insertf128_ps(_mm256_castps128_ps256(row(0)), row(4), 1);
}
template <class At> ASSAY_INLINE void quad_to(At place, int i, Quad q) {
  auto row = [&](int k) { return reinterpret_cast<float*>(place(i + k)); };
  _mm_storeu_ps(row(0), _mm256_castps256_ps128(q));
  _mm_storeu_ps(row(4), _mm256_extractf128_ps(q, 1));
}
ASSAY_INLINE Quad low_halves(Quad a, Quad b) { return _mm256_unpacklo_ps(a, b); }
ASSAY_INLINE Quad high_halves(Quad a, Quad b) { return _mm256_unpackhi_ps(a, b); }
ASSAY_INLINE Quad low_pairs(Quad a, Quad b) { return _mm256_shuffle_ps(a, b, 0x44); }
ASSAY_INLINE Quad high_pairs(Quad a, Quad b) { return _mm256_shuffle_ps(a, b, 0xee); }
#else
inline constexpr int kQuadLanes = 4;
using Quad = __m128;
template <class At> ASSAY_INLINE Quad quad_from(At place, int i) {
  return _mm_loadu_ps(reinterpret_cast<const float*>(place(i)));
}
template <class At> ASSAY_INLINE void quad_to(At place, int i, Quad q) {
  _mm_storeu_ps(reinterpret_cast<float*>(place(i)), q);
}
ASSAY_INLINE Quad low_halves(Quad a, Quad b) { return _mm_unpacklo_ps(a, b); }
ASSAY_INLINE Quad high_halves(Quad a, Quad b) { return _mm_unpackhi_ps(a, b); }
ASSAY_INLINE Quad low_pairs(Quad a, Quad b) { return _mm_shuffle_ps(a, b, 0x44); }
ASSAY_INLINE Quad high_pairs(Quad a, Quad b) { return _mm_shuffle_ps(a, b, 0xee); }
#endif

// Four quads of the lanes n, n + 1, n + 2, n + 3 become those of the four elements, and back.
ASSAY_INLINE void transpose(Quad (&q)[4]) {
  Quad a = low_halves(q[0], q[1]), b = low_halves(q[2], q[3]);
  Quad c = high_halves(q[0], q[1]), d = high_halves(q[2], q[3]);
  q[0] = low_pairs(a, b);
  q[1] = high_pairs(a, b);
  q[2] = low_pairs(c, d);
  q[3] = high_pairs(c, d);
}
template <class At> ASSAY_INLINE void load_quads(Lanes<uint32_t>* const (&d)[4], At place) {
  for (int i = 0; i < kLanes; i += kQuadLanes) {
    Quad q[4];
    for (int k = 0; k < 4; ++k) q[k] = quad_from(place, i + k);
    transpose(q);
    for (int k = 0; k < 4; ++k) std::memcpy(d[k]->v + i, &q[k], sizeof(Quad));
  }
}
template <class At> ASSAY_INLINE void store_quads(const Lanes<uint32_t>* const (&s)[4], At place) {
  for (int i = 0; i < kLanes; i += kQuadLanes) {
    Quad q[4];
    for (int k = 0; k < 4; ++k) std::memcpy(&q[k], s[k]->v + i, sizeof(Quad));
    transpose(q);
    for (int k = 0; k < 4; ++k) quad_to(place, i + k, q[k]);
  }
}

// d[i] = the four bytes at base + offset[i], offsets below 2^31.
ASSAY_INLINE void gather32(Lanes<uint32_t>& d, const void* base, const Lanes<uint32_t>& offset) {
#if defined(__AVX512F__)
  for (int k = 0; k < 32; k += 16)
    _mm512_store_si512(d.v + k, _mm512_i32gather_epi32(_mm512_load_si512(offset.v + k), base, 1));
#elif defined(__AVX2__)
  for (int k = 0; k < 4; ++k) {
    __m256i index = _mm256_load_si256(reinterpret_cast<const __m256i*>(offset.v) + k);
    _mm256_store_si256(reinterpret_cast<__m256i*>(d.v) + k,
                       _mm256_i32gather_epi32(static_cast<const int*>(base), index, 1));
  }
#else
  for (int i = 0; i < kLanes; ++i)
    std::memcpy(&d.v[i], static_cast<const char*>(base) + offset.v[i], 4);
#endif
}

} // namespace assay::vgpu::ASSAY_LEVEL
