// Translation of one PTX function into a VirtualFunction. Internal to ir: the lower_*.cpp files,
// named after sections of the PTX manual, are member functions of FunctionLowering.
//
// Guards: an operation that may carry one does; every other guarded instruction is wrapped in a
// branch around it. What cannot be executed becomes Op `unsupported` at its place: everything that
// the instruction had emitted until then is taken back.
#pragma once

#include "base/check.hpp"
#include "ir/builder.hpp"
#include "ir/layout.hpp"
#include "ir/virtual_code.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace assay::ir {

// The modifiers of one instruction, read by word.
struct Modifiers {
  const std::vector<std::string>& words;
  explicit Modifiers(const ptx::Instruction& in) : words(in.modifiers) {}
  bool has(std::string_view word) const;
  bool has_prefix(std::string_view prefix) const;
  ptx::Type last_type() const; // Type::none without one
  ptx::Space space() const;    // Space::none without one (generic)
  Scope scope() const;         // Scope::none without one
  uint8_t vector() const;      // .v2 .v4 .v8; 1 without
};

// An address operand, taken apart.
struct Address {
  Value base; // invalid: absolute
  int64_t offset = 0;
  bool wide = true;                    // the base has 64-bit lanes
  bool frame = false;                  // relative to the frame
  ptx::Space space = ptx::Space::none; // of the symbol it names
};

class FunctionLowering final : public Builder {
public:
  FunctionLowering(const ptx::Module& module, const ModuleLayout& layout,
                   const ptx::Function& source, bool is_kernel);
  Result<VirtualFunction> run();

  // -- Builder ----------------------------------------------------------------------------------
  Result<Value> source(const ptx::Operand& operand, ptx::Type type) override;
  Result<Value> dest(const ptx::Operand& operand, ptx::Type type) override;
  uint32_t register_bits(const ptx::Operand& operand) override;
  Value constant(uint64_t bits, uint32_t width_bits) override;
  Value temp(uint32_t width_bits) override;
  Value carry() override;
  void emit(OpCode code, Value d, Value a = {}, Value b = {}, Value c = {}, uint64_t imm = 0,
            uint16_t flags = 0) override;
  void emit_meet_all(uint32_t key) override;
  void emit_mma(const MmaInfo& shape, const std::vector<Value>& d, const std::vector<Value>& a,
                const std::vector<Value>& b, const std::vector<Value>& c) override;

private:
  struct RegisterDecl {
    uint32_t first = 0;   // id of the first element
    uint8_t elements = 1; // .v2, .v4
    uint8_t bits = 32;
    ptx::Type type = ptx::Type::none; // as declared
  };
  struct NameHash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  struct RegisterRange { // .reg .b32 %r<10>
    std::string_view prefix;
    uint32_t count = 0;
    uint8_t elements = 1, bits = 32;
    ptx::Type type = ptx::Type::none;
  };
  struct NameScope {
    uint32_t id = 0;
    // Keys of their own: operands are also looked up by copies that do not last.
    std::unordered_map<std::string, RegisterDecl, NameHash, std::equal_to<>> registers;
    std::vector<RegisterRange> ranges;
    std::unordered_map<std::string_view, Symbol> symbols;
    std::unordered_map<std::string_view, const ptx::Variable*> variables; // .param
  };
  struct Checkpoint {
    size_t ops, blocks, mems, extra, tables, mmas, labels;
    Block block;
  };
  using Handler = Result<void> (FunctionLowering::*)(const ptx::Instruction&);
  struct HandlerRow {
    Handler handler;
    bool branch_around; // of a guarded one
  };

  // function_lowering.cpp
  Result<void> plan_labels();
  Result<void> statement(const ptx::Statement& s);
  Result<void> declare(const ptx::Variable& v);
  Result<void> declare_registers(const ptx::Variable& v);
  Result<void> instruction(const ptx::Instruction& in);
  Result<void> translate(const ptx::Instruction& in);
  Result<void> fits(const ptx::Instruction& in, size_t first) const;
  Result<void> guard(const ptx::Instruction& in);
  void emit_unsupported(const ptx::Instruction& in);
  uint32_t branch_around();
  Checkpoint checkpoint() const;
  void roll_back(const Checkpoint& c);
  static const HandlerRow* handler(std::string_view opcode);
  Error error(const ptx::Instruction& in, std::string message) const;
  Error not_executed(const ptx::Instruction& in) const;

