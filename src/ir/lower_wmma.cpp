// PTX ISA 9.0, sections 9.7.15.3 to 9.7.15.5: wmma.load, wmma.store, wmma.mma. The manual leaves
// open which element of a matrix each register of a fragment holds; here a fragment is one or two
// tiles of mma.sync side by side, so that wmma.mma is one or two mma and loads and stores are
// ordinary ones.
//   m16n16: A one tile, B and C two (columns 0 and 8)
//   m32n8:  A and C two tiles (rows 0 and 16), B one
//   m8n32:  computed as the transpose: Bᵀ (two tiles) times Aᵀ (one) gives Dᵀ (two)
//   m8n8k4 of f64: one tile each
// Registers that the tiles do not need hold zero.
#include "ir/function_lowering.hpp"
#include "ir/special.hpp"

#include <fmt/format.h>

namespace assay::ir {

using ptx::Operand;
using ptx::Type;

namespace {

// Where a register's first element lies in its tile: (row, column) = base + what the lane adds. The
// other elements of the register follow along `column_runs ? columns : rows`.
struct Place {
  uint8_t row, column;
};
// What a lane adds: g = lane / 4 and t = lane % 4, t counting `t_step` elements.
struct Tile {
  std::vector<Place> registers;
  uint8_t t_step = 1;
  uint8_t elements = 1;    // of one register
  bool t_is_column = true; // t moves along columns and g along rows, or the reverse
};

struct Matrix {
  uint32_t rows = 0, columns = 0;
  Tile tile;
  std::vector<Place> tiles; // origins
  bool transposed = false;  // tiles hold the transpose
};

uint8_t per_register(Type type) { // elements of A or B in one register
  return type == Type::f16 || type == Type::bf16 ? 2 : 1;
}

// Operand tiles of mma.sync: A is 16×k, B is k×8, C is 16×8 (f64: 8×4, 4×8, 8×8).
Tile tile_of(char which, Type type) {
  Tile t;
  bool f64 = type == Type::f64, half = per_register(type) == 2;
  if (which == 'a') {
    t.elements = t.t_step = per_register(type);
    auto far = uint8_t(half ? 8 : 4);
    t.registers =
        f64 ? std::vector<Place>{{0, 0}} : std::vector<Place>{{0, 0}, {8, 0}, {0, far}, {8, far}};
  } else if (which == 'b') {
    t.elements = t.t_step = per_register(type);
    t.t_is_column = false;
    auto far = uint8_t(half ? 8 : 4);
    t.registers = f64 ? std::vector<Place>{{0, 0}} : std::vector<Place>{{0, 0}, {far, 0}};
  } else {
    t.t_step = 2;
    t.elements = per_register(type);
    if (t.elements == 2)
      t.registers = {{0, 0}, {8, 0}};
    else
      t.registers = f64 ? std::vector<Place>{{0, 0}, {0, 1}}
                        : std::vector<Place>{{0, 0}, {0, 1}, {8, 0}, {8, 1}};
  }
  return t;
}

struct Shape {
  uint32_t m = 0, n = 0, k = 0;
};

Shape shape_of(const Modifiers& mods) {
  if (mods.has(".m16n16k16")) return {16, 16, 16};
  if (mods.has(".m16n16k8")) return {16, 16, 8};
  if (mods.has(".m32n8k16")) return {32, 8, 16};
  if (mods.has(".m8n32k16")) return {8, 32, 16};
  if (mods.has(".m8n8k4")) return {8, 8, 4};
  return {};
}

Matrix matrix_of(char which, Shape s, Type type) {
  Matrix x;
  x.rows = which == 'b' ? s.k : s.m;
  x.columns = which == 'a' ? s.k : s.n;
  x.tiles = {{0, 0}};
  x.transposed = s.n == 32;
  char tile = which == 'c' ? 'c' : x.transposed ? (which == 'a' ? 'b' : 'a') : which;
  x.tile = tile_of(tile, type);
  if (s.n == 16 && which != 'a') x.tiles.push_back({0, 8});
  if (s.m == 32 && which != 'b') x.tiles.push_back({16, 0});
  if (s.n == 32 && which != 'a') x.tiles.push_back({16, 0}); // of the transpose
  return x;
}

bool executed(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::tf32 || type == Type::f32 ||
         type == Type::f64;
}

std::vector<Operand> elements_of(const Operand& operand) {
  return operand.kind == Operand::Kind::vector ? operand.elements : std::vector<Operand>{operand};
}

} // namespace

// The lane's own part of the address, and the stride between rows (or columns) in elements.
struct FunctionLowering::FragmentAddress {
  Address base;
  ptx::Space space = ptx::Space::none;
  Value lane_address;
  Value stride; // invalid: immediate
  uint64_t stride_elements = 0;
  uint32_t element_bytes = 0;
  bool rows_follow = true;         // row-major: columns are neighbours in memory
  std::map<uint32_t, Value> lines; // address registers by line offset
};

// wmma.load.x.sync.aligned.layout.shape{.space}.type r, [p]{, stride} and wmma.store.d … [p], r{,
// stride}
Result<void> FunctionLowering::lower_wmma_access(const ptx::Instruction& in) {
  Modifiers mods(in);
  bool load = mods.has(".load");
  Type type = mods.last_type();
  Shape shape = shape_of(mods);
  size_t at = load ? 1 : 0;
  if (!shape.m || !executed(type) || in.operands.size() < 2) return not_executed(in);
  char which = mods.has(".a") ? 'a' : mods.has(".b") ? 'b' : 'c';
  if (which != 'c' && type == Type::f32) type = Type::tf32;
  Matrix x = matrix_of(which, shape, type);
  std::vector<Operand> operands = elements_of(in.operands[1 - at]);
  if (operands.size() < x.tiles.size() * x.tile.registers.size()) return not_executed(in);
  emit_meet_all(meet_key(in));
  FragmentAddress a;
  if (auto r = fragment_address(in, in.operands[at], x.columns, x.rows, x.tile.t_step,
                                x.tile.t_is_column != x.transposed, a);
      !r)
    return r;
  size_t next = 0;
  for (Place tile : x.tiles)
    for (Place p : x.tile.registers) {
      uint32_t row = uint32_t(tile.row) + p.row, column = uint32_t(tile.column) + p.column;
      if (x.transposed) std::swap(row, column);
      // The elements of a register follow each other along t.
      bool along_columns = x.tile.t_is_column != x.transposed;
      if (auto r = fragment_register(operands[next++], type, x.tile.elements, row, column,
                                     along_columns, load, a);
          !r)
        return r;
    }
  for (; load && next < operands.size(); ++next) {
    auto d = dest(operands[next], Type::b32);
    if (!d) return d.error();
    emit(OpCode::mov_b32, *d, constant(0, 32));
  }
  return {};
}

Result<void> FunctionLowering::fragment_address(const ptx::Instruction& in, const Operand& operand,
                                                uint32_t columns, uint32_t rows, uint32_t t_step,
                                                bool t_is_column, FragmentAddress& a) {
  Modifiers mods(in);
  a.rows_follow = mods.has(".row");
  a.element_bytes = std::max<uint32_t>(2, ptx::bits(mods.last_type()) / 8);
  VirtualMem m;
  VirtualOp op;
  if (auto r = place_access(in, operand, m, op); !r) return r;
  a.space = m.info.space;
  Value base{op.a};
  if (!base.valid() || m.info.frame) {
    auto whole = address_value(operand);
    if (!whole) return whole.error();
    base = *whole;
    m.info.address64 = true;
    op.imm = 0;
  }
  a.base.wide = m.info.address64;
  a.base.offset = int64_t(op.imm);
  a.stride_elements = a.rows_follow ? columns : rows;
  if (in.operands.size() > 2) {
    if (in.operands[2].kind == Operand::Kind::integer) {
      a.stride_elements = in.operands[2].bits;
    } else {
      auto v = source(in.operands[2], Type::u32);
      if (!v) return v.error();
      a.stride = *v;
    }
  }
  auto binary = [&](OpCode code, uint32_t bits, Value x, Value y) {
    Value t = temp(bits);
    emit(code, t, x, y);
    return t;
  };
  Value lane = temp(32);
  emit(OpCode::special, lane, {}, {}, {}, uint64_t(Special::laneid));
  Value g = binary(OpCode::shr_u32, 32, lane, constant(2, 32));
  Value t = binary(OpCode::and_b32, 32, lane, constant(3, 32));
  if (t_step > 1) t = binary(OpCode::mul_lo_b32, 32, t, constant(t_step, 32));
  // The line is the row in row-major order, the column otherwise.
  bool t_is_line = t_is_column != a.rows_follow;
  Value line = t_is_line ? t : g, within = t_is_line ? g : t;
  Value stride = a.stride.valid() ? a.stride : constant(a.stride_elements, 32);
  Value element = temp(32);
  emit(OpCode::mad_lo_b32, element, line, stride, within);
  Value bytes = constant(a.element_bytes, 32);
  a.lane_address =
      a.base.wide
          ? binary(OpCode::add_b64, 64, base, binary(OpCode::mul_wide_u32, 64, element, bytes))
          : binary(OpCode::add_b32, 32, base, binary(OpCode::mul_lo_b32, 32, element, bytes));
  return {};
}

// The address register of the line `offset` lines after the lane's own.
Value FunctionLowering::fragment_line(uint32_t offset, FragmentAddress& a) {
  if (!a.stride.valid() || offset == 0) return a.lane_address;
  auto [it, fresh] = a.lines.try_emplace(offset);
  if (fresh) {
    uint32_t bits = a.base.wide ? 64 : 32;
    Value bytes = temp(bits), sum = temp(bits);
    emit(a.base.wide ? OpCode::mul_wide_u32 : OpCode::mul_lo_b32, bytes, a.stride,
         constant(uint64_t(offset) * a.element_bytes, 32));
    emit(a.base.wide ? OpCode::add_b64 : OpCode::add_b32, sum, a.lane_address, bytes);
    it->second = sum;
  }
  return it->second;
}

// One register: an access of its own, or two halves that do not lie side by side in memory.
Result<void> FunctionLowering::fragment_register(const Operand& operand, Type type,
                                                 uint32_t elements, uint32_t row, uint32_t column,
                                                 bool along_columns, bool load,
                                                 FragmentAddress& a) {
  bool f64 = type == Type::f64;
  Type whole = f64 ? Type::b64 : Type::b32;
  auto v = load ? dest(operand, whole) : source(operand, whole);
  if (!v) return v.error();
  auto one = [&](uint32_t r, uint32_t c, Type access_type, Value value) {
    uint32_t line = a.rows_follow ? r : c, within = a.rows_follow ? c : r;
    VirtualMem m;
    m.info.space = a.space;
    m.info.type = access_type;
    m.info.bytes = uint8_t(ptx::bits(access_type) / 8);
    m.info.register_bits = uint8_t(ptx::bits(access_type));
    m.info.address64 = a.base.wide;
    m.regs[0] = value.id;
    VirtualOp op;
    op.a = fragment_line(line, a).id;
    op.imm = uint64_t(a.base.offset) + uint64_t(within) * a.element_bytes;
    if (!a.stride.valid()) op.imm += uint64_t(line) * a.stride_elements * a.element_bytes;
    access(load ? OpCode::ld : OpCode::st, op, m);
  };
  if (elements == 1 || along_columns == a.rows_follow) {
    one(row, column, whole, *v);
    return {};
  }
  Value low = temp(16), high = temp(16);
  if (!load) {
    emit(OpCode::low_b16, low, *v);
    emit(OpCode::high_b16, high, *v);
  }
  one(row, column, Type::b16, low);
  one(row + !along_columns, column + along_columns, Type::b16, high);
  if (load) emit(OpCode::pack_b32, *v, low, high);
  return {};
}

Result<std::vector<Value>> FunctionLowering::fragment_values(const Operand& operand, Type type,
                                                             bool destination) {
  std::vector<Value> out;
  for (const Operand& e : elements_of(operand)) {
    auto v = destination ? dest(e, type) : source(e, type);
    if (!v) return v.error();
    out.push_back(*v);
  }
  return out;
}

namespace {
// The types of wmma.mma: .dtype.ctype for f16, else .dtype.atype.btype.ctype.
bool mma_types(const Modifiers& mods, Type& d, Type& a, Type& c) {
  std::vector<Type> types;
  for (const std::string& w : mods.words)
    if (Type t = ptx::type_from(w); t != Type::none) types.push_back(t);
  if (types.size() != 2 && types.size() != 4) return false;
  d = types.front();
  c = types.back();
  a = types.size() == 2 ? Type::f16 : types[1];
  bool f64 = a == Type::f64;
  auto result = [&](Type t) {
    return f64 ? t == Type::f64 : t == Type::f32 || (a == Type::f16 && t == Type::f16);
  };
  return executed(a) && result(d) && result(c) && (types.size() == 2 || types[1] == types[2]);
}
} // namespace

// C as f32: pairs of f16 become two registers.
std::vector<Value> FunctionLowering::widened(const std::vector<Value>& pairs) {
  std::vector<Value> out;
  for (Value v : pairs)
    for (OpCode part : {OpCode::low_b16, OpCode::high_b16}) {
      Value half = temp(16), f = temp(32);
      emit(part, half, v);
      emit(OpCode::cvt_f32_f16, f, half);
      out.push_back(f);
    }
  return out;
}

Result<void> FunctionLowering::lower_wmma_mma(const ptx::Instruction& in) {
  Modifiers mods(in);
  Shape shape = shape_of(mods);
  Type d_type = Type::none, a_type = Type::none, c_type = Type::none;
  if (!shape.m || in.operands.size() != 4 || !mma_types(mods, d_type, a_type, c_type) ||
      mods.has(".satfinite"))
    return not_executed(in);
  bool f64 = a_type == Type::f64, mixed = c_type != d_type;
  Type element = f64 ? Type::f64 : Type::b32;
  auto d = fragment_values(in.operands[0], element, true);
  auto a = fragment_values(in.operands[1], element, false);
  auto b = fragment_values(in.operands[2], element, false);
  auto c = fragment_values(in.operands[3], element, false);
  for (auto* list : {&d, &a, &b, &c})
    if (!*list) return list->error();
  if (shape.n == 32) std::swap(*a, *b); // Dᵀ = Bᵀ Aᵀ
  if (mixed && c_type == Type::f16) *c = widened(*c);
  MmaInfo info;
  info.m = f64 ? 8 : 16;
  info.n = 8;
  info.k = uint16_t(shape.k);
  info.a_type = info.b_type = a_type;
  info.c_type = info.d_type = mixed ? Type::f32 : d_type;
  size_t tiles = f64 ? 1 : 2, a_size = tile_of('a', a_type).registers.size(),
         b_size = tile_of('b', a_type).registers.size(),
         c_size = tile_of('c', info.c_type).registers.size();
  bool two_a = shape.m == 32 || shape.n == 32;
  auto part = [](const std::vector<Value>& from, size_t tile, size_t size) {
    return std::vector<Value>(from.begin() + ptrdiff_t(tile * size),
                              from.begin() + ptrdiff_t((tile + 1) * size));
  };
  if (a->size() < (two_a ? 2 : 1) * a_size || b->size() < (two_a || f64 ? 1 : 2) * b_size ||
      c->size() != tiles * c_size || d->size() != (mixed && d_type == Type::f16 ? 4 : c->size()))
    return not_executed(in);
  // Results wait in temporaries: the second product still reads what the first might overwrite.
  std::vector<Value> results;
  for (size_t i = 0; i < tiles * c_size; ++i) results.push_back(temp(f64 ? 64 : 32));
  for (size_t tile = 0; tile < tiles; ++tile) {
    emit_meet_all(meet_key(in) + uint32_t(tile));
    emit_mma(info, part(results, tile, c_size), part(*a, two_a ? tile : 0, a_size),
             part(*b, two_a ? 0 : tile, b_size), part(*c, tile, c_size));
  }
  for (size_t i = 0; i < d->size(); ++i) {
    if (!mixed || d_type == Type::f32) {
      emit(f64 ? OpCode::mov_b64 : OpCode::mov_b32, (*d)[i], results[i]);
      continue;
    }
    Value low = temp(16), high = temp(16);
    emit(OpCode::cvt_rn_f16_f32, low, results[2 * i]);
    emit(OpCode::cvt_rn_f16_f32, high, results[2 * i + 1]);
    emit(OpCode::pack_b32, (*d)[i], low, high);
  }
  return {};
}

Result<void> FunctionLowering::lower_wmma(const ptx::Instruction& in) {
  Modifiers mods(in);
  if (mods.has(".mma")) return lower_wmma_mma(in);
  return lower_wmma_access(in);
}

} // namespace assay::ir
