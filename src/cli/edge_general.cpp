// What would order two accesses, or spare them the order; see edge_general.hpp. The choice follows
// from what the two do to the place (is it one update, a poll, a copy?) and from how far apart the
// threads are: lanes of a warp, warps of a block, blocks.
#include "cli/edge_general.hpp"

#include "cli/places.hpp"
#include "explore/shapes.hpp"
#include "report/kinds.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace assay::cli {
namespace {

// Does the load at `pc` look at another place in each turn of its loop, one that the loaded value
// leads to or that is counted on? So a walk through a tree does, or a search; it waits for nobody.
bool walks(const ir::Program& program, uint32_t pc) {
  const ir::Op& load = program.ops[pc];
  uint32_t first = 1, last = 0; // the innermost loop, as the operations stand
  for (uint32_t i = pc; i < program.ops.size() && first > last; ++i)
    if ((program.ops[i].flags & ir::kBackEdge) && uint32_t(program.ops[i].imm) <= pc &&
        (program.ops[i].code == ir::OpCode::jump || program.ops[i].code == ir::OpCode::branch))
      first = uint32_t(program.ops[i].imm), last = i;
  std::set<ir::Slot> moves = {program.mem[load.c].regs[0]};
  for (size_t before = 0; before != moves.size();) {
    before = moves.size();
    for (uint32_t i = first; i <= last; ++i) {
      const ir::Op& op = program.ops[i];
      if (op.code <= ir::OpCode::free_ || op.d == ir::kNoSlot) continue; // pure ones are behind it
      if (op.d == op.a || op.d == op.b || moves.count(op.a) || moves.count(op.b) ||
          moves.count(op.c))
        moves.insert(op.d);
    }
  }
  return first <= last && load.a != ir::kNoSlot && moves.count(load.a);
}

// The same of what explore::polls() takes for a poll: the first look may stand before the loop.
bool waits(const ir::Program& program, uint32_t pc, bool plain) {
  constexpr uint32_t kNear = 32;
  if (!explore::polls(program, pc, plain)) return false;
  for (uint32_t i = pc; i < program.ops.size() && i <= pc + kNear; ++i)
    if (program.ops[i].code == ir::OpCode::ld && program.ops[i].a == program.ops[pc].a &&
        walks(program, i))
      return false;
  return true;
}

class General {
public:
  explicit General(const Unordered& pair)
      : pair_(pair), c_(pair.conflict),
        program_(*pair.subject.job.launches[pair.found.launch].program) {}

  Edge edge() const {
    using K = race::Conflict::Kind;
    if (!pair_.found.is_conflict || pair_.out.locations.size() != 2) return as_said();
    if (c_.kind == K::same_instruction) return is_update() ? update() : one_instruction();
    if (c_.first.info.nc || c_.second.info.nc) return non_coherent();
    if (copies() || c_.first.grid != c_.second.grid) return as_said(); // two programs
    if (pair_.found.missed && !neither_looks()) return missed();
    if (pair_.found.missed) return {"", "", ""};
    if (polls_plainly(0) || polls_plainly(1)) return plain_poll(polls_plainly(0) ? 0 : 1);
    if (is_update()) return update();
    if (pair_.missing.starts_with("an atomic or volatile")) return one_is_plain();
    if (pair_.missing.starts_with("__sync"))
      return polls_strongly(0) || polls_strongly(1) ? one_value(polls_strongly(0) ? 0 : 1)
                                                    : barrier();
    if (pair_.missing.starts_with("a grid-wide barrier")) return between_blocks();
    return as_said();
  }

private:
  const report::Location& at(int side) const { return pair_.out.locations[size_t(side)]; }
  const race::AccessInfo& info(int side) const { return side ? c_.second.info : c_.first.info; }

  bool copies() const {
    return pair_.same_block &&
           (c_.first.agent.warp >= race::kCopyAgent || c_.second.agent.warp >= race::kCopyAgent);
  }

