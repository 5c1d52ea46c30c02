// Addresses that a lane computes once: see lane_patterns.hpp.
#include "ir/definitions.hpp"
#include "ir/lane_patterns.hpp"

#include <algorithm>

namespace assay::ir {
namespace {

class FixedAddresses {
public:
  explicit FixedAddresses(VirtualFunction& f)
      : f_(f), definitions_(f), repeats_(f.blocks.size(), Answer::unknown) {}

  void run() {
    std::vector<std::pair<uint32_t, std::vector<uint32_t>>> uses; // register, its accesses
    std::vector<uint32_t> index(f_.registers.size(), kNoIndex);
    for (const Block& b : f_.blocks)
      for (uint32_t i = b.first; i < b.end && !b.dropped; ++i) {
        const VirtualOp& op = f_.ops[i];
        if ((op.code != OpCode::ld && op.code != OpCode::st) || op.a == kNoIndex) continue;
        if (!fixed_before(op.a, i)) continue;
        if (index[op.a] == kNoIndex) {
          index[op.a] = uint32_t(uses.size());
          uses.push_back({op.a, {}});
        }
        uses[index[op.a]].second.push_back(i);
      }
    std::stable_sort(uses.begin(), uses.end(), [](const auto& x, const auto& y) {
      return x.second.size() > y.second.size();
    });
    for (size_t k = 0; k < uses.size() && k < kFixedAddresses; ++k)
      for (uint32_t i : uses[k].second) f_.mems[f_.ops[i].c].info.fixed = uint8_t(k + 1);
  }

private:
  enum class Answer : uint8_t { unknown, yes, no };

  bool fixed_before(uint32_t id, uint32_t use) {
    if (f_.registers[id].constant) return true;
    if (!definitions_.defined_once_before(id, use)) return false;
    uint32_t def = definitions_.single(id);
    return !(f_.ops[def].flags & kGuarded) && !repeats(definitions_.block_of(def));
  }

  // Can the block be left and entered again?
  bool repeats(uint32_t block) {
    Answer& answer = repeats_[block];
    if (answer == Answer::unknown) {
      std::vector<bool> seen(f_.blocks.size());
      std::vector<uint32_t> work = {block};
      while (!work.empty() && !seen[block]) {
        uint32_t b = work.back();
        work.pop_back();
        for (uint32_t next : f_.blocks[b].successors)
          if (!seen[next]) {
            seen[next] = true;
            work.push_back(next);
          }
      }
      answer = seen[block] ? Answer::yes : Answer::no;
    }
    return answer == Answer::yes;
  }

  VirtualFunction& f_;
  const Definitions definitions_;
  std::vector<Answer> repeats_;
};

} // namespace

void find_fixed_addresses(VirtualFunction& f) {
  if (f.is_kernel) FixedAddresses(f).run();
}

} // namespace assay::ir
