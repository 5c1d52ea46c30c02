// Retry loops of mbarrier.test_wait and try_wait; see retries.hpp.
//
// From each wait the paths of a lane that is told "no" are followed, with what follows from that
// answer (compilers turn predicates into integers and back). All of them must come to waits for the
// same phase, by way of pure operations, clocks and nanosleep alone. The waits that reach one
// another so make up one loop. Its lanes that are told "yes" must meet at one operation where no
// register is live that some path has written differently.
#include "ir/retries.hpp"
#include "ir/special.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace assay::ir {
namespace {

using Known = std::map<uint32_t, uint64_t>; // registers with a known value; predicates: 0 or 1

class Retries {
public:
  explicit Retries(VirtualFunction& f) : f_(f), block_(f.ops.size(), kNoIndex) {
    for (uint32_t b = 0; b < f.blocks.size(); ++b)
      for (uint32_t i = f.blocks[b].first; i < f.blocks[b].end && !f.blocks[b].dropped; ++i)
        block_[i] = b;
  }

  void run() {
    for (uint32_t i = 0; i < f_.ops.size(); ++i)
      if (block_[i] != kNoIndex && f_.ops[i].code == OpCode::mbarrier_wait) loop_of(i);
    if (inside_.empty()) return;
    for (uint32_t i = 0; i < f_.ops.size(); ++i)
      if (block_[i] != kNoIndex && reads_clock(f_.ops[i]) && only_inside(i)) mark(i);
  }

private:
  static constexpr uint32_t kMostSteps = 4096; // of one search: loops that wait are short

  void mark(uint32_t i) { f_.ops[i].flags |= kRetried; }
  static bool reads_clock(const VirtualOp& op) {
    return op.code == OpCode::special && is_decided_by_schedule(Special(op.imm & 255));
  }

  // The waits that a lane may come to which is told "no" at `wait`, and those it may come to from
  // there.
  void loop_of(uint32_t wait) {
    members_ = {wait};
    written_.clear();
    visited_.clear();
    steps_ = 0;
    for (size_t k = 0; k < members_.size(); ++k) {
      seen_.clear();
      if (!refused(members_[k] + 1, {{f_.ops[members_[k]].d, 0}})) return;
    }
    const VirtualOp& first = f_.ops[wait];
    if (!steady(first.a) || !steady(first.b)) return;
    if (!meet_again()) return;
    for (uint32_t m : members_) mark(m);
    inside_.insert(visited_.begin(), visited_.end());
  }

  // Does the register hold one value in all rounds? Nobody writes it there, or it is the result of
  // one pure operation, whose operands are as steady.
  bool steady(uint32_t id, uint32_t depth = 0) const {
    constexpr uint32_t kDeepest = 8;
    if (!written_.count(id)) return true;
    if (depth > kDeepest) return false;
    const VirtualOp* only = nullptr;
    for (const VirtualOp& op : f_.ops) {
      bool writes = false;
      for_each_operand(f_, op, [](uint32_t) {}, [&](uint32_t r) { writes |= r == id; });
      if (writes && only) return false;
      if (writes) only = &op;
    }
    if (!only || !is_pure(only->code) || only->flags & kGuarded) return false;
    bool all = true;
    for_each_operand(f_, *only, [&](uint32_t r) { all &= steady(r, depth + 1); }, [](uint32_t) {});
    return all;
  }

  bool asks_the_same(const VirtualOp& a, const VirtualOp& b) const {
    return b.code == OpCode::mbarrier_wait && a.a == b.a && a.b == b.b && a.imm == b.imm &&
           (a.flags & kParity) == (b.flags & kParity) &&
           f_.mems[a.c].info.space == f_.mems[b.c].info.space &&
           f_.mems[a.c].info.semantics == f_.mems[b.c].info.semantics;
  }

  // Follows a lane from operation i on; false: it may do something else than to ask again.
  bool refused(uint32_t i, Known known) {
    for (;; ++i) {
      if (++steps_ > kMostSteps) return false;
      const VirtualOp& op = f_.ops[i];
      if (asks_the_same(f_.ops[members_[0]], op)) {
        if (std::find(members_.begin(), members_.end(), i) == members_.end()) members_.push_back(i);
        return true;
      }
      visited_.insert(i);
      if (is_terminator(op.code)) {
        std::vector<uint32_t> next = targets(i, known);
        if (next.empty()) return false;
        for (uint32_t b : next)
          if (seen_.insert({b, known}).second && !refused(f_.blocks[b].first, known)) return false;
        return true;
      }
      if (op.code == OpCode::check_written) continue; // whoever comes back has passed it before
      if (!quiet(op)) return false;
      step(op, known);
      written_.insert(op.d == kNoIndex ? kNoIndex : op.d);
    }
  }

  static bool quiet(const VirtualOp& op) {
    return is_pure(op.code) || op.code == OpCode::special || op.code == OpCode::nanosleep;
  }

  // The blocks where a terminator may lead; none: out of the loop for good.
  std::vector<uint32_t> targets(uint32_t i, const Known& known) const {
    const VirtualOp& op = f_.ops[i];
    const Block& block = f_.blocks[block_[i]];
    if (op.code == OpCode::jump) return block.successors;
    if (op.code != OpCode::branch || block.successors.size() != 2) return {};
    auto value = value_of(op.a, known);
    if (!value) return block.successors;
    bool taken = (*value != 0) != ((op.flags & kNegate) != 0);
    return {block.successors[taken ? 0 : 1]};
  }