  // The part before a remark in brackets or behind a colon.
  static std::string shorter(const std::string& text) {
    return text.substr(0, std::min(text.find(" ("), text.find(": ")));
  }
  Edge as_said() const {
    const bool copy = pair_.found.is_conflict && copies();
    return {pair_.missing, "",
            copy ? "cp.async.wait_group, then __syncthreads()" : shorter(pair_.missing),
            copy ? "block" : ""};
  }

  Edge one_instruction() const {
    return {pair_.missing,
            fmt::format("let one thread store at {} (an if around it), give each thread a place of "
                        "its own, or combine the values (a reduction, atomicMax() and its kin)",
                        where(at(0))),
            ""};
  }

  Edge non_coherent() const {
    const int side = info(0).nc ? 0 : 1;
    return {pair_.missing,
            fmt::format("load at {} as ordinary memory, without __ldg(), const __restrict__ or "
                        "ld.global.nc: that way is for what the launch does not write",
                        where(at(side))),
            ""};
  }

  // Both are strong, and somehow the one leads to the other; the fences on the way do not suffice.
  Edge missed() const {
    // Nothing leads from the one to the other: the two are as unordered as if both were plain.
    if (pair_.same_block && !pair_.may_lead && (!pair_.same_warp || lanes_meet())) {
      Edge e = barrier();
      e.missing = pair_.barrier + std::string(" between the two accesses");
      return e;
    }
    if (pair_.same_warp && lanes_meet()) {
      Edge e = barrier();
      e.missing =
          "__syncwarp() between the two accesses: shuffles and votes bring lanes of one warp "
          "together, but order no memory";
      return e;
    }
    const std::string fence = pair_.same_block && c_.space == race::Space::shared
                                  ? "__threadfence_block()"
                                  : "__threadfence()";
    std::string missing = pair_.missing;
    if (const size_t named = missing.find("__threadfence()"); named != std::string::npos)
      missing.replace(named, std::string("__threadfence()").size(), fence);
    const std::string help =
        info(1).write
            ? fmt::format("add {} after the write at {}, before what the thread does next, and one "
                          "before the write at {}, after what has seen that; or announce and look "
                          "with release and acquire",
                          fence, where(at(0)), where(at(1)))
            : fmt::format("add {} after the write at {}, before what announces it (a flag, a "
                          "counter), and one before the read at {}, after what has seen the "
                          "announcement; or announce and look with release and acquire",
                          fence, where(at(0)), where(at(1)));
    return {missing, help, shorter(missing)};
  }

  // Of two updates none of which takes what the other has made, the order alone matters.
  bool neither_looks() const {
    const uint32_t a = info(0).pc, b = info(1).pc;
    return info(0).atomic && info(1).atomic && !explore::takes(program_, a, b) &&
           !explore::takes(program_, b, a);
  }

  // Do the lanes of the warp come together between the two, as the program has it? Else the two are
  // in branches of their own, where no lane can wait for the other at a barrier.
  bool lanes_meet() const {
    using C = ir::OpCode;
    bool apart = false;
    const uint32_t low = std::min(info(0).pc, info(1).pc), high = std::max(info(0).pc, info(1).pc);
    for (uint32_t pc = low; pc < high; ++pc) {
      const C code = program_.ops[pc].code;
      if (code == C::meet) return true;
      apart |= code == C::jump || code == C::branch || code == C::brx;
    }
    return !apart;
  }

