// PTX ISA 9.0, sections 7.1 (function declarations), 9.7.13.5 (call) and the device runtime
// functions that CUDA code calls: vprintf, __assertfail, malloc, free.
//
// Call ABI: parameters pass through local memory. A frame is [params][returns][locals]; a caller
// stores outgoing arguments at its local_bytes + offset in the callee's layout, where the callee's
// frame begins, and reads returned values there. A .param variable that serves one call inside its
// own braces, as nvcc writes it, is placed there itself; any other one is a local variable that is
// copied around the call.
#include "ir/function_lowering.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace assay::ir {

using ptx::Operand;
using ptx::Space;
using ptx::Statement;
using ptx::Type;
using ptx::Variable;

namespace {

constexpr uint64_t kMostCopied =
    16384; // bytes of one argument: a copy is an operation for each word

struct CallOperands {
  const Operand* target = nullptr;
  std::vector<const Operand*> returns, arguments;
  std::string_view prototype;
};

// call {(returns),} target {, (arguments)} {, prototype or list of targets}
CallOperands take_apart(const ptx::Instruction& in) {
  CallOperands c;
  for (const Operand& op : in.operands) {
    if (op.kind == Operand::Kind::list) {
      for (const Operand& e : op.elements) (c.target ? c.arguments : c.returns).push_back(&e);
    } else if (!c.target) {
      c.target = &op;
    } else {
      c.prototype = op.name;
    }
  }
  if (!in.extra.empty()) c.prototype = in.extra[0].name;
  return c;
}

} // namespace

Result<FunctionLowering::CallSite> FunctionLowering::call_site(const ptx::Instruction& in) {
  CallOperands ops = take_apart(in);
  CallSite site;
  site.target = ops.target;
  site.returns = std::move(ops.returns);
  site.arguments = std::move(ops.arguments);
  site.prototype = ops.prototype;
  if (!site.target) return error(in, "call without a target");
  if (site.target->kind != Operand::Kind::reg) {
    for (const ptx::Function& f : module_.functions)
      if (f.name == site.target->name && (!site.callee || f.has_body)) site.callee = &f;
    if (!site.callee) return unsupported(fmt::format("call of '{}'", site.target->name));
    site.params = &site.callee->params;
    site.results = &site.callee->returns;
  } else if (const Statement* s = find_list(site.prototype)) {
    site.params = &s->params;
    site.results = &s->returns;
    if (s->kind == Statement::Kind::call_targets) { // the signature is that of any listed function
      const ptx::Function* f = s->names.empty() ? nullptr : module_.find_function(s->names[0]);
      if (!f) return error(in, fmt::format("'{}' lists no function", site.prototype));
      site.params = &f->params;
      site.results = &f->returns;
    }
  } else {
    return error(in, "an indirect call needs a prototype or a list of targets");
  }
  if (site.arguments.size() != site.params->size() || site.returns.size() != site.results->size())
    return error(in,
                 fmt::format("call with {} arguments and {} results where {} and {} are declared",
                             site.arguments.size(), site.returns.size(), site.params->size(),
                             site.results->size()));
  site.layout = signature_layout(*site.params, *site.results);
  if (site.layout.bytes > kMostLocal)
    return error(in, fmt::format("call with {} bytes of arguments and results; a thread has at "
                                 "most {} of local memory",
                                 site.layout.bytes, kMostLocal));
  return site;
}

const Statement* FunctionLowering::find_list(std::string_view name) const {
  for (uint32_t scope = scopes_.back().id;; scope = scope_parent_[scope]) {
    if (auto it = lists_.find({scope, name}); it != lists_.end()) return it->second;
    if (scope == 0) return nullptr;
  }
}

// Places parameters, locals and the .param variables of calls in the frame.
Result<void> FunctionLowering::plan_frame() {
  uint64_t offset = 0;
  if (!f_.is_kernel) offset = signature_layout(source_.params, source_.returns).bytes;
  auto place = [&](const Variable& v) {
    offset = align_up(offset, alignment(v));
    frame_offset_[&v] = uint32_t(std::min(offset, kMostFrame));
    offset += std::clamp<uint64_t>(v.size_bytes(), 1, kMostFrame);
  };
  struct Open {
    uint32_t scope = 0;
    std::vector<const Variable*> params;
    std::vector<const ptx::Instruction*> calls;
    bool straight = true;
  };
  std::vector<Open> open(1);
  scopes_.assign(1, {});
  next_scope_ = 0;
  auto close = [&]() {
    Open& o = open.back();
    bool direct = o.calls.size() == 1 && o.straight && open.size() > 1 &&
                  place_outgoing(*o.calls[0], o.params);
    if (!direct)
      for (const Variable* v : o.params) place(*v);
    bool straight = o.straight && o.calls.empty();
    open.pop_back();
    scopes_.pop_back();
    if (!open.empty()) open.back().straight &= straight;
  };
  for (const Statement& s : source_.body) {
    switch (s.kind) {
    case Statement::Kind::block_begin:
      open.emplace_back();
      scopes_.push_back({});
      scopes_.back().id = ++next_scope_;
      break;
    case Statement::Kind::block_end: close(); break;
    case Statement::Kind::label: open.back().straight = false; break;
    case Statement::Kind::variable:
      if (s.variable.space == Space::param)
        open.back().params.push_back(&s.variable);
      else if (s.variable.space == Space::local)
        place(s.variable);
      break;
    case Statement::Kind::instruction:
      if (s.instruction.opcode == "call") open.back().calls.push_back(&s.instruction);
      break;
    default: break;
    }
  }
  close();
  offset = align_up(offset, layout_.frame_align);
  if (offset > kMostLocal)
    return usage_error(fmt::format("'{}' takes {} bytes of local memory; a thread has at most {}",
                                   source_.name, offset, kMostLocal),
                       {module_.file, source_.position.line, source_.position.column});
  f_.local_bytes = uint32_t(offset);
  return {};
}

