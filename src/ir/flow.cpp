// Reconvergence points from post-dominators; see flow.hpp.
#include "ir/flow.hpp"
#include "base/check.hpp"

#include <algorithm>

namespace assay::ir {
namespace {

using Blocks = std::vector<uint32_t>;

std::vector<Blocks> predecessors(const VirtualFunction& f) {
  std::vector<Blocks> preds(f.blocks.size());
  for (uint32_t b = 0; b < f.blocks.size(); ++b)
    if (!f.blocks[b].dropped)
      for (uint32_t s : f.blocks[b].successors) preds[s].push_back(b);
  return preds;
}

// Blocks from which one of `to` can be reached within `region`.
std::vector<bool> reaching(const std::vector<Blocks>& preds, const std::vector<bool>& region,
                           const Blocks& to) {
  std::vector<bool> seen(preds.size());
  Blocks work;
  auto add = [&](uint32_t b) {
    if (region[b] && !seen[b]) {
      seen[b] = true;
      work.push_back(b);
    }
  };
  for (uint32_t b : to) add(b);
  while (!work.empty()) {
    uint32_t b = work.back();
    work.pop_back();
    for (uint32_t p : preds[b]) add(p);
  }
  return seen;
}

void drop_unreachable(VirtualFunction& f) {
  for (Block& b : f.blocks) b.dropped = true;
  Blocks work = {0};
  f.blocks[0].dropped = false;
  while (!work.empty()) {
    uint32_t b = work.back();
    work.pop_back();
    for (uint32_t s : f.blocks[b].successors)
      if (f.blocks[s].dropped) {
        f.blocks[s].dropped = false;
        work.push_back(s);
      }
  }
}

const VirtualOp& terminator(const VirtualFunction& f, uint32_t b) {
  return f.ops[f.blocks[b].end - 1];
}

bool leaves(OpCode code) { return code == OpCode::ret || code == OpCode::exit; }

// A block that does nothing but leave, possibly by way of a jump.
bool only_leaves(const VirtualFunction& f, uint32_t b) {
  for (unsigned steps = 0; steps < 4; ++steps) {
    if (f.blocks[b].end - f.blocks[b].first != 1) return false;
    const VirtualOp& last = terminator(f, b);
    if (last.code != OpCode::jump) return leaves(last.code);
    b = uint32_t(last.imm);
  }
  return false;
}

class Reconvergence {
public:
  explicit Reconvergence(VirtualFunction& f) : f_(f), preds_(predecessors(f)) {}

  void run() {
    std::vector<bool> all(f_.blocks.size());
    Blocks leaving, trapping;
    for (uint32_t b = 0; b < f_.blocks.size(); ++b) {
      all[b] = !f_.blocks[b].dropped;
      if (all[b] && leaves(terminator(f_, b).code)) leaving.push_back(b);
      if (all[b] && terminator(f_, b).code == OpCode::trap) trapping.push_back(b);
    }
    std::vector<bool> living = reaching(preds_, all, leaving);
    assign(living, leaving);
    without_return(all, living, trapping);
    if (f_.is_kernel) without_early_exits(living);
  }

private:
  // Branches of the region that have no reconvergence point yet.
  void assign(const std::vector<bool>& region, const Blocks& exits) {
    std::vector<uint32_t> ipdom = post_dominators(f_, region, exits);
    for (uint32_t b = 0; b < f_.blocks.size(); ++b) {
      Block& block = f_.blocks[b];
      if (!region[b] || block.successors.size() < 2 || block.reconverge != kNoIndex) continue;
      uint32_t first = kNoIndex;
      bool several = false;
      for (uint32_t s : block.successors)
        if (region[s]) {
          several |= first != kNoIndex && s != first;
          first = s;
        }
      uint32_t p = ipdom[b];
      if (several && p != kNoIndex && !(f_.is_kernel && only_leaves(f_, p))) block.reconverge = p;
    }
  }

  // Blocks that never come back: traps and endless loops. Each endless loop gets its last block as
  // the end that post-dominance needs.
  void without_return(const std::vector<bool>& all, const std::vector<bool>& living, Blocks exits) {
    std::vector<bool> region(all.size());
    for (size_t b = 0; b < all.size(); ++b) region[b] = all[b] && !living[b];
    for (;;) {
      std::vector<bool> seen = reaching(preds_, region, exits);
      uint32_t last = kNoIndex;
      for (uint32_t b = 0; b < region.size(); ++b)
        if (region[b] && !seen[b]) last = b;
      if (last == kNoIndex) break;
      exits.push_back(last);
    }
    assign(region, exits);
  }

