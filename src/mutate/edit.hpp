// What the kinds of faults share: looking at an instruction, and making edits of it.
#pragma once

#include "mutate/fault.hpp"

#include <initializer_list>
#include <string_view>

namespace assay::mutate {

using ptx::Instruction;
using ptx::Operand;
using ptx::Statement;

bool has(const Instruction& i, std::string_view modifier);
// The first of these modifiers that the instruction has; empty: none.
std::string first_of(const Instruction& i, std::initializer_list<std::string_view> modifiers);
// Copies with one modifier exchanged; an empty `to` removes it.
Instruction exchanged(Instruction i, std::string_view from, std::string_view to);
// Whether the module's version and target have this spelling.
bool legal(const ptx::Module& module, const Instruction& i);
// The type among the modifiers: the last one.
ptx::Type type_of(const Instruction& i);
// How wide a register of the function that holds the site is; 0: it is not declared there.
uint32_t register_bits(const Site& site, const std::string& name);

// A load, store, atomic or copy that other threads can see.
bool accesses_memory(const Instruction& i);
// A bar or barrier of the CTA; bar.warp.sync and barrier.cluster are none.
bool is_cta_barrier(const Instruction& i);
bool is_warp_barrier(const Instruction& i);
// Statements that leave a straight line of code, over which nothing is moved.
bool ends_line(const Statement& s);

Operand register_operand(const std::string& name);
Operand integer_operand(int64_t value);
// An instruction at the same place and under the same guard as `like`.
Instruction make(const Instruction& like, std::string opcode, std::vector<std::string> modifiers,
                 std::vector<Operand> operands);
Statement statement(Instruction i);

// Instructions in a scope of their own with scratch registers, each {name, type}.
struct Scratch {
  const char* name;
  ptx::Type type;
};
std::vector<Statement> block(std::initializer_list<Scratch> scratch,
                             std::vector<Instruction> instructions);

// The faults themselves; the place is the site.
void add_deleted(const Site& site, const char* kind, Faults& out);
void add_replaced(const Site& site, const char* kind, Instruction with, Faults& out);
void add_replaced(const Site& site, const char* kind, std::vector<Statement> with,
                  std::string after, Faults& out);
// The statement stands before statement `to` instead of where it is.
void add_moved(const Site& site, const char* kind, uint32_t to, std::string after, Faults& out);
// It stands behind the next access of its straight line, if there is one.
void add_moved_behind_access(const Site& site, const char* kind, Faults& out);

} // namespace assay::mutate
