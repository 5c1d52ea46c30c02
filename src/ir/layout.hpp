// Where everything of one kernel lies: module variables, shared variables, kernel parameters, the
// parameters of functions. Internal to ir; values as in address_space.hpp.
#pragma once

#include "ir/program.hpp"

#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace assay::ir {

inline uint64_t align_up(uint64_t value, uint64_t align) {
  return (value + align - 1) / align * align;
}

// Bytes and alignment of one element of a variable, and of the whole.
uint32_t element_bytes(const ptx::Variable& variable);
uint32_t alignment(const ptx::Variable& variable);

// More than any thread's local memory; sizes that lead beyond are cut to it.
inline constexpr uint64_t kMostFrame = uint64_t(1) << 30;
inline constexpr uint64_t kMostLocal = 512 << 10; // bytes a thread: CUDA C++ Programming
                                                  // Guide 13.0, "Technical Specifications"

// Parameters and returned values as the call ABI places them, from the start of the callee's frame.
// It depends on the signature alone, so that calls through a prototype agree with their target.
struct SignatureLayout {
  std::vector<uint32_t> params, returns; // byte offsets
  uint32_t bytes = 0;
  uint32_t align = 16;
};
SignatureLayout signature_layout(const std::vector<ptx::Variable>& params,
                                 const std::vector<ptx::Variable>& returns);

struct Symbol {
  enum class Kind : uint8_t {
    global,      // .global, .const: value is the window address
    shared,      // value is the offset
    frame,       // .local and .param of the function: value is the offset in its frame
    param_entry, // kernel parameter: value is its offset
    function     // value is the function's index
  };
  Kind kind = Kind::global;
  ptx::Space space = ptx::Space::none;
  uint64_t value = 0;
  const ptx::Variable* variable = nullptr; // none of functions
};

// What the kernel and everything that it may call need.
struct ModuleLayout {
  std::unordered_map<std::string_view, Symbol> symbols; // of the module's scope
  // Variables declared in the bodies of reached functions, by address.
  std::unordered_map<const ptx::Variable*, Symbol> shared;
  std::vector<const ptx::Function*> functions; // [0] is the kernel
  std::vector<bool> address_taken;             // parallel to functions
  uint32_t frame_align = 16;                   // of every frame of the program
};

// Finds the reached functions, places variables and parameters, fills the program's globals,
// parameters, shared size and launch bounds.
Result<ModuleLayout> lay_out(const ptx::Module& module, const ptx::Function& kernel,
                             Program& program);

} // namespace assay::ir