  // Once more without the blocks that only leave. Of the blocks that then end paths, the one that
  // most blocks reach counts as the end of the kernel; the others are early exits.
  void without_early_exits(const std::vector<bool>& living) {
    std::vector<bool> region = living;
    for (uint32_t b = 0; b < region.size(); ++b) region[b] = living[b] && !only_leaves(f_, b);
    std::vector<bool> main;
    uint32_t end = kNoIndex;
    size_t most = 0;
    for (uint32_t b = 0; b < region.size(); ++b) {
      if (!region[b]) continue;
      const Blocks& next = f_.blocks[b].successors;
      if (std::any_of(next.begin(), next.end(), [&](uint32_t s) { return region[s]; })) continue;
      std::vector<bool> seen = reaching(preds_, region, {b});
      auto count = size_t(std::count(seen.begin(), seen.end(), true));
      if (count >= most) {
        most = count;
        end = b;
        main = std::move(seen);
      }
      if (++candidates_ > kMostEnds) return;
    }
    if (end != kNoIndex) assign(main, {end});
  }

  static constexpr unsigned kMostEnds = 64; // keeps the search linear
  VirtualFunction& f_;
  std::vector<Blocks> preds_;
  unsigned candidates_ = 0;
};

void mark_back_edges(VirtualFunction& f) {
  for (uint32_t b = 0; b < f.blocks.size(); ++b) {
    VirtualOp& last = f.ops[f.blocks[b].end - 1];
    bool back = false;
    if (last.code == OpCode::jump || last.code == OpCode::branch)
      back = last.imm <= b;
    else if (last.code == OpCode::brx)
      for (uint32_t s : f.blocks[b].successors) back |= s <= b;
    if (back) last.flags |= kBackEdge;
  }
}

// Immediate dominators of the graph with these edges; the root has itself. Algorithm: Cooper,
// Harvey, Kennedy, "A simple, fast dominance algorithm", 2001.
std::vector<uint32_t> tree(uint32_t root, const std::vector<Blocks>& next,
                           const std::vector<Blocks>& before) {
  size_t n = next.size();
  std::vector<uint32_t> number(n, kNoIndex), order; // postorder
  std::vector<std::pair<uint32_t, uint32_t>> stack = {{root, 0}};
  std::vector<bool> seen(n);
  seen[root] = true;
  while (!stack.empty()) {
    auto& [b, i] = stack.back();
    if (i < next[b].size()) {
      uint32_t s = next[b][i++];
      if (!seen[s]) {
        seen[s] = true;
        stack.push_back({s, 0});
      }
    } else {
      number[b] = uint32_t(order.size());
      order.push_back(b);
      stack.pop_back();
    }
  }
  std::vector<uint32_t> idom(n, kNoIndex);
  idom[root] = root;
  auto meet = [&](uint32_t a, uint32_t b) {
    while (a != b) {
      while (number[a] < number[b]) a = idom[a];
      while (number[b] < number[a]) b = idom[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (*it == root) continue;
      uint32_t best = kNoIndex;
      for (uint32_t p : before[*it])
        if (idom[p] != kNoIndex) best = best == kNoIndex ? p : meet(best, p);
      changed |= best != idom[*it];
      idom[*it] = best;
    }
  }
  return idom;
}

} // namespace

std::vector<uint32_t> post_dominators(const VirtualFunction& f, const std::vector<bool>& region,
                                      const std::vector<uint32_t>& exits) {
  auto n = uint32_t(f.blocks.size()); // n stands for the common end
  std::vector<Blocks> preds(n + 1), succs(n + 1);
  auto edge = [&](uint32_t from, uint32_t to) {
    succs[from].push_back(to);
    preds[to].push_back(from);
  };
  for (uint32_t b = 0; b < n; ++b)
    if (region[b])
      for (uint32_t s : f.blocks[b].successors)
        if (region[s]) edge(b, s);
  for (uint32_t b : exits)
    if (region[b]) edge(b, n);
  std::vector<uint32_t> ipdom = tree(n, preds, succs);
  for (uint32_t& p : ipdom)
    if (p == n) p = kNoIndex;
  ipdom.resize(n);
  return ipdom;
}

std::vector<uint32_t> dominators(const VirtualFunction& f) {
  std::vector<Blocks> succs(f.blocks.size());
  for (uint32_t b = 0; b < f.blocks.size(); ++b)
    if (!f.blocks[b].dropped) succs[b] = f.blocks[b].successors;
  return tree(0, succs, predecessors(f));
}

void analyse_flow(VirtualFunction& f) {
  drop_unreachable(f);
  mark_back_edges(f);
  Reconvergence(f).run();
  for (const Block& b : f.blocks)
    if (!b.dropped && b.reconverge != kNoIndex) f.blocks[b.reconverge].join = true;
}

} // namespace assay::ir
