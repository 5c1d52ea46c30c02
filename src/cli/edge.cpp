// Words for what is missing; see edge.hpp. CUDA names where the operation has one; the PTX behind
// them:
// __syncthreads() is bar.sync 0, __threadfence() fence.acq_rel.gpu (membar.gl),
// __threadfence_block() the same at cta scope (CUDA C++ Programming Guide, "Memory Fence
// Functions").
#include "cli/edge.hpp"

#include "cli/edge_general.hpp"
#include "cli/places.hpp"
#include "explore/shapes.hpp"
#include "report/kinds.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace assay::cli {
namespace {

using explore::Missing;

class Words {
public:
  Words(const cases::Case& subject, const explore::Finding& found, race::Distance reach,
        const explore::History& history, const report::Finding& out)
      : subject_(subject), found_(found), history_(history), out_(out), conflict_(found.conflict),
        missing_(found.missing_edge) {
    race::Conflict& c = conflict_;
    if (found.is_conflict && reach > race::distance(c.first.agent, c.second.agent) &&
        c.first.agent.warp < race::kCopyAgent && c.second.agent.warp < race::kCopyAgent) {
      // As if it were between those others.
      widened_ = true;
      (reach == race::Distance::grid ? c.second.agent.cta : c.second.agent.warp) ^= 1;
      missing_ = explore::missing_edge(c, found.missed);
    }
    same_block_ = c.first.agent.cta == c.second.agent.cta;
    same_warp_ = same_block_ && c.first.agent.warp == c.second.agent.warp;
    if (history.known && !widened_)
      same_warp_ = same_block_ && history.agents[0].warp == history.agents[1].warp;
    if (missing_.empty()) look_for_reader();
  }

  Edge edge() {
    const bool covers = !widened_ || by_fence() || (by_mbarrier() && same_block_);
    Edge e = !covers || scopes_apart() ? Edge{} : diagnosed();
    if (e.missing.empty()) e = general();
    if (e.scope.empty() && !e.missing.empty() && !e.missing.starts_with("none exists"))
      e.scope = same_warp_ && !by_fence()       ? "warp"
                : history_.diagnosis.at.empty() ? (same_block_ ? "block" : "device")
                : block_will_do()               ? "block"
                                                : "device";
    if (e.help.empty()) e.help = general_help(e);
    if (e.missing.starts_with("none exists")) e.brief.clear();
    return e;
  }

private:
  // Of two atomic updates whose order matters, one may be there to read what the other ones made:
  // then it wants to come behind them, as a load would.
  void look_for_reader() {
    race::Conflict& c = conflict_;
    if (!found_.is_conflict || c.first.grid != c.second.grid) return;
    const ir::Program& program = *subject_.job.launches[found_.launch].program;
    race::Side* sides[] = {&c.first, &c.second};
    for (int side = 0; side < 2 && missing_.empty(); ++side) {
      if (!explore::takes(program, sides[side]->info.pc, sides[1 - side]->info.pc)) continue;
      sides[side]->info.atomic = sides[side]->info.write = false;
      missing_ = explore::missing_edge(c, found_.missed);
    }
  }

  // Two strong accesses race since their scopes do not include each other: that comes first.
  bool scopes_apart() const {
    const race::AccessInfo &a = conflict_.first.info, &b = conflict_.second.info;
    return found_.is_conflict && a.strong && b.strong && a.element_bytes() == b.element_bytes() &&
           conflict_.first.agent.cta != conflict_.second.agent.cta &&
           (a.scope == race::Scope::cta || b.scope == race::Scope::cta);
  }

  // A fence that all blocks see does for threads of one block as well.
  bool by_fence() const {
    const Missing m = history_.diagnosis.missing;
    return m == Missing::fence_before_flag || m == Missing::fence_after_flag ||
           m == Missing::fence_behind_flag || m == Missing::fence_sc;
  }

  // An mbarrier is for all threads of a block.
  bool by_mbarrier() const {
    const Missing m = history_.diagnosis.missing;
    return m == Missing::mbarrier_wait || m == Missing::mbarrier_phase ||
           m == Missing::mbarrier_early;
  }