  // A plain load in a loop that waits for what the other side writes.
  bool polls_plainly(int side) const {
    const race::AccessInfo& load = info(side);
    return !load.write && !load.strong && info(1 - side).write && waits(program_, load.pc, true) &&
           explore::decides(program_, load.pc);
  }
  Edge plain_poll(int side) const {
    std::string store;
    if (!info(1 - side).strong)
      store =
          fmt::format(", and store at {} likewise (atomicExch(), volatile)", where(at(1 - side)));
    return {fmt::format("a volatile or atomic access at {}: the loop there polls by plain loads, "
                        "which the compiler may make once and for all",
                        where(at(side))),
            fmt::format("poll at {} with an atomic or volatile load (cuda::atomic_ref, "
                        "volatile){}; {} behind the loop if it announces other data",
                        where(at(side)), store,
                        pair_.same_block ? "__threadfence_block()" : "__threadfence()"),
            fmt::format("an atomic or volatile load in line {}", at(side).line), ""};
  }

  // A loop of one thread that waits for the other's store: no barrier in it would be passed by
  // both.
  bool polls_strongly(int side) const {
    const race::AccessInfo& load = info(side);
    return load.strong && !load.write && info(1 - side).write && waits(program_, load.pc, false);
  }
  Edge one_value(int side) const {
    const std::string loop = where(at(side)), store = where(at(1 - side));
    return {fmt::format("a value that tells one turn from the next: the loop at {} waits for what "
                        "is stored at {}, and may see it too late, or a later one",
                        loop, store),
            fmt::format("let the flag count (store the number of the turn, and poll for it at {}), "
                        "or let who stores at {} wait first until the thread of the loop has "
                        "taken, and answered, what was there before; or put a barrier that all "
                        "threads pass outside of the loop, between one turn's store and the next",
                        loop, store),
            fmt::format("turns told apart at line {}", at(side).line), ""};
  }

  // Is each side the load or the store of one and the same x = f(x)? Then one of the two updates
  // can be lost whatever comes first.
  bool is_update() const {
    const uint32_t a = c_.first.info.pc, b = c_.second.info.pc;
    for (uint32_t store : {a, b}) {
      const uint32_t load = explore::updates(program_, store);
      if (load != ir::kNoIndex && (a == store || a == load) && (b == store || b == load))
        return true;
    }
    return false;
  }
  Edge update() const {
    const report::Location& store = at(info(0).write ? 0 : 1);
    std::string turns;
    if (explore::loop_around(program_, std::min(info(0).pc, info(1).pc),
                             std::max(info(0).pc, info(1).pc)))
      turns = pair_.same_block
                  ? fmt::format("; or, where each turn of the loop has one thread for each place, "
                                "add {} between the turns",
                                pair_.barrier)
                  : "";
    return {fmt::format("one atomic operation in place of the load and the store at {}, between "
                        "which another thread's update is lost",
                        where(store)),
            fmt::format("make the update at {} atomic (atomicAdd() and its kin, cuda::atomic_ref), "
                        "or guard it by a lock that is taken before the load and given back behind "
                        "the store, or give each thread a place of its own and add up "
                        "behind a barrier{}",
                        where(store), turns),
            fmt::format("an atomic update in line {}", store.line), ""};
  }

  Edge one_is_plain() const {
    const report::Location& plain = at(info(0).strong ? 1 : 0);
    return {fmt::format("an atomic or volatile access at {} too: it is plain, the other one is not",
                        where(plain)),
            fmt::format("make the access at {} atomic or volatile (cuda::atomic_ref<T, "
                        "cuda::thread_scope_device>; instead of a store also atomicExch()), with "
                        "__threadfence() where it stands for other data; if it belongs before or "
                        "after all of the others, use a grid-wide barrier or a launch of its own",
                        where(plain)),
            "an atomic or volatile access on both sides", ""};
  }

  Edge between_blocks() const {
    // What reads first and writes later can write elsewhere; what reads later wants the value.
    const bool both = info(0).write && info(1).write;
    const uint32_t write = info(info(0).write ? 0 : 1).pc, read = info(info(0).write ? 1 : 0).pc;
    const char* apart = both ? "give each block a place of its own, or let only one of them "
                               "write it, or "
                        : read < write ? "write to another buffer than is read, or "
                                       : "";
    return {pair_.missing,
            fmt::format("no barrier of a block orders threads of different blocks: {}end the "
                        "launch between the two accesses and start another, or use a grid-wide "
                        "barrier (grid.sync() in a cooperative launch), or let a flag announce "
                        "the first access: atomic, with __threadfence() before its store and after "
                        "the load that has seen it",
                        apart),
            shorter(pair_.missing)};
  }

