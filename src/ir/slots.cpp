// Live ranges by one backward pass over each block, then linear scan in the order of their starts.
// Linear scan with holes follows Traub, Holloway, Smith, "Quality and speed in linear-scan register
// allocation", PLDI 1998, without spilling. Positions: 2·op for reading, 2·op + 1 for writing.
#include "ir/slots.hpp"
#include "base/check.hpp"

#include <algorithm>

namespace assay::ir {
namespace {

struct Range {
  uint32_t start = 0, end = 0; // [start, end)
  uint32_t next = kNoIndex;    // of the same register, later
};

// Does the definition replace the old value in every lane that executes the operation?
bool kills(const VirtualFunction& f, const VirtualOp& op, uint32_t id) {
  return !(op.flags & kGuarded) || f.registers[id].temp;
}

class Liveness {
public:
  explicit Liveness(const VirtualFunction& f, bool with_ranges = true)
      : f_(f), first(f.registers.size(), kNoIndex) {
    find_crossing();
    solve();
    if (!with_ranges) return;
    end_.assign(f.registers.size(), 0);
    for (uint32_t b = uint32_t(f.blocks.size()); b-- > 0;)
      if (!f.blocks[b].dropped) ranges_of(b);
  }

  // Registers that some path reads before it writes them.
  std::vector<uint32_t> undefined() const {
    std::vector<uint32_t> out;
    for (size_t w = 0; w < words_; ++w)
      for (uint64_t bits = in_[w]; bits; bits &= bits - 1)
        out.push_back(crossing_[w * 64 + size_t(__builtin_ctzll(bits))]);
    return out;
  }

private:
  const VirtualFunction& f_;

public:
  std::vector<Range> ranges;
  std::vector<uint32_t> first; // per register: index into ranges

private:
  using Bits = std::vector<uint64_t>;

  // Registers that some block reads before it writes them: only those live across blocks.
  void find_crossing() {
    dense_.assign(f_.registers.size(), kNoIndex);
    std::vector<uint32_t> killed(f_.registers.size(), kNoIndex);
    std::vector<std::vector<uint32_t>> exposed(f_.blocks.size());
    for (uint32_t b = 0; b < f_.blocks.size(); ++b) {
      if (f_.blocks[b].dropped) continue;
      for (uint32_t i = f_.blocks[b].first; i < f_.blocks[b].end; ++i) {
        const VirtualOp& op = f_.ops[i];
        for_each_operand(
            f_, op,
            [&](uint32_t id) {
              if (killed[id] == b || f_.registers[id].constant) return;
              if (dense_[id] == kNoIndex) {
                dense_[id] = uint32_t(crossing_.size());
                crossing_.push_back(id);
              }
              exposed[b].push_back(dense_[id]);
            },
            [&](uint32_t id) {
              if (kills(f_, op, id)) killed[id] = b;
            });
      }
    }
    words_ = (crossing_.size() + 63) / 64;
    in_.assign(words_ * f_.blocks.size(), 0);
    for (uint32_t b = 0; b < f_.blocks.size(); ++b)
      for (uint32_t n : exposed[b]) in_[b * words_ + n / 64] |= uint64_t(1) << (n % 64);
  }

