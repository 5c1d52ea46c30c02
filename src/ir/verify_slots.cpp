// Checks a slot assignment without believing the liveness that made it: follows, over all paths,
// which register's value each slot holds, and looks at every reading.
#include "ir/slots.hpp"

#include <fmt/format.h>

namespace assay::ir {
namespace {

constexpr uint32_t kUnwritten = 0xfffffffe; // nobody wrote the slot on this path: any value will do
constexpr uint32_t kMixed = 0xffffffff;     // different registers on different paths

class SlotVerifier {
public:
  SlotVerifier(const VirtualFunction& f, const SlotAssignment& a) : f_(f), a_(a) {}

  Result<void> run() {
    check_widths();
    size_t n = f_.blocks.size();
    in_.assign(n, {});
    reached_.assign(n, false);
    in_[0].assign(a_.slots, kUnwritten);
    reached_[0] = true;
    for (uint32_t id = 0; id < f_.registers.size(); ++id)
      if (f_.registers[id].constant && a_.slot[id] != kNoSlot) put(in_[0], id);
    std::vector<uint32_t> work = {0};
    while (!work.empty()) {
      uint32_t b = work.back();
      work.pop_back();
      std::vector<uint32_t> state = in_[b];
      for (uint32_t i = f_.blocks[b].first; i < f_.blocks[b].end; ++i) step(i, state, false);
      for (uint32_t s : f_.blocks[b].successors)
        if (merge(s, state)) work.push_back(s);
    }
    for (uint32_t b = 0; b < n; ++b) {
      if (f_.blocks[b].dropped) continue;
      std::vector<uint32_t> state = in_[b];
      for (uint32_t i = f_.blocks[b].first; i < f_.blocks[b].end; ++i) step(i, state, true);
    }
    if (problem_.empty()) return {};
    return Error{ErrorCode::internal, problem_, {}, {}};
  }

private:
  // Lanes that run apart own columns, which agree only between registers of one width.
  void check_widths() {
    std::vector<uint32_t> width(a_.slots);
    for (uint32_t id = 0; id < f_.registers.size(); ++id)
      for (uint32_t k = 0; a_.slot[id] != kNoSlot && k < f_.registers[id].slots(); ++k) {
        uint32_t& w = width[a_.slot[id] + k];
        if (w && w != f_.registers[id].slots())
          problem_ = fmt::format("slot {} serves two widths", a_.slot[id] + k);
        w = f_.registers[id].slots();
      }
  }

  void put(std::vector<uint32_t>& state, uint32_t id) const {
    for (uint32_t k = 0; k < f_.registers[id].slots(); ++k) state[a_.slot[id] + k] = id;
  }

  void step(uint32_t i, std::vector<uint32_t>& state, bool look) {
    const VirtualOp& op = f_.ops[i];
    auto holds = [&](uint32_t id, uint32_t k) {
      uint32_t held = state[a_.slot[id] + k];
      return held == id || held == kUnwritten;
    };
    if (look)
      for_each_operand(
          f_, op,
          [&](uint32_t id) {
            for (uint32_t k = 0; k < f_.registers[id].slots(); ++k)
              if (a_.slot[id] == kNoSlot || !holds(id, k))
                problem_ = fmt::format("op {} ({}) reads register {} where slot {} holds {}", i,
                                       name(op.code), id, a_.slot[id] + k,
                                       int32_t(state[a_.slot[id] + k]));
          },
          [](uint32_t) {});
    // A guarded write leaves the old value in the other lanes: it must have been the register's.
    for_each_operand(
        f_, op, [](uint32_t) {},
        [&](uint32_t id) {
          bool partial = (op.flags & kGuarded) && !f_.registers[id].temp;
          for (uint32_t k = 0; k < f_.registers[id].slots(); ++k)
            state[a_.slot[id] + k] = partial && !holds(id, k) ? kMixed : id;
        });
  }

  // Whether block `b` learns something. A kernel may have no slots at all: an empty state is one.
  bool merge(uint32_t b, const std::vector<uint32_t>& from) {
    std::vector<uint32_t>& into = in_[b];
    if (!reached_[b]) {
      reached_[b] = true;
      into = from;
      return true;
    }
    bool changed = false;
    for (size_t s = 0; s < into.size(); ++s) {
      uint32_t next = into[s];
      if (into[s] == kUnwritten)
        next = from[s];
      else if (from[s] != kUnwritten && from[s] != into[s])
        next = kMixed;
      changed |= next != into[s];
      into[s] = next;
    }
    return changed;
  }

  const VirtualFunction& f_;
  const SlotAssignment& a_;
  std::vector<std::vector<uint32_t>> in_;
  std::vector<bool> reached_;
  std::string problem_;
};

} // namespace

Result<void> verify_slots(const VirtualFunction& f, const SlotAssignment& assignment) {
  return SlotVerifier(f, assignment).run();
}

} // namespace assay::ir
