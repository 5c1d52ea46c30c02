// Bytes of local memory and parameters that hold addresses; what reports call the objects. See
// address_origins.hpp.
#include "ir/address_origins.hpp"

namespace assay::ir {

std::string Objects::describe(uint64_t set) const {
  switch (one(unsigned(std::countr_zero(set))).kind) {
  case Object::Kind::buffer:
    return "the address of a buffer as data{}: where buffers lie is the allocator's choice";
  case Object::Kind::variable:
    return "the address of a variable as data{}: where variables lie is the linker's choice";
  case Object::Kind::shared:
    return "an address of shared memory as data{}: where its variables lie is the assembler's "
           "choice";
  case Object::Kind::local:
    return "an address of local memory as data{}: where its variables lie is the assembler's "
           "choice";
  case Object::Kind::parameters:
    return "the address of the kernel's parameters as data{}: where they lie is the driver's "
           "choice";
  case Object::Kind::function:
    return "the address of a function as data{}: where functions lie is the linker's choice";
  case Object::Kind::workspace:
    return "the address of a cooperative launch's workspace as data{}: it is the driver's choice";
  case Object::Kind::barrier_state:
    return "the state of an mbarrier as data{}: what is in it is the machine's choice";
  case Object::Kind::cache_policy:
    return "a cache policy as data{}: what is in it is the machine's choice";
  case Object::Kind::fragment:
    return "single registers of a wmma fragment as data{}: which element each holds is the "
           "machine's choice";
  default: break;
  }
  return "an address as data{}: where it lies is the machine's choice";
}

// A cell that no store has reached yet takes over what comes. Values that follow from no object
// count too: they may take the place of a part of an address.
bool AddressMemory::join(Cell& cell, const Origin& value, int part) {
  Cell now{joined(cell.origin, value), cell.part == kUnset || cell.part == part ? part : kMixed};
  bool changed = now.origin != cell.origin || now.part != cell.part;
  cell = now;
  return changed;
}

bool AddressMemory::store(uint32_t area, int64_t at, uint32_t bytes, const Origin& value) {
  Area& a = areas_[area];
  all_ = joined(all_, value);
  bool changed = false;
  for (uint32_t k = 0; k < bytes; ++k) changed |= join(a.cells[at + k], value, int(k));
  return changed;
}

bool AddressMemory::store_within(uint32_t area, uint32_t begin, uint32_t end, uint32_t bytes,
                                 const Origin& value) {
  auto& cells = areas_[area].ranges[{begin, end}];
  cells.resize(8);
  all_ = joined(all_, value);
  bool changed = false;
  for (uint32_t k = 0; k < 8; ++k)
    changed |= join(cells[k], value, bytes <= 8 ? int(k % bytes) : kMixed);
  return changed;
}

AddressMemory::Cell AddressMemory::at(const Area& area, int64_t offset) {
  Cell cell;
  if (auto it = area.cells.find(offset); it != area.cells.end()) cell = it->second;
  for (const auto& [range, cells] : area.ranges)
    if (offset >= range.first && offset < range.second)
      if (const Cell& c = cells[size_t(offset) % 8]; !c.origin.none()) join(cell, c.origin, c.part);
  return cell;
}

// A value comes back whole only as it was stored.
Origin AddressMemory::load(const Area& area, int64_t at, uint32_t bytes) const {
  Origin all;
  bool whole = !torn_;
  for (uint32_t k = 0; k < bytes; ++k) {
    Cell cell = AddressMemory::at(area, at + k);
    whole &= cell.part == int(k);
    all = joined(all, cell.origin);
  }
  if (all.none()) return all;
  if (!whole || bytes > 8) return as(Form::data, all);
  return bytes == 8 || (bytes == 4 && all.narrow) ? all : as(Form::low_part, all);
}

Origin AddressMemory::load(uint32_t area, int64_t at, uint32_t bytes) const {
  auto it = areas_.find(area);
  return it == areas_.end() ? Origin{} : load(it->second, at, bytes);
}

Origin AddressMemory::load_within(uint32_t area, uint32_t begin, uint32_t end,
                                  uint32_t bytes) const {
  auto it = areas_.find(area);
  if (it == areas_.end()) return {};
  Origin all;
  auto aligned = [&](int64_t at) { return at - at % int64_t(bytes); };
  const auto& cells = it->second.cells;
  for (auto c = cells.lower_bound(begin); c != cells.end() && c->first < int64_t(end); ++c)
    all = joined(all, load(it->second, aligned(c->first), bytes));
  for (const auto& [range, alike] : it->second.ranges)
    for (int64_t at = aligned(std::max(begin, range.first)), n = 0;
         n < 8 && at < std::min<int64_t>(end, range.second); at += bytes, ++n)
      all = joined(all, load(it->second, at, bytes));
  return all;
}

} // namespace assay::ir
