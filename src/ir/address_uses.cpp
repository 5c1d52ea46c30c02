// Lowers once more as far as the flow of addresses asks for; see address_uses.hpp.
#include "ir/address_uses.hpp"
#include "ir/address_flow.hpp"
#include "ir/flow.hpp"
#include "ir/function_lowering.hpp"

namespace assay::ir {

std::optional<std::string> address_used_as_data(const Program& program,
                                                const std::vector<BufferPointer>& pointers) {
  const ptx::Module& module = *program.module;
  const ptx::Function* kernel = nullptr;
  for (const ptx::Function& f : module.functions)
    if (f.has_body && f.is_entry && f.name == program.kernel) kernel = &f;
  CHECK(kernel);
  Program again; // as lower() had it, for its layout
  again.module = program.module;
  Result<ModuleLayout> layout = lay_out(module, *kernel, again);
  CHECK(layout);
  std::vector<VirtualFunction> functions;
  for (size_t i = 0; i < layout->functions.size(); ++i) {
    auto f = FunctionLowering(module, *layout, *layout->functions[i], i == 0).run();
    CHECK(f);
    analyse_flow(*f);
    functions.push_back(std::move(*f)); // not simplified: that drops additions of an address 0
  }
  return AddressFlow(module, *layout, again, functions, pointers).run();
}

} // namespace assay::ir
