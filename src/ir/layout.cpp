// Reached functions and the placement of variables. Source: PTX ISA 9.0, sections 5.1 (state
// spaces), 5.4 (variables, initialisers), 7.1 (functions), 11.4 (performance directives).
#include "ir/layout.hpp"
#include "base/machine.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <fmt/format.h>

namespace assay::ir {

using ptx::Operand;
using ptx::Space;
using ptx::Statement;
using ptx::Variable;

uint32_t element_bytes(const Variable& variable) {
  return std::max<uint32_t>(1, (ptx::bits(variable.type) + 7) / 8) *
         std::max<uint32_t>(1, variable.vector);
}

uint32_t alignment(const Variable& variable) {
  return std::max<uint32_t>(variable.align, element_bytes(variable));
}

namespace {

uint64_t size_of(const Variable& variable) {
  uint64_t n = variable.size_bytes();
  return n || variable.is_array ? n : element_bytes(variable);
}

// Names that the body mentions, in order; calls through registers are noted.
struct References {
  std::vector<std::string_view> names;

  void operand(const Operand& op) {
    if (op.kind == Operand::Kind::symbol) names.push_back(op.name);
    for (const Operand& element : op.elements) operand(element);
  }
  void body(const ptx::Function& function) {
    for (const Statement& s : function.body) {
      if (s.kind == Statement::Kind::instruction) {
        for (const Operand& op : s.instruction.operands) operand(op);
        for (const Operand& op : s.instruction.extra) operand(op);
      }
      for (const std::string& name : s.names) names.push_back(name); // call_targets
    }
  }
};

// A module may declare a function before it defines it: the definition counts.
std::unordered_map<std::string_view, const ptx::Function*>
functions_by_name(const ptx::Module& module) {
  std::unordered_map<std::string_view, const ptx::Function*> map;
  for (const ptx::Function& f : module.functions) {
    auto [it, fresh] = map.try_emplace(f.name, &f);
    if (!fresh && f.has_body) it->second = &f;
  }
  return map;
}

class Planner {
public:
  Planner(const ptx::Module& module, Program& program) : module_(module), program_(program) {}

  Result<ModuleLayout> run(const ptx::Function& kernel) {
    by_name_ = functions_by_name(module_);
    if (auto r = place_globals(); !r) return r.error();
    reach(kernel);
    for (size_t i = 0; i < layout_.functions.size(); ++i) visit(*layout_.functions[i]);
    if (auto r = initialise_globals(); !r) return r.error();
    if (auto r = place_shared(); !r) return r.error();
    if (auto r = place_parameters(kernel); !r) return r.error();
    find_frame_align();
    return std::move(layout_);
  }

private:
  Error too_large(const Variable& v, uint64_t bytes, std::string_view what, uint64_t most) const {
    return usage_error(fmt::format("with '{}' the {} take {} bytes; there are at most {}", v.name,
                                   what, bytes, most),
                       {module_.file, v.position.line, v.position.column});
  }

  Result<void> place_globals() {
    constexpr uint64_t kMost = uint64_t(1) << 36; // as of a buffer: more than a device has
    uint64_t total = 0;
    for (const Variable& v : module_.variables) {
      if (v.space != Space::global && v.space != Space::constant) continue;
      total += std::min(size_of(v), 2 * kMost);
      if (total > kMost) return too_large(v, total, "module's variables", kMost);
      if (auto room = room_for(total, "the module's variables",
                               {module_.file, v.position.line, v.position.column});
          !room)
        return room;
      GlobalVariable g;
      g.name = v.name;
      g.address = window_base(kFirstModuleWindow + program_.globals.size());
      g.bytes = size_of(v);
      g.read_only = v.space == Space::constant;
      g.type = v.type;
      // An .extern declaration does not hide the definition.
      if (v.linkage != ".extern" || !layout_.symbols.contains(v.name))
        layout_.symbols[v.name] = {Symbol::Kind::global, v.space, g.address, &v};
      sources_.push_back(&v);
      program_.globals.push_back(std::move(g));
    }
    // Initialisers may name functions: those are reached when the variable may be read.
    for (const Variable* v : sources_)
      for (const Variable::Init& init : v->init)
        if (init.is_symbol)
          if (auto it = by_name_.find(init.symbol); it != by_name_.end())
            named_by_data_.push_back(it->second);
    return {};
  }

  uint32_t reach(const ptx::Function& f) {
    auto [it, fresh] = index_.try_emplace(&f, uint32_t(layout_.functions.size()));
    if (fresh) {
      layout_.functions.push_back(&f);
      layout_.address_taken.push_back(false);
      layout_.symbols[f.name] = {Symbol::Kind::function, Space::none, it->second, nullptr};
    }
    return it->second;
  }