  uint32_t line(size_t n) const {
    const std::vector<uint32_t>& at = history_.diagnosis.at;
    return n < at.size() ? place_of(subject_, found_.launch, at[n]).line : 0;
  }
  std::string at(size_t n) const {
    return where(place_of(subject_, found_.launch, history_.diagnosis.at[n]));
  }

  // Shared memory, or a flag that says itself that it is for the block alone. Whatever else stands
  // in global memory is there for larger grids than this one, too.
  bool block_will_do() const {
    if (!same_block_) return false;
    if (conflict_.space == race::Space::shared) return true;
    const ir::Program& program = *subject_.job.launches[found_.launch].program;
    for (uint32_t pc : history_.diagnosis.at) {
      const ir::Op& op = program.ops[pc];
      const bool flag = op.code == ir::OpCode::ld || op.code == ir::OpCode::st ||
                        op.code == ir::OpCode::atom || op.code == ir::OpCode::red;
      if (flag && program.mem[op.c].scope == ir::Scope::cta) return true;
    }
    return false;
  }
  const char* fence() const {
    return block_will_do() ? "__threadfence_block()" : "__threadfence()";
  }
  const char* scope() const {
    return block_will_do() ? "cuda::thread_scope_block" : "cuda::thread_scope_device";
  }
  const char* barrier() const {
    // Of copies, as many threads have their own as there are.
    const auto& block = subject_.job.launches[found_.launch].block;
    bool one_warp = uint64_t(block[0]) * block[1] * block[2] <= 32;
    return (copies() ? one_warp : same_warp_) ? "__syncwarp()" : "__syncthreads()";
  }

  Edge diagnosed() const {
    switch (history_.diagnosis.missing) {
    case Missing::unsaid: return {};
    case Missing::wait: return wait();
    case Missing::barrier_after_wait:
      return {fmt::format("{} after the wait at {}: waiting for a copy (cp.async.wait_group, "
                          "cp.async.wait_all) makes its bytes visible to the waiting thread alone",
                          barrier(), at(0)),
              fmt::format("add {} between the wait at {} and {} at {}", barrier(), at(0), reading(),
                          where(reader())),
              fmt::format("{} after the wait (line {})", barrier(), line(0)), "block"};
    case Missing::barrier_before_copy: return refilled();
    case Missing::fence_sc: return each_looks();
    case Missing::warp_mask: return mask();
    case Missing::mbarrier_wait:
    case Missing::mbarrier_phase:
    case Missing::mbarrier_early: return mbarrier();
    case Missing::barrier_before_flag:
    case Missing::barrier_after_flag: return flag_of_another();
    default: return flag();
    }
  }

  Edge each_looks() const {
    const std::vector<uint32_t>& steps = history_.diagnosis.at;
    const ir::Program& program = *subject_.job.launches[found_.launch].program;
    auto loads = [&](size_t n) { return program.ops[steps[n]].code == ir::OpCode::ld; };
    auto between = [&](size_t n) {
      return fmt::format("the store at {} and the {} at {}", at(n), loads(n + 1) ? "load" : "store",
                         at(n + 1));
    };
    std::string places = between(0);
    const bool both = steps.size() > 2,
               other = both && (line(2) != line(0) || line(3) != line(1) || loads(3) != loads(1));
    if (other) places += ", and between " + between(2);
    // With a store behind the store on one side, what comes first is told by no load.
    const bool looks = loads(1) && (!both || loads(3));
    const char* why = looks ? "without it each of the two may miss what the other has just stored"
                            : "which of two stores comes first is told by no load, so that release "
                              "and acquire order nothing here";
    const char* further = history_.diagnosis.by_others
                              ? ", and between those of each thread through which the one leads to "
                                "the other"
                              : "";
    const std::string end =
        looks ? ", so that at least one of the two sees the other; release and acquire are not "
                "enough here. If both must see the other's value, let each wait for it"
              : fmt::format("{}; release and acquire (fence.acq_rel) are not enough here", further);
    return {fmt::format("a sequentially consistent fence between {}: {}", places, why),
            fmt::format("add {} (cuda::atomic_thread_fence(cuda::memory_order_seq_cst, {})) "
                        "between {}{}",
                        fence(), scope(), places, end),
            fmt::format("{} between line {} and line {}", fence(), line(0), line(1))};
  }

