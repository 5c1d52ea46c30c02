// The syntax tree of one PTX module, as the parser leaves it and the printer reads it.
// Names, spellings and order are those of the source; nothing is resolved but symbols' kinds.
// Source: PTX ISA 9.0, chapters 4 (syntax), 5 (state spaces and types), 6 (operands), 11
// (directives).
#pragma once

#include "base/result.hpp"
#include "ptx/types.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::ptx {

struct IsaRow; // one row of isa.def: ptx/isa.hpp

struct Position { // in the PTX text
  uint32_t line = 0, column = 0;
};

struct Operand {
  enum class Kind : uint8_t {
    reg,     // %r1, also %p1; `negated` for !%p1 (predicates) and -%r1 where PTX has it
    special, // %tid.x, %laneid, … : name holds the whole spelling
    integer, // bits = two's complement value; is_unsigned when it carries the suffix U
    float32, // 0f…: bits = the 32-bit pattern
    float64, // 0d… or a decimal literal: bits = the 64-bit pattern
    symbol,  // a variable, function or parameter by name, with optional `offset`
    label,   // a branch target
    address, // [base + offset]: base in elements[0] (reg, symbol or integer), offset in `offset`;
             // tensor operands [map, {c0, c1}] and [bar], … keep their parts in elements
    vector,  // {a, b, c, d}
    sink,    // _
    list,    // parenthesised lists of call: (a, b)
    pair     // d|p of setp, shfl, match, vote: elements[0] | elements[1]
  };
  Kind kind = Kind::reg;
  bool negated = false;
  bool is_unsigned = false;
  bool writes_offset = false; // the source has an offset, printed even when 0 (ptxas -g minds)
  uint64_t bits = 0;
  int64_t offset = 0;
  std::string name;     // reg, special, symbol, label
  std::string selector; // ".x" of a vector register or ".b0" .. ".h1" of video operands
  std::vector<Operand> elements;
  Position position;
};

struct Instruction {
  Position position;
  std::string guard; // predicate register name of @p, empty without one
  bool guard_negated = false;
  std::string opcode;                 // "ld", "mma", "setp"
  std::vector<std::string> modifiers; // ".global", ".v4", ".f32", … each with its dot, in order
  std::vector<Operand> operands;
  std::vector<Operand> extra;  // trailing ", cache-policy" and the like stay in operands; call
                               // targets' prototype/table symbol goes here
  const IsaRow* row = nullptr; // the matched form of isa.def
  uint32_t loc = 0;            // index into Module::locations, 0 means none
  bool braces = false;
};

// One source place of .loc, with the chain of inlining.
struct Location {
  uint32_t file = 0, line = 0, column = 0;
  std::string function;       // of function_name, resolved from .debug_str when possible
  std::string function_label; // of function_name as written: "$L__info_string0"
  uint32_t inlined_at = 0;    // index into Module::locations; 0: not inlined
};

struct Variable { // .global .const .shared .local .param .reg declarations
  Position position;
  Space space = Space::none;
  Type type = Type::none;
  uint32_t vector = 1; // .v2 .v4 .v8
  uint32_t align = 0;  // 0: natural
  std::string name;
  uint32_t register_range = 0; // .reg .b32 %r<10>: 10; else 0
  std::vector<uint64_t> dims;  // array dimensions; 0 for []
  bool is_array = false;
  bool ptr = false;      // .param .u64 .ptr …
  std::string ptr_space; // ".global" after .ptr
  uint32_t ptr_align = 0;
  std::string linkage;    // ".visible", ".extern", ".weak", ".common", ""
  std::string attributes; // verbatim text of .attribute(…)
  struct Init {           // one scalar of an initialiser, flattened in order
    bool is_symbol = false;
    bool generic = false; // generic(symbol)
    std::string symbol;
    int64_t addend = 0;
    uint64_t bits = 0; // for scalars, already in the variable's type
    uint64_t mask = 0; // 0xFF00(…) byte selectors, 0 without
  };
  std::vector<Init> init;
  bool has_init = false;
  std::string init_text; // verbatim, of .texref, .samplerref and .surfref variables
  // Total bytes, at most UINT64_MAX; 0 for extern arrays of unknown size.
  uint64_t size_bytes() const;
};

struct Statement {
  enum class Kind : uint8_t {
    instruction,
    label,
    variable,
    block_begin,
    block_end,
    pragma,
    branch_targets,
    call_targets,
    call_prototype
  };
  Kind kind = Kind::instruction;
  Position position;
  Instruction instruction;               // instruction
  std::string name;                      // label; or the name of targets/prototype; pragma text
  Variable variable;                     // variable
  std::vector<std::string> names;        // branch_targets, call_targets: the list
  std::string text;                      // call_prototype: verbatim
  std::vector<Variable> returns, params; // call_prototype, parsed
};

struct Function {
  Position position;
  std::string name;
  std::string linkage; // ".visible", ".weak", ".extern", ""
  bool is_entry = false;
  bool has_body = false;
  bool noreturn = false;
  std::vector<Variable> returns, params;
  std::string attributes;               // verbatim text of .attribute(…)
  std::vector<std::string> performance; // ".maxntid 256, 1, 1", ".reqnctapercluster …", verbatim
  std::vector<Statement> body;
};

struct Module {
  std::string file;    // name for diagnostics
  std::string version; // "8.8"
  uint32_t version_major = 0, version_minor = 0;
  std::vector<std::string> target; // "sm_90a", "debug", …
  uint32_t address_size = 64;
  std::vector<std::string> files;  // .file table: index → name
  std::vector<Location> locations; // [0] is unused
  struct Item {                    // order of module-scope things, for the printer
    enum class Kind : uint8_t { variable, function, raw } kind;
    uint32_t index;
  };
  std::vector<Item> items;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<std::pair<std::string, std::string>> aliases; // .alias name, target (also in raw)
  std::vector<std::string> raw; // .section … and other directives kept verbatim
  const Function* find_function(const std::string& name) const;
};

// Parses a whole module. On failure the error has file, line, column and, for an unknown
// instruction or modifier, the nearest known form in its notes. With `keep_going` an instruction
// that isa.def does not know stays in its function with row == nullptr and is reported only when
// that function is lowered.
struct ParseOptions {
  bool keep_going = true;
};
Result<Module> parse(const std::string& text, const std::string& file, ParseOptions options = {});

// The module as PTX text again; parse(print(m)) equals m but for positions.
std::string print(const Module& module);
std::string print(const Instruction& instruction);

} // namespace assay::ptx
