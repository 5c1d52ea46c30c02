// Flow of addresses through the registers and the local memory of a kernel and its functions.
// Internal to ir; see address_uses.cpp.
#pragma once

#include "ir/address_origins.hpp"
#include "ir/address_uses.hpp"
#include "ir/layout.hpp"

#include <optional>
#include <unordered_map>

namespace assay::ir {

class AddressFlow {
public:
  AddressFlow(const ptx::Module& module, const ModuleLayout& layout, const Program& program,
              std::vector<VirtualFunction>& functions, const std::vector<BufferPointer>& pointers);
  std::optional<std::string> run();

private:
  using Kind = Object::Kind;
  struct Range { // of an area
    uint32_t area = kNoArea;
    bool exact = false;
    int64_t at = 0; // exact
    uint32_t begin = 0, end = 0;
  };
  struct Places { // that an access may reach
    std::vector<Range> followed;
    bool elsewhere = false; // global or shared memory
    bool anywhere = false;  // all areas
  };

  // address_flow.cpp
  void prepare_variables();
  void prepare_calls(size_t n);
  void constants(size_t n);
  void pass(size_t n);
  void operation(uint32_t i, const VirtualOp& op);
  Origin made(uint32_t i, const VirtualOp& op);
  Origin frame_address(uint32_t offset);
  Origin variable(const ptx::Variable* v, uint64_t value);
  Origin of(uint32_t id) const;
  void set(const VirtualOp& op, uint32_t id, const Origin& value);
  void used(const VirtualOp& op, const Origin& value);
  void reached(const VirtualOp& op, uint32_t id);
  Origin unknown_place() const { return {Objects::kOthers, Form::address, true, false, 0}; }

  // address_values.cpp
  Origin computed(const VirtualOp& op) const;
  Origin compared(const VirtualOp& op, const Origin& a, const Origin& b) const;
  Origin moved(Origin a, const VirtualOp& op, uint32_t by, bool minus) const;
  Origin masked(const VirtualOp& op, const Origin& a, const Origin& b) const;
  Origin flipped(const VirtualOp& op, const Origin& a, const Origin& b) const;
  bool same_object(const Origin& a, const Origin& b) const;
  bool is_value(uint32_t id, uint64_t& value) const;

  // address_accesses.cpp
  void memory(uint32_t i, const VirtualOp& op);
  void mbarrier(const VirtualOp& op);
  void store(uint32_t i, const VirtualOp& op, const MemInfo& info, unsigned k, uint32_t id);
  Origin loaded(uint32_t i, const VirtualOp& op, const MemInfo& info, unsigned k);
  Places places(uint32_t i, const VirtualOp& op, const MemInfo& info, int64_t more);
  Range in_frame(uint32_t i, const VirtualOp& op, uint32_t offset);
  uint32_t call_area(uint32_t i, const VirtualOp& op);
  uint64_t held_at(const VirtualOp& op) const;

  // Shared objects that are no variable's, where others have a variable's address.
  static constexpr uint64_t kDynamicMemory = 0, kReservedMemory = uint64_t(1) << 40;
  static constexpr uint32_t kParameterArea = 0, kIndirectArea = 1;
  uint32_t incoming(size_t n) const { return taken_[n] ? kIndirectArea : uint32_t(2 + 2 * n); }
  uint32_t own(size_t n) const { return uint32_t(3 + 2 * n); }
  uint32_t area_of(size_t n, uint32_t op); // of what one operation hands on or makes

  const ModuleLayout& layout_;
  const Program& program_;
  std::vector<VirtualFunction>& functions_;
  std::vector<bool> taken_;
  std::vector<const ptx::Variable*> globals_; // parallel to the program's
  Objects objects_;
  AddressMemory memory_;
  std::map<std::pair<size_t, uint32_t>, uint32_t> areas_;
  std::vector<std::vector<Origin>> origins_;
  struct Calls { // for each operation, the call before it and the one at or behind it
    std::vector<uint32_t> before, next;
  };
  std::vector<Calls> calls_;
  bool changed_ = false, looking_ = false;
  std::optional<std::string> found_;

  std::unordered_map<uint32_t, Origin> here_; // written in this block so far
  size_t n_ = 0;
  const VirtualFunction* f_ = nullptr;
  std::vector<Origin>* at_ = nullptr;
};

bool is_wmma(const VirtualOp& op);

} // namespace assay::ir
