// Synchronisation faults, planted one at a time into a parsed module. A kernel that was sound and
// has one such fault is a mutant: a detector is worth what it says about mutants.
//
// A fault is a list of edits to one function's statements, so that deleting, replacing, inserting
// and moving are one thing. Each kind of fault is one function over a site; docs/recipes/fault.md
// says how to add one. The meaning of what is edited follows the PTX ISA 9.0 manual, section 9.7.13
// (parallel synchronisation and communication) and chapter 8 (memory consistency model).
#pragma once

#include "base/result.hpp"
#include "ptx/module.hpp"

#include <set>
#include <string>
#include <vector>

namespace assay::mutate {

struct Edit { // statements [begin, end) of the function's body become `with`
  uint32_t begin = 0, end = 0;
  std::vector<ptx::Statement> with;
};

struct Fault {
  std::string kind;          // a row of fault_kinds()
  uint32_t function = 0;     // index into Module::functions
  uint32_t statement = 0;    // where it is planted: index into the function's body
  std::string before, after; // as PTX text: "bar.sync 0", "deleted"
  ptx::Position position;    // of the statement in the PTX text
  std::vector<Edit> edits;   // ascending, without overlap
};

struct Site { // an instruction in which a kind of fault may find something to spoil
  const ptx::Module& module;
  uint32_t function = 0, statement = 0;
  const std::vector<ptx::Statement>& body() const { return module.functions[function].body; }
  const ptx::Instruction& instruction() const { return body()[statement].instruction; }
};

using Faults = std::vector<Fault>;

struct FaultKind {
  const char* name;                    // "barrier-deleted"
  const char* title;                   // for tables and help: "a barrier is deleted"
  void (*plant)(const Site&, Faults&); // adds one fault for each way to plant it here
};

// The closed list, in the order of tables. One kind a row (kinds.cpp).
const std::vector<FaultKind>& fault_kinds();

// Every fault of these kinds (empty: all) in these functions (empty: all), in the order of the
// text.
Faults faults(const ptx::Module& module, const std::set<std::string>& functions,
              const std::set<std::string>& kinds);

// The module with the fault in it. It is printed and parsed again, so that what comes back is legal
// PTX; an error says why it is not. Statements keep the positions of the sound text, and inserted
// ones have that of the place, so that findings in the mutant speak of the lines that a user knows.
Result<ptx::Module> plant(const ptx::Module& module, const Fault& fault);

// Of `all` at most `limit` (0: no limit), the kinds served in turn, chosen by the seed; in order.
Faults choose(const Faults& all, size_t limit, uint64_t seed);

} // namespace assay::mutate