  // blocks.cpp
  uint32_t new_label();
  void place_label(uint32_t label);
  void start_block();
  void end_block_with(VirtualOp op);
  void jump(uint32_t label);
  void finish_blocks();
  Result<uint32_t> label(const ptx::Operand& operand);

  // operand_types.cpp
  Result<void> check_types(const ptx::Instruction& in);
  Result<void> check_type(const ptx::Operand& operand, ptx::Type type, bool written);

  // operands.cpp
  const RegisterDecl* find_register(std::string_view name);
  const Symbol* find_symbol(std::string_view name) const;
  Result<Value> register_value(const ptx::Operand& operand);
  Result<Value> fit(Value v, ptx::Type type, const ptx::Operand& operand);
  Result<Value> literal(const ptx::Operand& operand, ptx::Type type);
  Result<Value> symbol_address(const ptx::Operand& operand, uint32_t width);
  Value named_constant(uint64_t bits, uint32_t width_bits, const Named& named);
  Result<Value> special_value(const ptx::Operand& operand, ptx::Type type);
  Result<Address> address(const ptx::Operand& operand);
  Result<Value> address_value(const ptx::Operand& operand); // as one 64-bit register
  Error at(const ptx::Operand& operand, std::string message) const;
  VirtualOp& append(OpCode code);
  uint32_t new_register(uint32_t bits, bool is_temp);
  uint32_t width_of(Value v) const { return f_.registers[v.id].bits; }

  // lower_memory.cpp
  Result<void> lower_ld(const ptx::Instruction& in);
  Result<void> lower_st(const ptx::Instruction& in);
  Result<void> lower_atom(const ptx::Instruction& in);
  Result<void> lower_prefetch(const ptx::Instruction& in);
  Result<void> lower_cvta(const ptx::Instruction& in);
  Result<void> lower_isspacep(const ptx::Instruction& in);
  Result<void> lower_createpolicy(const ptx::Instruction& in);
  Result<void> place_access(const ptx::Instruction& in, const ptx::Operand& operand, VirtualMem& m,
                            VirtualOp& op);
  Result<void> registers_of(const ptx::Instruction& in, const ptx::Operand& operand, bool store,
                            VirtualMem& m);
  bool set_semantics(const Modifiers& mods, VirtualMem& m) const;
  void access(OpCode code, const VirtualOp& address, const VirtualMem& m, Value d = {});
  void frame_access(OpCode code, uint32_t offset, ptx::Type type, uint32_t bits, Value v);

  // lower_control.cpp
  Result<void> lower_bra(const ptx::Instruction& in);
  Result<void> lower_brx(const ptx::Instruction& in);
  Result<void> lower_ret(const ptx::Instruction& in);
  Result<void> lower_exit(const ptx::Instruction& in);
  Result<void> lower_trap(const ptx::Instruction& in);

  // lower_mbarrier.cpp
  Result<void> lower_mbarrier(const ptx::Instruction& in);
  Result<void> lower_cp_arrive(const ptx::Instruction& in);
  Result<void> mbarrier(const ptx::Instruction& in, OpCode code, const ptx::Operand& object,
                        Value d = {}, Value b = {}, uint16_t flags = 0);
  Result<void> lower_griddepcontrol(const ptx::Instruction& in);

  // lower_call.cpp
  struct CallSite {
    const ptx::Operand* target = nullptr;
    std::vector<const ptx::Operand*> returns, arguments;
    std::string_view prototype;
    const std::vector<ptx::Variable>*params = nullptr, *results = nullptr;
    SignatureLayout layout;
    const ptx::Function* callee = nullptr; // direct calls
  };
  Result<void> lower_call(const ptx::Instruction& in);
  Result<CallSite> call_site(const ptx::Instruction& in);
  Result<void> plan_frame();
  bool place_outgoing(const ptx::Instruction& call,
                      const std::vector<const ptx::Variable*>& params);
  const ptx::Statement* find_list(std::string_view name) const;
  Result<void> pass_argument(const ptx::Operand& operand, const ptx::Variable& param,
                             uint32_t offset);
  Result<void> take_result(const ptx::Operand& operand, const ptx::Variable& result,
                           uint32_t offset);
  Result<bool> lower_runtime_call(const ptx::Instruction& in, const CallSite& site);
  void copy_in_frame(uint32_t to, uint32_t from, const ptx::Variable& v);
  const ptx::Variable* param_variable(std::string_view name) const;
  void enter_function();
  void leave_function();

