// The passes of lowering, in order: layout, then for each function translation, control flow, slot
// assignment and linking; then what holds for the whole program. verify() runs at the end.
#include "ir/lower.hpp"
#include "base/check.hpp"
#include "ir/flow.hpp"
#include "ir/function_lowering.hpp"
#include "ir/lane_patterns.hpp"
#include "ir/launch_values.hpp"
#include "ir/layout.hpp"
#include "ir/link.hpp"
#include "ir/open_values.hpp"
#include "ir/retries.hpp"
#include "ir/simplify.hpp"
#include "ir/slots.hpp"
#include "ir/verify_widths.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <unordered_set>

namespace assay::ir {
namespace {

void note_properties(Program& p) {
  for (const Op& op : p.ops) {
    p.has_calls |= op.code == OpCode::call || op.code == OpCode::call_indirect;
  }
}

// A function is recursive when it can reach itself; an indirect call may reach every function whose
// address is taken.
void note_recursion(Program& p, const ModuleLayout& layout,
                    const std::vector<VirtualFunction>& functions) {
  auto callees = [&](uint32_t f) {
    std::vector<uint32_t> out = functions[f].callees;
    if (functions[f].calls_indirectly)
      for (uint32_t i = 0; i < functions.size(); ++i)
        if (layout.address_taken[i]) out.push_back(i);
    return out;
  };
  for (uint32_t f = 0; f < functions.size(); ++f) {
    std::vector<bool> seen(functions.size());
    std::vector<uint32_t> work = callees(f);
    while (!work.empty()) {
      uint32_t g = work.back();
      work.pop_back();
      if (seen[g]) continue;
      seen[g] = true;
      for (uint32_t next : callees(g)) work.push_back(next);
    }
    p.functions[f].recursive = seen[f];
  }
}

void must_hold(const Result<void>& verified) {
  if (verified) return;
  std::fprintf(stderr, "%s\n", verified.error().text().c_str());
  CHECK(!"lowering left an invalid program");
}

Result<const ptx::Function*> find_kernel(const ptx::Module& module, const std::string& entry) {
  const ptx::Function* kernel = nullptr;
  std::unordered_set<std::string_view> bodies;
  for (const ptx::Function& f : module.functions) {
    if (!f.has_body) continue;
    if (!bodies.insert(f.name).second)
      return usage_error(fmt::format("'{}' is defined twice", f.name),
                         {module.file, f.position.line, f.position.column});
    if (f.is_entry && f.name == entry) kernel = &f;
  }
  if (kernel) return kernel;
  return usage_error(fmt::format("there is no kernel '{}' in {}", entry, module.file));
}

} // namespace

Result<std::shared_ptr<const Program>> lower(const std::shared_ptr<const ptx::Module>& module,
                                             const std::string& entry) {
  auto found = find_kernel(*module, entry);
  if (!found) return found.error();
  const ptx::Function* kernel = *found;
  if (module->address_size != 64)
    return unsupported("32-bit addresses (.address_size 32)", {module->file, 0, 0});
  auto program = std::make_shared<Program>();
  program->module = module;
  program->kernel = entry;
  auto layout = lay_out(*module, *kernel, *program);
  if (!layout) return layout.error();
  std::vector<VirtualFunction> functions;
  for (size_t i = 0; i < layout->functions.size(); ++i) {
    auto f = FunctionLowering(*module, *layout, *layout->functions[i], i == 0).run();
    if (!f) return f.error();
    analyse_flow(*f);
    simplify(*f);
    prove_uniform_branches(*f);
    find_address_patterns(*f);
    keep_launch_values(*f, program->parameter_bytes);
    watch_open_values(*f);
    find_fixed_addresses(*f);
    find_retries(*f);
    must_hold(verify_widths(*f));
    auto slots = assign_slots(*f);
    if (!slots) return slots.error();
    must_hold(verify_slots(*f, *slots));
    program->register_estimate = std::max(program->register_estimate, slots->live_registers);
    link_function(*f, *slots, *program);
    functions.push_back(std::move(*f));
  }
  if (program->mem.size() >= kNoSlot)
    return unsupported("kernel with more than 65534 memory operations");
  note_properties(*program);
  note_recursion(*program, *layout, functions);
  must_hold(verify(*program));
  Hasher text;
  text.add(ptx::print(*module));
  program->text = text.digest();
  return std::shared_ptr<const Program>(program);
}

} // namespace assay::ir