  void visit(const ptx::Function& f) {
    if (layout_.functions[0] == &f) // the kernel comes first, then what data names
      for (const ptx::Function* named : named_by_data_)
        if (named->has_body && !named->is_entry) layout_.address_taken[reach(*named)] = true;
    References refs;
    refs.body(f);
    for (std::string_view name : refs.names) {
      mentioned_.insert(name);
      if (auto it = by_name_.find(name); it != by_name_.end() && it->second->has_body)
        reach(*it->second);
    }
    for (const Statement& s : f.body)
      if (s.kind == Statement::Kind::variable && s.variable.space == Space::shared)
        shared_.push_back(&s.variable);
    for (const Statement& s : f.body)
      if (s.kind == Statement::Kind::instruction && s.instruction.opcode != "call")
        note_taken(s.instruction);
  }

  void note_taken(const ptx::Instruction& instruction) {
    for (const Operand& op : instruction.operands) {
      if (op.kind != Operand::Kind::symbol) continue;
      auto it = by_name_.find(op.name);
      if (it != by_name_.end() && it->second->has_body)
        layout_.address_taken[reach(*it->second)] = true;
    }
  }

  Result<void> initialise_globals() {
    for (size_t i = 0; i < sources_.size(); ++i) {
      if (!sources_[i]->has_init) continue;
      GlobalVariable& g = program_.globals[i];
      g.has_init = true;
      g.init.assign(g.bytes, 0);
      if (auto r = write_init(*sources_[i], g.init); !r) return r.error();
    }
    return {};
  }

  Result<void> write_init(const Variable& v, std::vector<uint8_t>& bytes) {
    uint32_t step = std::max<uint32_t>(1, (ptx::bits(v.type) + 7) / 8);
    uint64_t at = 0;
    for (const Variable::Init& init : v.init) {
      uint64_t value = init.bits;
      if (init.is_symbol) {
        auto r = symbol_value(init, v);
        if (!r) return r.error();
        value = *r + uint64_t(init.addend);
      }
      if (init.mask) value = (value & init.mask) >> std::countr_zero(init.mask);
      if (at + step > bytes.size())
        return usage_error(
            fmt::format("the initialiser of '{}' is longer than the variable", v.name),
            {module_.file, v.position.line, v.position.column});
      std::memcpy(bytes.data() + at, &value, std::min<uint32_t>(step, 8));
      at += step;
    }
    return {};
  }

  Result<uint64_t> symbol_value(const Variable::Init& init, const Variable& v) {
    auto it = layout_.symbols.find(init.symbol);
    if (it == layout_.symbols.end()) {
      if (by_name_.contains(init.symbol))
        return uint64_t(0); // declared only: calling it is an illegal operation
      return usage_error(
          fmt::format("'{}' in the initialiser of '{}' is declared nowhere", init.symbol, v.name),
          {module_.file, v.position.line, v.position.column});
    }
    if (it->second.kind == Symbol::Kind::function)
      return window_base(kFunctionWindow) + 16 * it->second.value;
    return it->second.value;
  }

  // Static variables first, in order of declaration; all dynamic ones share the place after them.
  Result<void> place_shared() {
    constexpr uint64_t kMost = uint64_t(1) << 30; // the device's own limit comes with the launch
    std::vector<const Variable*> all;
    for (const Variable& v : module_.variables)
      if (v.space == Space::shared && mentioned_.contains(v.name)) all.push_back(&v);
    all.insert(all.end(), shared_.begin(), shared_.end());
    uint64_t offset = 0, dynamic_align = 16;
    auto dynamic = [](const Variable& v) { return v.linkage == ".extern" && size_of(v) == 0; };
    for (const Variable* v : all) {
      if (dynamic(*v)) {
        dynamic_align = std::max<uint64_t>(dynamic_align, alignment(*v));
        continue;
      }
      offset = align_up(offset, alignment(*v));
      set_shared(*v, offset);
      offset += std::min(size_of(*v), 2 * kMost);
      if (offset > kMost) return too_large(*v, offset, "shared variables", kMost);
    }
    program_.static_shared_bytes = uint32_t(align_up(offset, dynamic_align));
    for (const Variable* v : all)
      if (dynamic(*v)) set_shared(*v, program_.static_shared_bytes);
    return {};
  }