// Whether every variable in `params` is exactly one operand of the call; then each gets its place
// in the callee's frame.
bool FunctionLowering::place_outgoing(const ptx::Instruction& call,
                                      const std::vector<const Variable*>& params) {
  auto site = call_site(call);
  if (!site) return false;
  std::unordered_map<const Variable*, uint32_t> places;
  auto match = [&](const std::vector<const Operand*>& operands,
                   const std::vector<Variable>& formals, const std::vector<uint32_t>& offsets) {
    for (size_t i = 0; i < operands.size(); ++i)
      for (const Variable* v : params)
        if (operands[i]->name == v->name && (v->size_bytes() > formals[i].size_bytes() ||
                                             !places.try_emplace(v, offsets[i]).second))
          return false;
    return true;
  };
  if (!match(site->arguments, *site->params, site->layout.params) ||
      !match(site->returns, *site->results, site->layout.returns) || places.size() != params.size())
    return false;
  outgoing_offset_.insert(places.begin(), places.end());
  return true;
}

const Variable* FunctionLowering::param_variable(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (auto it = scope->variables.find(name); it != scope->variables.end()) return it->second;
  return nullptr;
}

// A whole variable, piece by piece.
void FunctionLowering::copy_in_frame(uint32_t to, uint32_t from, const Variable& v) {
  uint64_t bytes = v.size_bytes();
  for (uint64_t at = 0; at < bytes;) {
    Type type = Type::b8;
    for (Type wider : {Type::b16, Type::b32, Type::b64})
      if (uint32_t n = ptx::bits(wider) / 8;
          !((to + at) % n) && !((from + at) % n) && at + n <= bytes)
        type = wider;
    uint32_t bits = std::max<uint32_t>(16, ptx::bits(type));
    Value t = temp(bits);
    frame_access(OpCode::ld, uint32_t(from + at), type, bits, t);
    frame_access(OpCode::st, uint32_t(to + at), type, bits, t);
    at += ptx::bits(type) / 8;
  }
}

// An argument: a .param variable that already lies there or is copied, a register or a literal.
Result<void> FunctionLowering::pass_argument(const Operand& operand, const Variable& param,
                                             uint32_t offset) {
  if (operand.kind == Operand::Kind::symbol)
    if (const Variable* v = param_variable(operand.name)) {
      if (v->size_bytes() > kMostCopied) return unsupported("argument of so many bytes");
      if (!outgoing_offset_.contains(v))
        copy_in_frame(f_.local_bytes + offset, frame_offset_.at(v), *v);
      return {};
    }
  if (param.is_array || param.type == Type::pred || param.vector > 1)
    return unsupported("argument that is no scalar");
  auto v = source(operand, param.type);
  if (!v) return v.error();
  frame_access(OpCode::st, f_.local_bytes + offset, param.type, width_of(*v), *v);
  return {};
}

Result<void> FunctionLowering::take_result(const Operand& operand, const Variable& result,
                                           uint32_t offset) {
  if (operand.kind == Operand::Kind::sink) return {};
  if (operand.kind == Operand::Kind::symbol) {
    const Variable* v = param_variable(operand.name);
    if (!v) return at(operand, fmt::format("'{}' is no .param variable", operand.name));
    if (v->size_bytes() > kMostCopied) return unsupported("result of so many bytes");
    if (!outgoing_offset_.contains(v))
      copy_in_frame(frame_offset_.at(v), f_.local_bytes + offset, *v);
    return {};
  }
  if (result.is_array || result.type == Type::pred || result.vector > 1)
    return unsupported("result that is no scalar");
  auto v = dest(operand, result.type);
  if (!v) return v.error();
  frame_access(OpCode::ld, f_.local_bytes + offset, result.type, width_of(*v), *v);
  return {};
}

