// The syntax tree as text. What is printed parses back to an equal tree (but for positions), and
// ptxas makes the same code of it. Layout follows nvcc's.
#include "ptx/module.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace assay::ptx {
namespace {

using Out = fmt::memory_buffer;

template <class... Args> void put(Out& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}
void put_text(Out& out, std::string_view text) { out.append(text); }

template <class T, class F> void put_list(Out& out, const std::vector<T>& items, F&& each) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (i) put_text(out, ", ");
    each(items[i]);
  }
}

void put_offset(Out& out, int64_t offset, bool even_zero = false) {
  if (offset != 0 || even_zero) put(out, "+{}", offset); // "+-8", as nvcc writes it
}

void put_integer(Out& out, uint64_t bits, bool is_unsigned) {
  if (is_unsigned)
    put(out, "{}U", bits);
  else
    put(out, "{}", int64_t(bits));
}

// `negation` is "!" but for the arithmetic negation that vmad has.
void put_operand(Out& out, const Operand& operand, std::string_view negation = "!") {
  auto each = [&](const Operand& element) { put_operand(out, element); };
  if (operand.negated) put_text(out, negation);
  switch (operand.kind) {
  case Operand::Kind::reg:
    put_text(out, operand.name);
    put_text(out, operand.selector);
    break;
  case Operand::Kind::special:
  case Operand::Kind::label: put_text(out, operand.name); break;
  case Operand::Kind::symbol:
    put_text(out, operand.name);
    put_offset(out, operand.offset);
    break;
  case Operand::Kind::integer: put_integer(out, operand.bits, operand.is_unsigned); break;
  case Operand::Kind::float32: put(out, "0f{:08X}", uint32_t(operand.bits)); break;
  case Operand::Kind::float64: put(out, "0d{:016X}", operand.bits); break;
  case Operand::Kind::address:
    put_text(out, "[");
    for (size_t i = 0; i < operand.elements.size(); ++i) {
      if (i) put_text(out, ", ");
      put_operand(out, operand.elements[i]);
      if (i == 0) put_offset(out, operand.offset, operand.writes_offset);
    }
    put_text(out, "]");
    break;
  case Operand::Kind::vector:
    put_text(out, "{");
    put_list(out, operand.elements, each);
    put_text(out, "}");
    break;
  case Operand::Kind::sink: put_text(out, "_"); break;
  case Operand::Kind::list:
    put_text(out, "(");
    put_list(out, operand.elements, each);
    put_text(out, ")");
    break;
  case Operand::Kind::pair:
    each(operand.elements[0]);
    put_text(out, "|");
    each(operand.elements[1]);
    break;
  }
}

void put_instruction(Out& out, const Instruction& instruction) {
  if (!instruction.guard.empty())
    put(out, "@{}{} ", instruction.guard_negated ? "!" : "", instruction.guard);
  put_text(out, instruction.opcode);
  for (const std::string& modifier : instruction.modifiers) put_text(out, modifier);
  const char* separator = " ";
  for (const auto* list : {&instruction.operands, &instruction.extra})
    for (const Operand& operand : *list) {
      put_text(out, separator);
      put_operand(out, operand, instruction.opcode == "vmad" ? "-" : "!");
      separator = ", ";
    }
  put_text(out, ";");
}

void put_init(Out& out, const Variable& variable, const Variable::Init& init) {
  if (!init.is_symbol) {
    if (variable.type == Type::f32)
      put(out, "0f{:08X}", uint32_t(init.bits));
    else if (variable.type == Type::f64)
      put(out, "0d{:016X}", init.bits);
    else if (is_signed(variable.type))
      put(out, "{}",
          int64_t(init.bits << (64 - bits(variable.type))) >> (64 - bits(variable.type)));
    else
      put(out, "{}", init.bits);
    return;
  }
  if (init.mask) put(out, "0x{:X}(", init.mask);
  if (init.generic)
    put(out, "generic({})", init.symbol);
  else
    put_text(out, init.symbol);
  put_offset(out, init.addend);
  if (init.mask) put_text(out, ")");
}

void put_initialiser(Out& out, const Variable& variable) {
  put_text(out, " = ");
  if (!variable.init_text.empty()) {
    put_text(out, variable.init_text);
    return;
  }
  // Flat lists mean the same as nested ones only for one dimension; further ones get braces.
  const size_t levels = variable.is_array ? variable.dims.size() : variable.vector > 1 ? 1 : 0;
  std::vector<uint64_t> strides(levels, 1);
  for (size_t i = levels; i-- > 1;)
    strides[i - 1] = std::max<uint64_t>(1, strides[i] * variable.dims[i]);
  bool elements = variable.is_array && variable.vector > 1;
  for (uint64_t& stride : strides) stride *= elements ? variable.vector : 1;
  if (elements) strides.push_back(1);
  auto put_level = [&](auto&& self, size_t level, size_t begin, size_t end) -> void {
    if (level >= strides.size()) {
      if (begin < variable.init.size()) put_init(out, variable, variable.init[begin]);
      return;
    }
    put_text(out, "{");
    for (size_t i = begin; i < end; i += strides[level]) {
      if (i != begin) put_text(out, ", ");
      self(self, level + 1, i, std::min<size_t>(i + strides[level], end));
    }
    put_text(out, "}");
  };
  put_level(put_level, 0, 0, variable.init.size());
}