  void set_shared(const Variable& v, uint64_t offset) {
    Symbol symbol{Symbol::Kind::shared, Space::shared, offset, &v};
    layout_.shared[&v] = symbol;
    bool module_scope = !module_.variables.empty() && &v >= module_.variables.data() &&
                        &v < module_.variables.data() + module_.variables.size();
    if (module_scope) layout_.symbols[v.name] = symbol;
  }

  Result<void> place_parameters(const ptx::Function& kernel) {
    constexpr uint64_t kMost = 32764; // bytes: section 7.1, since PTX ISA 8.1
    uint64_t offset = 0;
    for (const Variable& v : kernel.params) {
      offset = align_up(offset, alignment(v));
      Parameter p;
      p.name = v.name;
      p.type = v.type;
      p.offset = uint32_t(offset);
      p.bytes = uint32_t(std::min(size_of(v), 2 * kMost));
      p.align = alignment(v);
      p.is_array = v.is_array;
      p.is_pointer = v.ptr;
      offset += p.bytes;
      if (offset > kMost) return too_large(v, offset, "kernel's parameters", kMost);
      program_.parameters.push_back(std::move(p));
    }
    program_.parameter_bytes = uint32_t(offset);
    return {};
  }

  void find_frame_align() {
    for (const ptx::Function* f : layout_.functions) {
      if (!f->is_entry)
        layout_.frame_align =
            std::max(layout_.frame_align, signature_layout(f->params, f->returns).align);
      for (const Statement& s : f->body) {
        if (s.kind == Statement::Kind::variable &&
            (s.variable.space == Space::local || s.variable.space == Space::param))
          layout_.frame_align = std::max(layout_.frame_align, alignment(s.variable));
        if (s.kind == Statement::Kind::call_prototype)
          layout_.frame_align =
              std::max(layout_.frame_align, signature_layout(s.params, s.returns).align);
      }
    }
  }

  const ptx::Module& module_;
  Program& program_;
  ModuleLayout layout_;
  std::unordered_map<std::string_view, const ptx::Function*> by_name_;
  std::unordered_map<const ptx::Function*, uint32_t> index_;
  std::vector<const Variable*> sources_; // of program_.globals
  std::vector<const ptx::Function*> named_by_data_;
  std::unordered_set<std::string_view> mentioned_;
  std::vector<const Variable*> shared_; // declared in bodies
};

// ".maxntid 256, 1, 1": the numbers after the word.
std::vector<uint32_t> numbers(std::string_view text) {
  std::vector<uint32_t> out;
  size_t i = text.find_first_of(" \t");
  while (i < text.size()) {
    if (text[i] < '0' || text[i] > '9') {
      ++i;
      continue;
    }
    uint32_t value = 0;
    auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), value, 10);
    out.push_back(error == std::errc() ? value : 0);
    i = size_t(end - text.data());
  }
  return out;
}

void launch_bounds(const ptx::Function& kernel, Program& program) {
  auto fill = [](uint32_t(&out)[3], const std::vector<uint32_t>& n) {
    for (size_t i = 0; i < 3; ++i) out[i] = i < n.size() ? n[i] : 1;
  };
  for (const std::string& directive : kernel.performance) {
    std::vector<uint32_t> n = numbers(directive);
    if (n.empty()) continue;
    if (directive.starts_with(".maxntid"))
      fill(program.max_ntid, n);
    else if (directive.starts_with(".reqntid"))
      fill(program.req_ntid, n);
    else if (directive.starts_with(".minnctapersm"))
      program.min_ctas_per_sm = n[0];
    else if (directive.starts_with(".maxnreg"))
      program.max_registers = n[0];
  }
}

} // namespace

SignatureLayout signature_layout(const std::vector<Variable>& params,
                                 const std::vector<Variable>& returns) {
  SignatureLayout layout;
  uint64_t offset = 0;
  auto place = [&](const std::vector<Variable>& list, std::vector<uint32_t>& offsets) {
    for (const Variable& v : list) {
      uint32_t align = alignment(v);
      layout.align = std::max(layout.align, align);
      offset = std::min(align_up(offset, align), kMostFrame);
      offsets.push_back(uint32_t(offset));
      offset = std::min(offset + std::min(size_of(v), kMostFrame), kMostFrame);
    }
  };
  place(params, layout.params);
  place(returns, layout.returns);
  layout.bytes = uint32_t(align_up(offset, 16));
  return layout;
}

Result<ModuleLayout> lay_out(const ptx::Module& module, const ptx::Function& kernel,
                             Program& program) {
  launch_bounds(kernel, program);
  return Planner(module, program).run(kernel);
}

} // namespace assay::ir
