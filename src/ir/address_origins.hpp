// Which places and other choices of a machine a value follows from, and how. Internal to ir; for
// address_uses.cpp.
#pragma once

#include "ir/virtual_code.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <vector>

namespace assay::ir {

enum class Form : uint8_t {
  address,  // of a byte in one of the objects, or behind it; a value as the machine gave it
  low_part, // the low bits of an address
  data,     // anything else that follows from one
};

struct Origin {
  uint64_t objects = 0; // a bit each; none: the value follows from no object
  Form form = Form::address;
  bool narrow = false; // an offset in shared, local or parameter space, no generic address
  bool exact = false;  // of one object in an area: `at` is the offset there
  int64_t at = 0;
  bool operator==(const Origin&) const = default;
  bool none() const { return objects == 0; }
};

inline Origin joined(const Origin& a, const Origin& b) {
  if (a.none() && b.none()) return {};
  if (a.none() || b.none()) return a.none() ? b : a;
  Origin all{a.objects | b.objects, std::max(a.form, b.form), a.narrow || b.narrow, false, 0};
  all.exact = a.exact && b.exact && a.at == b.at && a.objects == b.objects;
  if (all.exact) all.at = a.at;
  return all;
}

inline Origin as(Form form, Origin a) {
  if (a.none()) return {};
  a.form = std::max(form, a.form);
  if (form != Form::address) a.exact = false, a.at = 0;
  return a;
}

inline constexpr uint32_t kNoArea = 0xffffffff;

// What a machine, an assembler or a driver places, or fills as it likes.
struct Object {
  enum class Kind : uint8_t {
    buffer,
    variable, // of the module
    shared,
    local,
    parameters,
    function,
    workspace,     // of a cooperative launch
    barrier_state, // what mbarrier.arrive returns
    cache_policy,
    fragment, // registers of wmma: which holds which element is open
    others,   // all beyond the 63rd
  };
  Kind kind = Kind::others;
  uint32_t align = 1;      // that its place promises
  bool one_place = false;  // all addresses of it in one launch are of one object
  uint32_t area = kNoArea; // where its bytes are followed: [begin, end)
  uint32_t begin = 0, end = 0;
  uint64_t holds = 0; // variables of the module: objects whose addresses the initialiser holds
  bool is_place() const { return kind <= Kind::function; }
};

class Objects {
public:
  static constexpr uint64_t kOthers = uint64_t(1) << 63;

  // The bit of an object; `made` describes it the first time.
  uint64_t bit(Object::Kind kind, uint64_t key, const Object& made) {
    auto [it, fresh] = index_.try_emplace({kind, key}, objects_.size());
    if (fresh) {
      objects_.push_back(made);
      objects_.back().kind = kind;
    }
    return it->second < 63 ? uint64_t(1) << it->second : kOthers;
  }
  const Object* known(Object::Kind kind, uint64_t key) const {
    auto it = index_.find({kind, key});
    return it == index_.end() ? nullptr : &objects_[it->second];
  }
  const Object& one(unsigned index) const { return index < 63 ? objects_[index] : others_; }

  // The objects of a set, one after the other.
  template <class F> void each(uint64_t set, F f) const {
    for (uint64_t left = set; left; left &= left - 1) f(one(unsigned(std::countr_zero(left))));
  }
  uint32_t align(uint64_t set) const {
    uint32_t least = 1u << 31;
    each(set, [&](const Object& o) { least = std::min(least, o.align); });
    return least;
  }
  bool are_places(uint64_t set) const {
    bool all = true;
    each(set, [&](const Object& o) { all &= o.is_place(); });
    return all;
  }
  bool only(uint64_t set, Object::Kind kind) const {
    bool all = true;
    each(set, [&](const Object& o) { all &= o.kind == kind; });
    return all;
  }
  // For reports: "the address of a buffer", and who chooses it.
  std::string describe(uint64_t set) const;

private:
  std::map<std::pair<Object::Kind, uint64_t>, size_t> index_;
  std::vector<Object> objects_;
  Object others_;
};

// What the bytes of local memory and of parameters hold, whenever that may be: stores add up.
class AddressMemory {
public:
  // `bytes` of a value, at an offset or at any of a range where accesses are aligned.
  bool store(uint32_t area, int64_t at, uint32_t bytes, const Origin& value);
  bool store_within(uint32_t area, uint32_t begin, uint32_t end, uint32_t bytes,
                    const Origin& value);
  Origin load(uint32_t area, int64_t at, uint32_t bytes) const;
  Origin load_within(uint32_t area, uint32_t begin, uint32_t end, uint32_t bytes) const;
  void store_anywhere() { torn_ = true; }    // nothing comes back whole
  Origin everything() const { return all_; } // of all areas

private:
  static constexpr int kUnset = -2, kMixed = -1;
  struct Cell { // a byte
    Origin origin;
    int part = kUnset; // which byte of the value; kMixed: of several
  };
  using Range = std::pair<uint32_t, uint32_t>;
  struct Area {
    std::map<int64_t, Cell> cells;
    std::map<Range, std::vector<Cell>> ranges; // by the offset's remainder by 8
  };
  static bool join(Cell& cell, const Origin& value, int part);
  static Cell at(const Area& area, int64_t offset);
  Origin load(const Area& area, int64_t at, uint32_t bytes) const;

  std::map<uint32_t, Area> areas_;
  Origin all_;
  bool torn_ = false;
};

} // namespace assay::ir