  Edge mbarrier() const {
    const std::string access = where(late());
    switch (history_.diagnosis.missing) {
    case Missing::mbarrier_wait:
      return {fmt::format("a wait for the arrival at {} (an mbarrier) before the access at {}",
                          at(0), access),
              fmt::format("wait for the phase of the arrival at {} before {}: wait() of "
                          "cuda::barrier, mbarrier.try_wait in a loop",
                          at(0), access),
              fmt::format("a wait for the arrival of line {}", line(0)), "block"};
    case Missing::mbarrier_phase:
      return {fmt::format("a wait for the present phase at {}: the wait there was answered by the "
                          "phase before it",
                          at(0)),
              fmt::format("wait at {} for the parity of the phase that is to complete: 0 for the "
                          "first one of an mbarrier, then 1, 0 and so on, one for each turn of "
                          "the same object",
                          at(0)),
              fmt::format("the right parity in line {}", line(0)), "block"};
    default:
      if (!late().thread) return early_of_copy("the arrival");
      return {fmt::format("the arrival at {} behind the access at {}: whoever waits for it may go "
                          "on before that is done",
                          at(0), access),
              fmt::format("move the arrival at {} (an mbarrier) behind {}", at(0), access),
              fmt::format("the arrival of line {} behind the access", line(0)), "block"};
    }
  }

  Edge refilled() const {
    const uint32_t a = conflict_.first.info.pc, b = conflict_.second.info.pc,
                   copy = history_.diagnosis.at[0],
                   other = conflict_.first.agent.warp >= race::kCopyAgent ? b : a;
    const ir::Program& program = *subject_.job.launches[found_.launch].program;
    const bool turns = explore::loop_around(program, std::min(copy, other), std::max(copy, other));
    return {fmt::format("{} between {} at {} and the copy that {} starts, which fills the place "
                        "again",
                        barrier(), reading(), where(reader()), at(0)),
            fmt::format("add {} after {}, before cp.async at {} is executed{}", barrier(),
                        where(reader()), at(0), turns ? " again" : ""),
            fmt::format("{} before the copy (line {}) fills the place again", barrier(), line(0)),
            "block"};
  }

  // Whoever started a copy says so before its bytes have arrived.
  Edge early_of_copy(const char* raised) const {
    const std::string copy = where(late()),
                      mbarrier = history_.diagnosis.missing == Missing::mbarrier_early
                                     ? ", or let the copies arrive for it: "
                                       "cp.async.mbarrier.arrive.noinc"
                                     : "";
    return {fmt::format("a wait for the copy that {} starts before {} at {}, which says that its "
                        "bytes are there",
                        copy, raised, at(0)),
            fmt::format("add cp.async.wait_all (or __pipeline_commit() and "
                        "__pipeline_wait_prior(0)) after {}, before {} at {}{}",
                        copy, raised, at(0), mbarrier),
            fmt::format("a wait for the copy before line {}", line(0)), "block"};
  }

  Edge mask() const {
    const explore::Diagnosis& d = history_.diagnosis;
    std::string places, lines;
    for (size_t n = 0; n < d.masks.size(); ++n) {
      places += fmt::format("{}mask {:#010x} at {} leaves out lane {}", n ? ", " : "", d.masks[n],
                            at(n), d.lanes[n]);
      if (n == 0 || line(n) != line(0)) lines += fmt::format("{}{}", n ? " and " : "", at(n));
    }
    return {fmt::format("__syncwarp() with one mask that names both lanes: {}", places),
            fmt::format("at {} let all lanes that exchange data call __syncwarp() with the same "
                        "mask, which names each of them (0xffffffff: the whole warp)",
                        lines),
            fmt::format("both lanes in the mask of __syncwarp() (line {})", line(0)), "warp"};
  }

  // The words for what the two communicate through.
  const char* raising() const {
    using S = explore::Signal;
    const S s = history_.diagnosis.signal;
    return s == S::lock      ? "the unlock"
           : s == S::counter ? "the counter's update"
                             : "the flag's store";
  }
  const char* seeing() const {
    using S = explore::Signal;
    const S s = history_.diagnosis.signal;
    return s == S::lock      ? "the lock is taken"
           : s == S::counter ? "the counter is read"
                             : "the flag's load";
  }

