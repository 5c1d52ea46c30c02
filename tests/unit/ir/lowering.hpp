// Helpers of the lowering tests: a kernel from its body, and what its listing says.
#pragma once

#include "ir/lower.hpp"
#include "ir/source.hpp"

#include <gtest/gtest.h>

namespace assay::ir {

inline std::shared_ptr<const ptx::Module> module_of(const std::string& text) {
  auto m = ptx::parse(".version 8.8\n.target sm_90\n.address_size 64\n" + text, "test.ptx");
  EXPECT_TRUE(m.ok()) << (m.ok() ? "" : m.error().text());
  return m.ok() ? std::make_shared<const ptx::Module>(std::move(*m)) : nullptr;
}

inline std::shared_ptr<const Program> lower_text(const std::string& text,
                                                 const std::string& entry = "k") {
  auto m = module_of(text);
  if (!m) return nullptr;
  auto p = lower(m, entry);
  EXPECT_TRUE(p.ok()) << (p.ok() ? "" : p.error().text());
  return p.ok() ? *p : nullptr;
}

inline constexpr const char* kRegisters =
    ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .b64 %d<20>; .reg .f32 %f<20>;"
    " .reg .b128 %q<4>;\n";

// The kernel `k(.u64 a, .u32 n)` with these statements.
inline std::shared_ptr<const Program> lower_body(const std::string& body,
                                                 const std::string& before = "") {
  return lower_text(before + ".visible .entry k(.param .u64 a, .param .u32 n)\n{\n" + kRegisters +
                    body + "\n}\n");
}

// Indices of the operations with this code.
inline std::vector<uint32_t> find(const Program& p, OpCode code) {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < p.ops.size(); ++i)
    if (p.ops[i].code == code) out.push_back(i);
  return out;
}

// The operation there, past the checks of registers that the test does not care to write.
inline const Op& past_checks(const Program& p, uint32_t i) {
  while (p.ops[i].code == OpCode::check_written) ++i;
  return p.ops[i];
}

} // namespace assay::ir
