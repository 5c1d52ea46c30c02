// Spellings and widths of the fundamental types and state spaces. Source: PTX ISA 9.0, sections
// 5.1, 5.2 and 9.7.9 (packed and narrow formats).
#include "ptx/types.hpp"

#include <array>

namespace assay::ptx {
namespace {

struct TypeRow {
  Type type;
  std::string_view name;
  uint32_t bits;
};

constexpr std::array kTypes = {
    TypeRow{Type::none, "", 0},
    TypeRow{Type::pred, "pred", 1},
    TypeRow{Type::b8, "b8", 8},
    TypeRow{Type::b16, "b16", 16},
    TypeRow{Type::b32, "b32", 32},
    TypeRow{Type::b64, "b64", 64},
    TypeRow{Type::b128, "b128", 128},
    TypeRow{Type::u8, "u8", 8},
    TypeRow{Type::u16, "u16", 16},
    TypeRow{Type::u32, "u32", 32},
    TypeRow{Type::u64, "u64", 64},
    TypeRow{Type::s8, "s8", 8},
    TypeRow{Type::s16, "s16", 16},
    TypeRow{Type::s32, "s32", 32},
    TypeRow{Type::s64, "s64", 64},
    TypeRow{Type::f16, "f16", 16},
    TypeRow{Type::f16x2, "f16x2", 32},
    TypeRow{Type::bf16, "bf16", 16},
    TypeRow{Type::bf16x2, "bf16x2", 32},
    TypeRow{Type::tf32, "tf32", 32},
    TypeRow{Type::f32, "f32", 32},
    TypeRow{Type::f32x2, "f32x2", 64},
    TypeRow{Type::f64, "f64", 64},
    TypeRow{Type::u16x2, "u16x2", 32},
    TypeRow{Type::s16x2, "s16x2", 32},
    TypeRow{Type::u8x4, "u8x4", 32},
    TypeRow{Type::s8x4, "s8x4", 32},
    TypeRow{Type::e4m3, "e4m3", 8},
    TypeRow{Type::e5m2, "e5m2", 8},
    TypeRow{Type::e4m3x2, "e4m3x2", 16},
    TypeRow{Type::e5m2x2, "e5m2x2", 16},
    TypeRow{Type::e2m1x2, "e2m1x2", 8},
    TypeRow{Type::e2m3x2, "e2m3x2", 16},
    TypeRow{Type::e3m2x2, "e3m2x2", 16},
    TypeRow{Type::ue8m0x2, "ue8m0x2", 16},
    TypeRow{Type::e4m3x4, "e4m3x4", 32},
    TypeRow{Type::e5m2x4, "e5m2x4", 32},
    TypeRow{Type::e2m1x4, "e2m1x4", 16},
    TypeRow{Type::e2m3x4, "e2m3x4", 32},
    TypeRow{Type::e3m2x4, "e3m2x4", 32},
    TypeRow{Type::texref, "texref", 64},
    TypeRow{Type::samplerref, "samplerref", 64},
    TypeRow{Type::surfref, "surfref", 64},
};

struct SpaceRow {
  Space space;
  std::string_view name;
};

// param_entry and param_func follow from where a .param stands; only the first spelling of a
// repeated one is looked up.
constexpr std::array kSpaces = {
    SpaceRow{Space::reg, ".reg"},
    SpaceRow{Space::sreg, ".sreg"},
    SpaceRow{Space::constant, ".const"},
    SpaceRow{Space::global, ".global"},
    SpaceRow{Space::local, ".local"},
    SpaceRow{Space::param, ".param"},
    SpaceRow{Space::param_entry, ".param::entry"},
    SpaceRow{Space::param_func, ".param::func"},
    SpaceRow{Space::shared, ".shared"},
    SpaceRow{Space::shared_cta, ".shared::cta"},
    SpaceRow{Space::shared_cluster, ".shared::cluster"},
    SpaceRow{Space::tex, ".tex"},
};

} // namespace

Type type_from(std::string_view spelling) {
  if (!spelling.empty() && spelling[0] == '.') spelling.remove_prefix(1);
  if (spelling.empty()) return Type::none;
  for (const TypeRow& row : kTypes)
    if (row.name == spelling) return row.type;
  return Type::none;
}

std::string_view spelling(Type type) {
  static_assert(kTypes.size() == size_t(Type::surfref) + 1);
  for (const TypeRow& row : kTypes)
    if (row.type == type) return row.name;
  return "";
}

uint32_t bits(Type type) {
  for (const TypeRow& row : kTypes)
    if (row.type == type) return row.bits;
  return 0;
}

Space space_from(std::string_view spelling) {
  for (const SpaceRow& row : kSpaces)
    if (row.name == spelling) return row.space;
  return Space::none;
}

std::string_view spelling(Space space) {
  for (const SpaceRow& row : kSpaces)
    if (row.space == space) return row.name;
  return "";
}

} // namespace assay::ptx