  // lower_sync.cpp
  Result<void> lower_shfl(const ptx::Instruction& in);
  Result<void> lower_vote(const ptx::Instruction& in);
  Result<void> lower_match(const ptx::Instruction& in);
  Result<void> lower_redux(const ptx::Instruction& in);
  Result<void> lower_elect(const ptx::Instruction& in);
  Result<void> lower_activemask(const ptx::Instruction& in);
  Result<void> lower_bar(const ptx::Instruction& in);
  Result<void> lower_bar_warp_sync(const ptx::Instruction& in);
  Result<void> lower_fence(const ptx::Instruction& in);
  Result<void> lower_membar(const ptx::Instruction& in);
  void meet(Value mask, Value deposit, const ptx::Instruction& in, bool wide = false);

  // lower_async.cpp
  Result<void> lower_cp(const ptx::Instruction& in);
  Result<void> lower_cp_copy(const ptx::Instruction& in);

  // lower_matrix.cpp
  Result<void> lower_ldmatrix(const ptx::Instruction& in);
  Result<void> lower_movmatrix(const ptx::Instruction& in);

  // lower_wmma.cpp
  struct FragmentAddress;
  Result<void> lower_wmma(const ptx::Instruction& in);
  Result<void> lower_wmma_access(const ptx::Instruction& in);
  Result<void> lower_wmma_mma(const ptx::Instruction& in);
  Result<void> fragment_address(const ptx::Instruction& in, const ptx::Operand& operand,
                                uint32_t columns, uint32_t rows, uint32_t t_step, bool t_is_column,
                                FragmentAddress& a);
  Value fragment_line(uint32_t offset, FragmentAddress& a);
  Result<void> fragment_register(const ptx::Operand& operand, ptx::Type type, uint32_t elements,
                                 uint32_t row, uint32_t column, bool along_columns, bool load,
                                 FragmentAddress& a);
  Result<std::vector<Value>> fragment_values(const ptx::Operand& operand, ptx::Type type,
                                             bool destination);
  std::vector<Value> widened(const std::vector<Value>& pairs);

  // lower_special.cpp
  Result<void> lower_mov(const ptx::Instruction& in);
  Result<void> lower_alloca(const ptx::Instruction& in);
  Result<void> lower_stack(const ptx::Instruction& in);
  Result<void> lower_nanosleep(const ptx::Instruction& in);
  Result<void> lower_nothing(const ptx::Instruction& in);
  Result<void> lower_pure_operation(const ptx::Instruction& in);

  const ptx::Module& module_;
  const ModuleLayout& layout_;
  const ptx::Function& source_;
  VirtualFunction f_;
  std::vector<NameScope> scopes_;
  uint32_t next_scope_ = 0;
  std::map<std::pair<uint32_t, std::string_view>, uint32_t> labels_; // (scope, name) → label
  std::vector<uint32_t> scope_parent_;
  std::map<std::pair<uint32_t, std::string_view>, const ptx::Statement*>
      lists_;                                                       // targets, prototypes
  std::unordered_map<const ptx::Variable*, uint32_t> frame_offset_; // of .local, .param variables
  std::unordered_map<const ptx::Variable*, uint32_t> outgoing_offset_; // lie in the callee's frame
  std::unordered_map<uint64_t, uint32_t> constants_[2];                // narrow, wide
  std::map<std::tuple<Named, uint64_t, bool>, uint32_t> named_;
  const ptx::Instruction* current_ = nullptr;
  Value guard_;
  bool guard_negated_ = false;
  Value carry_;
  uint32_t epilogue_ = kNoIndex; // label of the only return of a device function
  bool open_ = false;            // a block is being filled
};

uint32_t meet_key(const ptx::Instruction& in); // of (operation, qualifiers)

} // namespace assay::ir