  std::optional<uint64_t> value_of(uint32_t id, const Known& known) const {
    if (id == kNoIndex) return {};
    if (auto it = known.find(id); it != known.end()) return it->second;
    const VirtualRegister& r = f_.registers[id];
    if (r.constant && r.source == Constant::Source::value) return r.value;
    return {};
  }

  // What compilers make of a predicate before they branch on it.
  void step(const VirtualOp& op, Known& known) const {
    if (op.d == kNoIndex) return;
    auto a = value_of(op.a, known), b = value_of(op.b, known), c = value_of(op.c, known);
    std::optional<uint64_t> value;
    if (!(op.flags & kGuarded)) switch (op.code) {
      case OpCode::mov_b32: value = a; break;
      case OpCode::selp_b32:
        if (c) value = *c ? a : b;
        break;
      case OpCode::setp_eq_b32:
        if (a && b) value = uint32_t(*a) == uint32_t(*b);
        break;
      case OpCode::setp_ne_b32:
        if (a && b) value = uint32_t(*a) != uint32_t(*b);
        break;
      default: break;
      }
    known.erase(op.d);
    if (value) known[op.d] = *value;
  }

  // Do the lanes that are told "yes" come to one place that cannot tell how often they had asked?
  bool meet_again() const {
    std::vector<std::vector<uint32_t>> ways;
    for (uint32_t m : members_) ways.push_back(granted(m));
    for (uint32_t at : ways[0]) {
      std::set<uint32_t> uncertain = written_;
      bool common = true;
      for (size_t k = 0; k < ways.size() && common; ++k) {
        auto end = std::find(ways[k].begin(), ways[k].end(), at);
        common = end != ways[k].end();
        if (common) follow({ways[k].begin(), end}, members_[k], uncertain);
      }
      if (common && none_live(at, uncertain)) return true;
    }
    return false;
  }

  // What may differ behind these operations. With a single wait they are executed once in any case,
  // and its own answer is "yes".
  void follow(const std::vector<uint32_t>& way, uint32_t wait,
              std::set<uint32_t>& uncertain) const {
    bool single = members_.size() == 1;
    if (single)
      uncertain.erase(f_.ops[wait].d);
    else
      uncertain.insert(f_.ops[wait].d);
    for (uint32_t i : way) {
      const VirtualOp& op = f_.ops[i];
      bool follows = !single || op.flags & kGuarded;
      for_each_operand(
          f_, op, [&](uint32_t id) { follows |= uncertain.count(id) != 0; }, [](uint32_t) {});
      if (op.d == kNoIndex) continue;
      if (follows)
        uncertain.insert(op.d);
      else
        uncertain.erase(op.d);
    }
  }

  // The operations that a lane comes to for certain after "yes", before it does anything else.
  std::vector<uint32_t> granted(uint32_t wait) const {
    Known known = {{f_.ops[wait].d, 1}};
    std::vector<uint32_t> way;
    for (uint32_t i = wait + 1; way.size() < 64;) {
      way.push_back(i);
      const VirtualOp& op = f_.ops[i];
      if (is_terminator(op.code)) {
        std::vector<uint32_t> next = targets(i, known);
        if (next.size() != 1) break;
        i = f_.blocks[next[0]].first;
      } else if (is_pure(op.code)) {
        step(op, known);
        ++i;
      } else {
        break;
      }
    }
    return way;
  }

  bool none_live(uint32_t at, const std::set<uint32_t>& registers) const {
    for (uint32_t id : registers)
      if (id != kNoIndex && readers(at, id, [](uint32_t) { return true; })) return false;
    return true;
  }

  bool only_inside(uint32_t clock) const {
    return !readers(clock + 1, f_.ops[clock].d, [&](uint32_t i) { return !inside_.count(i); });
  }

  // Is there an operation that `counts` and may read what the register holds before operation
  // `from`?
  template <class Counts> bool readers(uint32_t from, uint32_t id, Counts counts) const {
    std::vector<bool> entered(f_.blocks.size());
    std::vector<uint32_t> work = {from};
    while (!work.empty()) {
      uint32_t i = work.back(), b = block_[i];
      work.pop_back();
      bool killed = false;
      for (; i < f_.blocks[b].end && !killed; ++i) {
        const VirtualOp& op = f_.ops[i];
        bool reads = false;
        for_each_operand(
            f_, op, [&](uint32_t r) { reads |= r == id; },
            [&](uint32_t r) { killed |= r == id && !(op.flags & kGuarded); });
        if (reads && counts(i)) return true;
      }
      if (killed) continue;
      for (uint32_t next : f_.blocks[b].successors)
        if (!entered[next]) {
          entered[next] = true;
          work.push_back(f_.blocks[next].first);
        }
    }
    return false;
  }

  VirtualFunction& f_;
  std::vector<uint32_t> block_;          // of each operation
  std::set<uint32_t> inside_;            // operations of loops that were found
  std::vector<uint32_t> members_;        // waits of the loop that is looked at
  std::set<uint32_t> written_, visited_; // by lanes that were told "no"
  std::set<std::pair<uint32_t, Known>> seen_;
  uint32_t steps_ = 0;
};

} // namespace

void find_retries(VirtualFunction& f) { Retries(f).run(); }

} // namespace assay::ir