Result<void> FunctionLowering::lower_call(const ptx::Instruction& in) {
  auto site = call_site(in);
  if (!site) return site.error();
  for (size_t i = 0; i < site->arguments.size(); ++i)
    if (auto r = pass_argument(*site->arguments[i], (*site->params)[i], site->layout.params[i]); !r)
      return r;
  VirtualOp op;
  op.instruction = &in;
  if (!site->callee) {
    auto address = source(*site->target, Type::u64);
    if (!address) return address.error();
    op.code = OpCode::call_indirect;
    op.a = address->id;
    f_.calls_indirectly = true;
    end_block_with(op);
  } else if (site->callee->has_body) {
    op.code = OpCode::call;
    op.imm = layout_.symbols.at(site->callee->name).value;
    f_.callees.push_back(uint32_t(op.imm));
    end_block_with(op);
  } else {
    auto known = lower_runtime_call(in, *site);
    if (!known) return known.error();
    if (!*known)
      return unsupported(fmt::format("call of '{}', which has no body", site->callee->name));
  }
  if (!open_) start_block();
  for (size_t i = 0; i < site->returns.size(); ++i)
    if (auto r = take_result(*site->returns[i], (*site->results)[i], site->layout.returns[i]); !r)
      return r;
  return {};
}

// The device runtime: arguments come out of the outgoing parameters, results go there.
Result<bool> FunctionLowering::lower_runtime_call(const ptx::Instruction& in,
                                                  const CallSite& site) {
  const std::string& name = site.callee->name;
  auto argument = [&](size_t i) {
    uint32_t bits = ptx::bits((*site.params)[i].type);
    Value t = temp(bits);
    frame_access(OpCode::ld, f_.local_bytes + site.layout.params[i],
                 bits == 64 ? Type::b64 : Type::b32, bits, t);
    return t;
  };
  auto result = [&](Type type, Value v) {
    if (!site.layout.returns.empty())
      frame_access(OpCode::st, f_.local_bytes + site.layout.returns[0], type, ptx::bits(type), v);
  };
  auto widths = [&](std::initializer_list<uint32_t> bits) {
    return std::equal(bits.begin(), bits.end(), site.params->begin(), site.params->end(),
                      [](uint32_t n, const Variable& v) { return n == ptx::bits(v.type); });
  };
  if (name == "vprintf" && widths({64, 64})) {
    Value d = temp(32), format = argument(0), list = argument(1);
    emit(OpCode::vprintf, d, format, list);
    result(Type::b32, d);
  } else if (name == "__assertfail" && widths({64, 64, 32, 64, 64})) {
    uint32_t ids[4];
    for (unsigned i = 0; i < 4; ++i) ids[i] = argument(i).id;
    f_.extra.insert(f_.extra.end(), ids, ids + 4);
    emit(OpCode::assertfail, {}, {}, {}, {}, f_.extra.size() - 4);
  } else if (name == "malloc" && widths({64})) {
    Value d = temp(64);
    emit(OpCode::malloc_, d, argument(0));
    result(Type::b64, d);
  } else if (name == "free" && widths({64})) {
    emit(OpCode::free_, {}, argument(0));
  } else {
    return false;
  }
  return true;
}

// Parameters of a device function: symbols of its frame, or registers that are loaded from there.
void FunctionLowering::enter_function() {
  if (f_.is_kernel) {
    uint64_t offset = 0;
    for (const Variable& v : source_.params) {
      offset = align_up(offset, alignment(v));
      scopes_.back().symbols[v.name] = {Symbol::Kind::param_entry, Space::param_entry, offset, &v};
      offset += std::max<uint64_t>(v.size_bytes(), 1); // lay_out() has limited them
    }
    return;
  }
  SignatureLayout layout = signature_layout(source_.params, source_.returns);
  auto declare_formals = [&](const std::vector<Variable>& list,
                             const std::vector<uint32_t>& offsets, bool load) {
    for (size_t i = 0; i < list.size(); ++i) {
      const Variable& v = list[i];
      if (v.space != Space::reg) {
        scopes_.back().symbols[v.name] = {Symbol::Kind::frame, Space::local, offsets[i], &v};
        f_.frame.push_back({offsets[i], &v});
        continue;
      }
      (void)declare_registers(v);
      Value r{scopes_.back().registers.find(v.name)->second.first};
      if (load) frame_access(OpCode::ld, offsets[i], v.type, width_of(r), r);
    }
  };
  declare_formals(source_.params, layout.params, true);
  declare_formals(source_.returns, layout.returns, false);
}

// The common return of a device function.
void FunctionLowering::leave_function() {
  if (f_.is_kernel) return;
  place_label(epilogue_);
  SignatureLayout layout = signature_layout(source_.params, source_.returns);
  for (size_t i = 0; i < source_.returns.size(); ++i)
    if (const Variable& v = source_.returns[i]; v.space == Space::reg) {
      Value r{scopes_.back().registers.find(v.name)->second.first};
      frame_access(OpCode::st, layout.returns[i], v.type, width_of(r), r);
    }
  end_block_with({.code = OpCode::ret});
}

} // namespace assay::ir
