// Words for what is missing; see edge.hpp. CUDA names where the operation has one; the PTX behind
// them:
// __syncthreads() is bar.sync 0, __threadfence() fence.acq_rel.gpu (membar.gl),
// __threadfence_block() the same at cta scope (CUDA C++ Programming Guide, "Memory Fence
// Functions").
#include "cli/edge.hpp"

#include "cli/places.hpp"
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
  }

  Edge edge() {
    Edge e = widened_ && !by_fence() ? Edge{} : diagnosed();
    if (e.missing.empty()) e = general();
    if (e.scope.empty() && !e.missing.empty() && !e.missing.starts_with("none exists"))
      e.scope = same_warp_                      ? "warp"
                : history_.diagnosis.at.empty() ? (same_block_ ? "block" : "device")
                : block_will_do()               ? "block"
                                                : "device";
    if (e.help.empty()) e.help = general_help(e);
    if (e.missing.starts_with("none exists")) e.brief.clear();
    return e;
  }

private:
  // A fence that all blocks see does for threads of one block as well.
  bool by_fence() const {
    const Missing m = history_.diagnosis.missing;
    return m == Missing::fence_before_flag || m == Missing::fence_after_flag ||
           m == Missing::fence_behind_flag;
  }

  uint32_t line(size_t n) const {
    const std::vector<uint32_t>& at = history_.diagnosis.at;
    return n < at.size() ? place_of(subject_, found_.launch, at[n]).line : 0;
  }
  std::string at(size_t n) const {
    return where(place_of(subject_, found_.launch, history_.diagnosis.at[n]));
  }

  // What one block shares with others is published to all of them.
  bool block_will_do() const {
    const auto& grid = subject_.job.launches[found_.launch].grid;
    return same_block_ &&
           (conflict_.space == race::Space::shared || uint64_t(grid[0]) * grid[1] * grid[2] == 1);
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
    case Missing::barrier_before_copy:
      return {fmt::format("{} between {} at {} and the copy that {} starts, which fills the place "
                          "again",
                          barrier(), reading(), where(reader()), at(0)),
              fmt::format("add {} after {}, before cp.async at {} is executed again", barrier(),
                          where(reader()), at(0)),
              fmt::format("{} before the copy (line {}) fills the place again", barrier(), line(0)),
              "block"};
    default: return flag();
    }
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
      return {fmt::format("{} before the flag's store at {}", fence(), at(0)),
              fmt::format("add {} before {}, in the thread that stores the flag, or store it with "
                          "cuda::memory_order_release at {}",
                          fence(), at(0), scope()),
              fmt::format("{} before line {}", fence(), line(0))};
    case Missing::fence_after_flag:
      return {fmt::format("{} after the flag's load at {}", fence(), at(0)),
              fmt::format("add {} after {}, in the thread that has seen the flag, or load it with "
                          "cuda::memory_order_acquire at {}",
                          fence(), at(0), scope()),
              fmt::format("{} after line {}", fence(), line(0))};
    case Missing::fence_behind_flag:
      return {
          fmt::format("{} before the flag's store at {}: it stands behind it, at {}", fence(),
                      at(1), at(0)),
          fmt::format("move {} from {} to before the flag's store at {}", fence(), at(0), at(1)),
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
          fmt::format("device scope of the flag's access at {}: it is atomic within its own "
                      "block only",
                      at(0)),
          fmt::format("at {} use cuda::thread_scope_device rather than cuda::thread_scope_block "
                      "(atomicAdd() rather than atomicAdd_block())",
                      at(0)),
          fmt::format("device scope in line {}", line(0))};
    case Missing::flag_early:
      return {
          fmt::format("the write before the flag: {} raises the flag, and only {} writes what "
                      "it announces",
                      at(0), where(out_.locations[0])),
          fmt::format("move the flag's store at {} behind the write at {}, and {} between the two",
                      at(0), where(out_.locations[0]), fence()),
          fmt::format("the flag (line {}) must come after the write", line(0))};
    case Missing::barrier_before_flag:
      return {
          fmt::format("__syncthreads() before the flag's store at {}, which another thread of the "
                      "block makes",
                      at(0)),
          fmt::format("add __syncthreads() between {} and the flag's store at {}",
                      where(out_.locations[0]), at(0)),
          fmt::format("__syncthreads() before line {}", line(0)), "block"};
    case Missing::barrier_after_flag:
      return {
          fmt::format("__syncthreads() after the flag's load at {}, by which the other threads of "
                      "the block learn of it",
                      at(0)),
          fmt::format("add __syncthreads() between the flag's load at {} and {}", at(0),
                      where(out_.locations[1])),
          fmt::format("__syncthreads() after line {}", line(0)), "block"};
    default: return {};
    }
  }

  // What missing_edge() says; of a barrier also where.
  Edge general() const {
    const race::Conflict& c = conflict_;
    const bool same_instruction = c.kind == race::Conflict::Kind::same_instruction;
    if (!found_.is_conflict || same_instruction || !plain_barrier(c))
      return {missing_, "",
              copies() ? "cp.async.wait_group, then __syncthreads()" : shorter(missing_),
              copies() ? "block" : ""};
    const report::Location &a = out_.locations[0], &b = out_.locations[1];
    std::string place = "between the two accesses";
    if (a.file == b.file && a.line && a.line == b.line) {
      place = fmt::format("between them in line {}", a.line);
    } else if (a.file == b.file && a.line && b.line) {
      uint32_t low = std::min(a.line, b.line), high = std::max(a.line, b.line);
      place = meets_between()
                  ? fmt::format("after line {}, before line {} is executed again", high, low)
                  : fmt::format("between line {} and line {}", low, high);
    }
    return {missing_,
            fmt::format("add {} {}, where all threads of the {} pass", barrier(), place,
                        same_warp_ ? "warp" : "block"),
            barrier(), ""};
  }

  // Is there a barrier between the two as they stand in the program? Then it is on the way back,
  // round a loop, that one is missing.
  bool meets_between() const {
    const ir::Program& program = *subject_.job.launches[found_.launch].program;
    const uint32_t a = found_.conflict.first.info.pc, b = found_.conflict.second.info.pc;
    for (uint32_t pc = std::min(a, b); pc < std::max(a, b); ++pc) {
      ir::OpCode code = program.ops[pc].code;
      if (code == ir::OpCode::bar || (same_warp_ && code == ir::OpCode::bar_warp_sync)) return true;
    }
    return false;
  }

  bool plain_barrier(const race::Conflict& c) const {
    return same_block_ && c.first.agent.warp < race::kCopyAgent &&
           c.second.agent.warp < race::kCopyAgent && !c.first.info.nc && !c.second.info.nc &&
           missing_.starts_with("__sync") && out_.locations.size() == 2;
  }

  bool copies() const {
    return found_.is_conflict && same_block_ &&
           (conflict_.first.agent.warp >= race::kCopyAgent ||
            conflict_.second.agent.warp >= race::kCopyAgent);
  }

  // The part before a remark in brackets or behind a colon.
  static std::string shorter(const std::string& text) {
    return text.substr(0, std::min(text.find(" ("), text.find(": ")));
  }

  std::string general_help(const Edge& e) const {
    bool edge = !e.missing.empty() && !e.missing.starts_with("none exists");
    bool construct = e.missing.starts_with("__") || e.missing.starts_with("cp.async") ||
                     e.missing.starts_with("a fence");
    if (edge) return (construct ? "add " : "use ") + e.missing;
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
  return Words(subject, found, reach, history, out).edge();
}

} // namespace assay::cli