  // -- barriers of a block or a warp
  // ----------------------------------------------------------------
  Edge barrier() const {
    const bool writes = info(0).write && info(1).write && !info(0).read && !info(1).read;
    if (writes && info(0).pc == info(1).pc && !pair_.same_warp &&
        !explore::loop_around(program_, info(0).pc, info(1).pc))
      return one_instruction();
    const bool first_low = info(0).pc <= info(1).pc;
    const report::Location &low = at(first_low ? 0 : 1), &high = at(first_low ? 1 : 0);
    const uint32_t between = meeting_between();
    const bool round =
        (between != ir::kNoIndex || mbarrier_between()) &&
        explore::loop_around(program_, info(first_low ? 0 : 1).pc, info(first_low ? 1 : 0).pc);
    if (between != ir::kNoIndex && !round && !unrolled(high.line, low.line))
      return not_by_both(between);
    const report::Location &from = round ? high : low, &to = round ? low : high;
    std::string place = "between the two accesses";
    if (from.file == to.file && from.line && to.line) {
      if (from.line == to.line)
        place = fmt::format("between them in line {}", from.line);
      else if (round || unrolled(to.line, from.line))
        place = fmt::format("after line {}, before line {} is executed again", from.line, to.line);
      else
        place = fmt::format("between line {} and line {}", std::min(from.line, to.line),
                            std::max(from.line, to.line));
    }
    std::string apart;
    if (writes) apart = "; or let only one of the threads write the place";
    if (writes && info(0).pc != info(1).pc) apart += " (if two variables are meant, they overlap)";
    return {pair_.missing,
            fmt::format("add {} {}, where all threads of the {} pass{}", pair_.barrier, place,
                        pair_.same_warp ? "warp" : "block", apart),
            pair_.barrier, ""};
  }

  // A barrier between the two as they stand in the program.
  uint32_t meeting_between() const {
    const uint32_t a = info(0).pc, b = info(1).pc;
    for (uint32_t pc = std::min(a, b); pc < std::max(a, b); ++pc) {
      const ir::OpCode code = program_.ops[pc].code;
      if (code == ir::OpCode::bar || (pair_.same_warp && code == ir::OpCode::bar_warp_sync))
        return pc;
    }
    return ir::kNoIndex;
  }

  bool mbarrier_between() const {
    const uint32_t a = info(0).pc, b = info(1).pc;
    for (uint32_t pc = std::min(a, b); pc < std::max(a, b); ++pc)
      if (program_.ops[pc].code == ir::OpCode::mbarrier_wait ||
          program_.ops[pc].code == ir::OpCode::mbarrier_arrive)
        return true;
    return false;
  }

  // Does the program come to the later line first? So it does where a loop was unrolled.
  static bool unrolled(uint32_t to, uint32_t from) { return to < from; }

  Edge not_by_both(uint32_t pc) const {
    const report::Location there = place_of(pair_.subject, pair_.found.launch, pc);
    const char* whole = pair_.same_warp ? "warp" : "block";
    return {fmt::format("{} that brings both threads together: the barrier at {} does not (a "
                        "branch around it, or another number)",
                        pair_.barrier, where(there)),
            fmt::format("let all threads of the {} pass the barrier at {}: move it out of the "
                        "branch that some of them do not take",
                        whole, where(there)),
            fmt::format("both threads at the barrier of line {}", there.line), ""};
  }

  const Unordered& pair_;
  const race::Conflict& c_;
  const ir::Program& program_;
};

} // namespace

Edge general_edge(const Unordered& pair) { return General(pair).edge(); }

} // namespace assay::cli