  // Whose access comes after the flag, or may.
  const report::Location& late() const { return out_.locations[size_t(history_.diagnosis.side)]; }

  // How the flag's own access would do; no cuda::atomic_ref is a vector.
  std::string order(const char* which, const char* opcode) const {
    const ir::Program& program = *subject_.job.launches[found_.launch].program;
    const ir::Op& op = program.ops[history_.diagnosis.at[0]];
    const bool plain = op.code == ir::OpCode::ld || op.code == ir::OpCode::st;
    if (plain && program.mem[op.c].vector > 1)
      return fmt::format("{}.{}.{}.v{}: the flag is an element of a vector", opcode, which,
                         block_will_do() ? "cta" : "gpu", program.mem[op.c].vector);
    return fmt::format("cuda::memory_order_{} at {}", which, scope());
  }

  // The side of a copy's pair that is no copy.
  const report::Location& reader() const {
    return out_.locations[out_.locations[0].thread ? 0 : 1];
  }
  std::string reading() const {
    const race::Conflict& c = conflict_;
    return (out_.locations[0].thread ? c.first : c.second).info.write ? "the write" : "the read";
  }

  Edge wait() const {
    const explore::Diagnosis& d = history_.diagnosis;
    const bool own = history_.agents[0].warp == history_.agents[1].warp &&
                     history_.lanes[0] == history_.lanes[1];
    const std::string then = own ? "" : fmt::format(", then {}", barrier());
    if (d.groups == ir::kNoIndex)
      return {"cp.async.wait_all, or cp.async.commit_group (__pipeline_commit()) and "
              "cp.async.wait_group (__pipeline_wait_prior(0))" +
                  then,
              fmt::format("commit the copies and wait for them (__pipeline_commit(), "
                          "__pipeline_wait_prior(0)){} before {}",
                          then, where(reader())),
              "a wait for the copy" + then, "block"};
    const std::string needed =
        fmt::format("cp.async.wait_group {0} (__pipeline_wait_prior({0}))", d.groups);
    if (d.at.empty())
      return {fmt::format("{}{} before {} at {}", needed, then, reading(), where(reader())),
              fmt::format("add {}{} before {}", needed, then, where(reader())),
              fmt::format("cp.async.wait_group {}{}", d.groups, then), "block"};
    return {fmt::format("{} or less at {}: the wait there leaves this copy running", needed, at(0)),
            fmt::format("wait at {} until at most {} group{} of copies remain{}: {}", at(0),
                        d.groups, d.groups == 1 ? "" : "s", d.groups == 1 ? "s" : "", needed),
            fmt::format("cp.async.wait_group {} in line {}", d.groups, line(0)), "block"};
  }

  Edge flag() const {
    switch (history_.diagnosis.missing) {
    case Missing::fence_before_flag:
      return {fmt::format("{} before {} at {}", fence(), raising(), at(0)),
              fmt::format("add {} before {} at {}, in the same thread, or make that {}", fence(),
                          raising(), at(0), order("release", "st")),
              fmt::format("{} before line {}", fence(), line(0))};
    case Missing::fence_after_flag:
      return {fmt::format("{} after {} at {}", fence(), seeing(), at(0)),
              fmt::format("add {} after {} at {}, in the same thread, or make that {}", fence(),
                          seeing(), at(0), order("acquire", "ld")),
              fmt::format("{} after line {}", fence(), line(0))};
    case Missing::fence_behind_flag:
      return {fmt::format("{} before {} at {}: it stands behind it, at {}", fence(), raising(),
                          at(1), at(0)),
              fmt::format("put {} before {} at {}: the one at {} comes too late for it", fence(),
                          raising(), at(1), at(0)),
              fmt::format("{} before line {}, not after it", fence(), line(1))};
    case Missing::fence_scope:
      return {fmt::format("a fence of device scope at {}: the one there reaches its own block only",
                          at(0)),
              fmt::format("at {} use __threadfence() (cuda::thread_scope_device) rather than "
                          "__threadfence_block() (cuda::thread_scope_block)",
                          at(0)),
              fmt::format("__threadfence() in line {}: that fence covers its block only", line(0))};
    case Missing::flag_scope:
      return {
          fmt::format("device scope at {}: the operation there is atomic within its own block "
                      "only",
                      at(0)),
          fmt::format("at {} use cuda::thread_scope_device rather than cuda::thread_scope_block "
                      "(atomicAdd() rather than atomicAdd_block())",
                      at(0)),
          fmt::format("device scope in line {}", line(0))};
    case Missing::flag_early:
      if (!late().thread) return early_of_copy(raising());
      return {fmt::format("the access before what announces it: {} is {}, and only {} does what it "
                          "announces",
                          at(0), raising(), where(late())),
              fmt::format("move {} at {} behind {}, with {} between the two", raising(), at(0),
                          where(late()), fence()),
              fmt::format("the access before line {}", line(0))};
    default: return {};
    }
  }