  void solve() {
    Bits kill(words_ * f_.blocks.size());
    std::vector<std::vector<uint32_t>> preds(f_.blocks.size());
    std::vector<uint32_t> work;
    for (uint32_t b = 0; b < f_.blocks.size(); ++b) {
      if (f_.blocks[b].dropped) continue;
      work.push_back(b);
      for (uint32_t s : f_.blocks[b].successors) preds[s].push_back(b);
      for (uint32_t i = f_.blocks[b].first; i < f_.blocks[b].end; ++i)
        for_each_operand(
            f_, f_.ops[i], [](uint32_t) {},
            [&](uint32_t id) {
              if (uint32_t n = dense_[id]; n != kNoIndex && kills(f_, f_.ops[i], id))
                kill[b * words_ + n / 64] |= uint64_t(1) << (n % 64);
            });
    }
    std::vector<bool> queued(f_.blocks.size(), true);
    while (!work.empty()) {
      uint32_t b = work.back();
      work.pop_back();
      queued[b] = false;
      bool changed = false;
      for (size_t w = 0; w < words_; ++w) {
        uint64_t out = live_out(b, w);
        uint64_t in = in_[b * words_ + w] | (out & ~kill[b * words_ + w]);
        changed |= in != in_[b * words_ + w];
        in_[b * words_ + w] = in;
      }
      if (!changed) continue;
      for (uint32_t p : preds[b])
        if (!queued[p]) {
          queued[p] = true;
          work.push_back(p);
        }
    }
  }

  uint64_t live_out(uint32_t b, size_t word) const {
    uint64_t out = 0;
    for (uint32_t s : f_.blocks[b].successors) out |= in_[s * words_ + word];
    return out;
  }

  void add(uint32_t id, uint32_t start, uint32_t end) {
    if (first[id] != kNoIndex && ranges[first[id]].start <= end) {
      Range& r = ranges[first[id]];
      r.start = std::min(r.start, start);
      r.end = std::max(r.end, end);
      return;
    }
    ranges.push_back({start, end, first[id]});
    first[id] = uint32_t(ranges.size() - 1);
  }

  void ranges_of(uint32_t b) {
    const Block& block = f_.blocks[b];
    live_.clear();
    auto revive = [&](uint32_t id, uint32_t end) {
      if (!end_[id]) {
        end_[id] = end;
        live_.push_back(id);
      }
    };
    for (size_t w = 0; w < words_; ++w)
      for (uint64_t bits = live_out(b, w); bits; bits &= bits - 1)
        revive(crossing_[w * 64 + size_t(__builtin_ctzll(bits))], 2 * block.end);
    for (uint32_t i = block.end; i-- > block.first;) {
      const VirtualOp& op = f_.ops[i];
      // A destination starts before the sources end unless the operation is pure.
      uint32_t start = is_pure(op.code) ? 2 * i + 1 : 2 * i;
      for_each_operand(
          f_, op, [](uint32_t) {},
          [&](uint32_t id) {
            if (!end_[id])
              add(id, start, 2 * i + 2);
            else if (kills(f_, op, id)) {
              add(id, start, end_[id]);
              end_[id] = 0;
            }
          });
      for_each_operand(
          f_, op,
          [&](uint32_t id) {
            if (!f_.registers[id].constant) revive(id, 2 * i + 1);
          },
          [](uint32_t) {});
    }
    for (uint32_t id : live_)
      if (end_[id]) {
        add(id, 2 * block.first, end_[id]);
        end_[id] = 0;
      }
  }

  std::vector<uint32_t> dense_, crossing_;
  size_t words_ = 0;
  Bits in_;
  std::vector<uint32_t> end_, live_;
};

// The occupied ranges of one slot, in order; those before `cursor` have ended.
struct Occupied {
  std::vector<std::pair<uint32_t, uint32_t>> ranges;
  size_t cursor = 0;