void put_variable(Out& out, const Variable& variable) {
  if (!variable.linkage.empty()) put(out, "{} ", variable.linkage);
  bool is_param = variable.space == Space::param_entry || variable.space == Space::param_func;
  put_text(out, is_param ? ".param" : spelling(variable.space));
  if (!variable.attributes.empty()) put(out, " {}", variable.attributes);
  if (variable.align) put(out, " .align {}", variable.align);
  if (variable.vector > 1) put(out, " .v{}", variable.vector);
  put(out, " .{}", spelling(variable.type));
  if (variable.ptr) {
    put_text(out, " .ptr");
    if (!variable.ptr_space.empty()) put(out, " {}", variable.ptr_space);
    if (variable.ptr_align) put(out, " .align {}", variable.ptr_align);
  }
  put(out, " {}", variable.name);
  if (variable.register_range) put(out, "<{}>", variable.register_range);
  for (uint64_t dim : variable.dims) {
    if (dim)
      put(out, "[{}]", dim);
    else
      put_text(out, "[]");
  }
  if (variable.has_init) put_initialiser(out, variable);
}

void put_params(Out& out, const std::vector<Variable>& params) {
  put_text(out, "(");
  put_list(out, params, [&](const Variable& variable) {
    put_text(out, "\n\t");
    put_variable(out, variable);
  });
  put_text(out, params.empty() ? ")" : "\n)");
}

class ModulePrinter {
public:
  explicit ModulePrinter(const Module& module) : module_(module) {}

  std::string print() {
    put(out_, ".version {}\n.target ", module_.version);
    put_list(out_, module_.target, [&](const std::string& target) { put_text(out_, target); });
    put(out_, "\n.address_size {}\n\n", module_.address_size);
    for (const Module::Item& item : module_.items) {
      switch (item.kind) {
      case Module::Item::Kind::variable:
        put_variable(out_, module_.variables[item.index]);
        put_text(out_, ";\n");
        break;
      case Module::Item::Kind::function: put_function(module_.functions[item.index]); break;
      case Module::Item::Kind::raw:
        put_text(out_, module_.raw[item.index]);
        put_text(out_, "\n");
        break;
      }
    }
    for (size_t i = 0; i < module_.files.size(); ++i)
      if (!module_.files[i].empty()) put(out_, ".file {} \"{}\"\n", i, module_.files[i]);
    return fmt::to_string(out_);
  }

private:
  void put_function(const Function& function) {
    loc_ = 0;
    if (!function.linkage.empty()) put(out_, "{} ", function.linkage);
    put_text(out_, function.is_entry ? ".entry " : ".func ");
    if (!function.attributes.empty()) put(out_, "{} ", function.attributes);
    if (!function.returns.empty()) {
      put_params(out_, function.returns);
      put_text(out_, " ");
    }
    put_text(out_, function.name);
    if (!function.params.empty())
      put_params(out_, function.params);
    else if (!function.is_entry || function.has_body)
      put_text(out_, "()");
    for (const std::string& directive : function.performance)
      put(out_, "\n{}{}", directive, directive.starts_with(".pragma") ? ";" : "");
    if (!function.has_body) {
      put_text(out_, ";\n\n");
      return;
    }
    put_text(out_, "\n{\n");
    for (const Statement& statement : function.body) put_statement(statement);
    put_text(out_, "}\n\n");
  }

  // The callers' places first, because inlined_at names places that .loc has given.
  void put_loc(uint32_t index, uint32_t depth = 0) {
    const Location& location = module_.locations[index];
    if (location.inlined_at && depth < 256) put_loc(location.inlined_at, depth + 1);
    put(out_, "\t.loc {} {} {}", location.file, location.line, location.column);
    if (!location.function_label.empty()) put(out_, ", function_name {}", location.function_label);
    if (location.inlined_at) {
      const Location& at = module_.locations[location.inlined_at];
      put(out_, ", inlined_at {} {} {}", at.file, at.line, at.column);
    }
    put_text(out_, "\n");
  }

  void put_names(const Statement& statement, std::string_view directive) {
    put(out_, "{}: {} ", statement.name, directive);
    put_list(out_, statement.names, [&](const std::string& name) { put_text(out_, name); });
    put_text(out_, ";\n");
  }

  void put_statement(const Statement& statement) {
    switch (statement.kind) {
    case Statement::Kind::instruction:
      if (statement.instruction.loc != loc_ && statement.instruction.loc)
        put_loc(statement.instruction.loc);
      loc_ = statement.instruction.loc;
      put_text(out_, "\t");
      put_instruction(out_, statement.instruction);
      put_text(out_, "\n");
      break;
    case Statement::Kind::label: put(out_, "{}:\n", statement.name); break;
    case Statement::Kind::variable:
      put_text(out_, "\t");
      put_variable(out_, statement.variable);
      put_text(out_, ";\n");
      break;
    case Statement::Kind::block_begin: put_text(out_, "\t{\n"); break;
    case Statement::Kind::block_end: put_text(out_, "\t}\n"); break;
    case Statement::Kind::pragma: put(out_, "\t.pragma \"{}\";\n", statement.name); break;
    case Statement::Kind::branch_targets: put_names(statement, ".branchtargets"); break;
    case Statement::Kind::call_targets: put_names(statement, ".calltargets"); break;
    case Statement::Kind::call_prototype:
      put(out_, "{}: {};\n", statement.name, statement.text);
      break;
    }
  }

  const Module& module_;
  Out out_;
  uint32_t loc_ = 0;
};

} // namespace

std::string print(const Module& module) { return ModulePrinter(module).print(); }

std::string print(const Instruction& instruction) {
  Out out;
  put_instruction(out, instruction);
  return fmt::to_string(out);
}

} // namespace assay::ptx