  // The flag is raised or seen by another thread than the one that accesses.
  Edge flag_of_another() const {
    const bool warp = history_.diagnosis.within_warp;
    const char *sync = warp ? "__syncwarp()" : "__syncthreads()", *whole = warp ? "warp" : "block";
    if (history_.diagnosis.missing == Missing::barrier_before_flag)
      return {fmt::format("{} before {} at {}, which another thread of the {} makes", sync,
                          raising(), at(0), whole),
              fmt::format("add {} between {} and {} at {}", sync, where(late()), raising(), at(0)),
              fmt::format("{} before line {}", sync, line(0)), whole};
    return {fmt::format("{} after {} at {}, by which the other threads of the {} learn of it", sync,
                        seeing(), at(0), whole),
            fmt::format("add {} between {} at {} and {}", sync, seeing(), at(0),
                        where(out_.locations[1])),
            fmt::format("{} after line {}", sync, line(0)), whole};
  }

  Edge general() const {
    return general_edge({subject_, found_, out_, conflict_, missing_, same_block_, same_warp_,
                         history_.diagnosis.may_lead, barrier()});
  }

  bool copies() const {
    return found_.is_conflict && same_block_ &&
           (conflict_.first.agent.warp >= race::kCopyAgent ||
            conflict_.second.agent.warp >= race::kCopyAgent);
  }

  std::string general_help(const Edge& e) const {
    bool edge = !e.missing.empty() && !e.missing.starts_with("none exists");
    bool construct = e.missing.starts_with("__") || e.missing.starts_with("cp.async") ||
                     e.missing.starts_with("a fence");
    if (edge) return (construct ? "add " : "use ") + e.missing;
    if (found_.kind == "nondeterministic" && found_.places.size() == 1 &&
        subject_.job.launches[found_.launch].program->ops[found_.places[0].pc].code ==
            ir::OpCode::activemask)
      return "take the mask from the lanes that are meant (__ballot_sync() with their condition "
             "before "
             "the branch, or 0xffffffff): __activemask() names those that happen to run together";
    if (found_.kind == "nondeterministic" && found_.places.size() == 1)
      return "keep clocks and places on the machine out of the result";
    const report::Kind* row = report::find_kind(found_.kind);
    return row ? std::string(row->fix) : "";
  }

  const cases::Case& subject_;
  const explore::Finding& found_;
  const explore::History& history_;
  const report::Finding& out_;
  race::Conflict conflict_; // of those that are farthest apart
  std::string missing_;
  bool widened_ = false;
  bool same_block_ = false, same_warp_ = false;
};

} // namespace

Edge edge_of(const cases::Case& subject, const explore::Finding& found, race::Distance reach,
             const explore::History& history, const report::Finding& out) {
  Edge edge = Words(subject, found, reach, history, out).edge();
  const race::Conflict& c = found.conflict;
  const race::Distance own = race::distance(c.first.agent, c.second.agent);
  if (!found.is_conflict || found.missed || c.kind != race::Conflict::Kind::order ||
      reach != race::Distance::grid || own == reach)
    return edge;
  // An order of threads of one block has made the difference. What those of different blocks need
  // may be there already: that they do the same is no defect in itself.
  const auto& block = subject.job.launches[found.launch].block;
  const bool one_warp = uint64_t(block[0]) * block[1] * block[2] <= 32;
  Edge within = Words(subject, found, one_warp ? own : race::Distance::cta, history, out).edge();
  if (within.missing.empty()) return edge;
  within.help += "; if the order of threads of different blocks matters as well, " + edge.help;
  return within;
}

} // namespace assay::cli
