// A cubin (ELF) as far as it matters: the code of each kernel, which functions of the runtime it
// calls, the source line of an instruction. Nothing in it is trusted: every offset is checked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::native {

class Cubin {
public:
  // `image` must outlive the object. Not a cubin: ok() is false.
  explicit Cubin(std::string_view image);
  bool ok() const { return ok_; }

  // The kernel's machine code, empty when it is not there.
  std::string_view code(const std::string& symbol) const;
  // Functions outside the cubin that the kernel calls: "vprintf", "malloc" (EIATTR_EXTERNS).
  std::vector<std::string> externals(const std::string& symbol) const;
  // Variables in global memory (__device__), as the compiler wrote them.
  std::vector<std::string> variables() const;
  std::string_view section(std::string_view name) const;

  struct Relocation {
    uint64_t offset;
    std::string symbol;
  };
  std::vector<Relocation> relocations(std::string_view section) const;

private:
  struct Section {
    std::string_view name, content;
    uint32_t type = 0, link = 0, info = 0;
  };
  std::string symbol_name(uint32_t index) const;

  bool ok_ = false;
  std::vector<Section> sections_;
  std::string_view symbols_, strings_;
};

struct SourceLine {
  std::string file;
  uint32_t line = 0; // 0: unknown
};

// The source line of the instruction at a byte offset of a kernel, from DWARF .debug_line (versions
// 2 to 4), which compilers write with -lineinfo. Without: line 0.
SourceLine source_line(const Cubin& cubin, const std::string& symbol, uint64_t offset);

} // namespace assay::native
