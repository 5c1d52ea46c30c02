// What pure operations make of addresses; see address_flow.cpp.
#include "ir/address_flow.hpp"

namespace assay::ir {
namespace {

bool is_compare(OpCode code) {
  switch (code) {
  case OpCode::setp_eq_b32:
  case OpCode::setp_ne_b32:
  case OpCode::setp_lt_u32:
  case OpCode::setp_le_u32:
  case OpCode::setp_lt_s32:
  case OpCode::setp_le_s32:
  case OpCode::setp_eq_b64:
  case OpCode::setp_ne_b64:
  case OpCode::setp_lt_u64:
  case OpCode::setp_le_u64:
  case OpCode::setp_lt_s64:
  case OpCode::setp_le_s64: return true;
  default: return false;
  }
}

bool is_equality(OpCode code) {
  return code == OpCode::setp_eq_b64 || code == OpCode::setp_ne_b64 ||
         code == OpCode::setp_eq_b32 || code == OpCode::setp_ne_b32;
}

bool is_wide(OpCode code) {
  return code == OpCode::add_b64 || code == OpCode::sub_b64 || code == OpCode::and_b64 ||
         code == OpCode::or_b64 || code == OpCode::xor_b64;
}

} // namespace

Origin AddressFlow::computed(const VirtualOp& op) const {
  const OperandRoles& r = roles(op.code);
  const Origin a = r.a ? of(op.a) : Origin{}, b = r.b ? of(op.b) : Origin{},
               c = r.c ? of(op.c) : Origin{}, all = joined(joined(a, b), c);
  if (op.instruction && op.instruction->opcode == "cvta" && op.code != OpCode::mov_b64) {
    // From a state space's own addresses to generic ones, or back.
    Origin value = a.none() ? unknown_place() : a;
    value.narrow = op.code == OpCode::sub_b64;
    return value;
  }
  if (all.none()) return all;
  const bool narrow = all.narrow && all.form == Form::address;
  switch (op.code) {
  case OpCode::mov_b32:
  case OpCode::mov_b64:
  case OpCode::mov_b128: return a;
  case OpCode::selp_b32:
  case OpCode::selp_b64: return c.none() ? joined(a, b) : as(Form::data, all);
  case OpCode::add_b32:
  case OpCode::add_b64:
    if (!a.none() && !b.none()) return as(Form::data, all);
    return moved(all, op, a.none() ? op.a : op.b, false);
  case OpCode::sub_b32:
  case OpCode::sub_b64:
    if (same_object(a, b) && (a.narrow || op.code == OpCode::sub_b64)) return {};
    return b.none() ? moved(a, op, op.b, true) : as(Form::data, all);
  case OpCode::mad_lo_b32:
  case OpCode::mad_lo_b64:
  case OpCode::mad_wide_s32:
  case OpCode::mad_wide_u32:
    return a.none() && b.none() ? moved(c, op, kNoIndex, false) : as(Form::data, all);
  case OpCode::low_b32: return narrow ? a : as(Form::low_part, a);
  case OpCode::zext_b32: return narrow ? a : as(Form::low_part, a);
  case OpCode::sext_b32: return narrow ? a : as(Form::data, a);
  case OpCode::low_b16:
  case OpCode::zext_b8:
  case OpCode::zext_b16: return as(Form::low_part, a);
  case OpCode::and_b32:
  case OpCode::and_b64: return masked(op, a, b);
  case OpCode::or_b32:
  case OpCode::or_b64:
  case OpCode::xor_b32:
  case OpCode::xor_b64: return flipped(op, a, b);
  default: break;
  }
  return is_compare(op.code) ? compared(op, a, b) : as(Form::data, all);
}

// An address and a distance.
Origin AddressFlow::moved(Origin a, const VirtualOp& op, uint32_t by, bool minus) const {
  uint64_t distance = 0;
  if (!objects_.are_places(a.objects & ~Objects::kOthers)) return as(Form::data, a);
  if (by == kNoIndex || !is_value(by, distance) || !a.exact) {
    a.exact = false;
    a.at = 0;
    return a;
  }
  int64_t d = is_wide(op.code) ? int64_t(distance) : int32_t(distance);
  a.at += minus ? -d : d;
  return a;
}

bool AddressFlow::same_object(const Origin& a, const Origin& b) const {
  return a.objects == b.objects && a.form == Form::address && b.form == Form::address &&
         a.narrow == b.narrow && std::has_single_bit(a.objects) && a.objects != Objects::kOthers &&
         objects_.one(unsigned(std::countr_zero(a.objects))).one_place;
}

bool AddressFlow::is_value(uint32_t id, uint64_t& value) const {
  const VirtualRegister& r = f_->registers[id];
  value = r.value;
  return r.constant && r.source == Constant::Source::value && r.named.what == Named::What::nothing;
}

// The order of two addresses in one object; that no object begins at the generic address zero,
// wherever it lies; which of its functions a program names.
Origin AddressFlow::compared(const VirtualOp& op, const Origin& a, const Origin& b) const {
  const Origin all = joined(a, b);
  const bool equality = is_equality(op.code), places = objects_.are_places(all.objects);
  const bool wide = op.code >= OpCode::setp_eq_b64 || all.narrow;
  if (same_object(a, b) && wide) return {};
  if (!equality || !places || all.form != Form::address || all.narrow) return as(Form::data, all);
  uint64_t value = 1;
  if (a.none() != b.none() && is_value(a.none() ? op.a : op.b, value) && value == 0) return {};
  if (!a.none() && !b.none() && objects_.only(all.objects, Kind::function)) return {};
  return as(Form::data, all);
}

// Bits below the alignment are the same wherever the object lies.
Origin AddressFlow::masked(const VirtualOp& op, const Origin& a, const Origin& b) const {
  uint64_t mask = 0;
  Origin value = a.none() ? b : a;
  if (a.none() == b.none() || !is_value(a.none() ? op.a : op.b, mask) || value.form == Form::data)
    return as(Form::data, joined(a, b));
  const uint64_t align = objects_.align(value.objects);
  if (mask < align) return {};
  const uint64_t cleared = is_wide(op.code) ? ~mask : uint32_t(~mask);
  const bool whole = value.form == Form::address && (is_wide(op.code) || value.narrow);
  if (!whole || cleared >= align) return as(Form::data, value);
  value.exact = false;
  value.at = 0;
  return value;
}

// So are they turned by a constant, and what is above them stays.
Origin AddressFlow::flipped(const VirtualOp& op, const Origin& a, const Origin& b) const {
  uint64_t bits = 0;
  Origin value = a.none() ? b : a;
  if (a.none() == b.none() || !is_value(a.none() ? op.a : op.b, bits) ||
      bits >= objects_.align(value.objects))
    return as(Form::data, joined(a, b));
  value.exact = false;
  value.at = 0;
  return value;
}

} // namespace assay::ir