  bool meets(const std::vector<Range>& all, uint32_t r, uint32_t from) {
    while (cursor < ranges.size() && ranges[cursor].second <= from) ++cursor;
    for (size_t i = cursor; i < ranges.size() && r != kNoIndex;) {
      if (ranges[i].second <= all[r].start)
        ++i;
      else if (all[r].end <= ranges[i].first)
        r = all[r].next;
      else
        return true;
    }
    return false;
  }
  void take(const std::vector<Range>& all, uint32_t r) {
    for (; r != kNoIndex; r = all[r].next) {
      std::pair<uint32_t, uint32_t> range{all[r].start, all[r].end};
      if (ranges.empty() || ranges.back().first <= range.first)
        ranges.push_back(range);
      else
        ranges.insert(std::upper_bound(ranges.begin() + ptrdiff_t(cursor), ranges.end(), range),
                      range);
    }
  }
};

void place_constants(const VirtualFunction& f, SlotAssignment& out) {
  std::vector<bool> used(f.registers.size());
  for (const Block& b : f.blocks)
    for (uint32_t i = b.first; i < b.end && !b.dropped; ++i)
      for_each_operand(
          f, f.ops[i], [&](uint32_t id) { used[id] = f.registers[id].constant; }, [](uint32_t) {});
  for (uint32_t width : {2u, 1u})
    for (uint32_t id = 0; id < f.registers.size(); ++id)
      if (used[id] && f.registers[id].slots() == width) {
        out.slot[id] = Slot(std::min<uint32_t>(out.slots, kNoSlot));
        out.constants.push_back(
            {out.slot[id], width == 2, f.registers[id].value, f.registers[id].source});
        out.slots += width;
      }
}

uint32_t worst_pressure(const VirtualFunction& f, const Liveness& live) {
  std::vector<int32_t> change(2 * f.ops.size() + 3);
  for (uint32_t id = 0; id < f.registers.size(); ++id)
    if (f.registers[id].bits > 1)
      for (uint32_t r = live.first[id]; r != kNoIndex; r = live.ranges[r].next) {
        change[live.ranges[r].start] += int32_t(f.registers[id].slots());
        change[live.ranges[r].end] -= int32_t(f.registers[id].slots());
      }
  int32_t now = 0, worst = 0;
  for (int32_t c : change) worst = std::max(worst, now += c);
  return uint32_t(worst);
}

} // namespace

std::vector<uint32_t> maybe_unwritten(const VirtualFunction& f) {
  return Liveness(f, false).undefined();
}

Result<SlotAssignment> assign_slots(const VirtualFunction& f) {
  SlotAssignment out;
  out.slot.assign(f.registers.size(), kNoSlot);
  place_constants(f, out);
  Liveness live(f);
  std::vector<uint32_t> order;
  for (uint32_t id = 0; id < f.registers.size(); ++id)
    if (live.first[id] != kNoIndex) order.push_back(id);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    uint32_t x = live.ranges[live.first[a]].start, y = live.ranges[live.first[b]].start;
    return x != y ? x < y : a < b;
  });
  std::vector<uint32_t> unit(f.registers.size()); // within the pool of the register's width
  std::vector<Occupied> pools[3];                 // 32, 64 and 128 bits
  auto pool_of = [&](uint32_t id) { return f.registers[id].slots() / 2; };
  for (uint32_t id : order) {
    uint32_t r = live.first[id], from = live.ranges[r].start;
    std::vector<Occupied>& pool = pools[pool_of(id)];
    uint32_t at = 0;
    while (at < pool.size() && pool[at].meets(live.ranges, r, from)) ++at;
    if (at == pool.size()) pool.emplace_back();
    pool[at].take(live.ranges, r);
    unit[id] = at;
  }
  uint32_t base[3];
  for (uint32_t pool : {0, 1, 2}) {
    uint32_t width = 1u << pool;
    base[pool] = (out.slots + width - 1) / width * width;
    out.slots = base[pool] + width * uint32_t(pools[pool].size());
  }
  for (uint32_t id : order)
    out.slot[id] =
        Slot(std::min<uint32_t>(base[pool_of(id)] + f.registers[id].slots() * unit[id], kNoSlot));
  if (out.slots >= kNoSlot) return unsupported("function with more than 65534 register slots");
  // All of them are alive at the entry, so that no two share a slot.
  for (uint32_t id : live.undefined())
    out.undefined.insert(out.undefined.end(), f.registers[id].slots(), out.slot[id]);
  std::sort(out.undefined.begin(), out.undefined.end());
  out.live_registers = worst_pressure(f, live);
  return out;
}

} // namespace assay::ir
