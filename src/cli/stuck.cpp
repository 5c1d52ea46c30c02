// Who waits for whom; see stuck.hpp.
#include "cli/stuck.hpp"

#include "cli/lanes.hpp"
#include "cli/places.hpp"
#include "explore/stuck.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace assay::cli {
namespace {

using C = ir::OpCode;

class Waiting {
public:
  Waiting(const cases::Case& subject, const explore::Finding& found, const report::Finding& out)
      : subject_(subject), found_(found), out_(out),
        program_(*subject.job.launches[found.launch].program) {
    for (size_t i = 0; i < found.places.size(); ++i) {
      auto same = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& k) {
        return alike(found.places[k.place], found.places[i]);
      });
      if (same == kinds_.end())
        kinds_.push_back({i, 1});
      else
        ++same->count;
    }
    // The launch that is watched comes first.
    std::stable_partition(kinds_.begin(), kinds_.end(), [&](const Kind& k) {
      return found.places[k.place].launch == found.launch;
    });
    // The threads of one block tell the story; other blocks' only where there are none.
    for (Kind& k : kinds_)
      for (size_t i = k.place; i < found.places.size(); ++i)
        if (found.places[i].agent.cta == found.places[0].agent.cta &&
            alike(found.places[k.place], found.places[i])) {
          k.place = i;
          break;
        }
  }

  bool empty() const { return kinds_.empty(); }

  std::string message() const {
    std::string text;
    const size_t told = std::min<size_t>(kinds_.size(), 2);
    for (size_t k = 0; k < told; ++k) {
      const vgpu::Place& at = place(k);
      std::string thread = who(location(k));
      if (k && at.agent.cta == place(0).agent.cta)
        thread = thread.substr(0, thread.find(" of block")) + " of the same block";
      text +=
          fmt::format("{}{} at {} {}", k ? ", and " : "", thread, where(location(k)), at.operation);
    }
    if (kinds_.size() > told) text += ", and others elsewhere";
    return fmt::format("{}: {}", text,
                       found_.kind == "hang" ? "this goes on for ever"
                       : told == 1 && out_.locations.size() == 1
                           ? "nobody is left who could end that"
                           : "nobody can go on");
  }

  std::string help() const {
    const std::string first = where(location(0)),
                      second = kinds_.size() > 1 ? where(location(1)) : "";
    switch (code(0)) {
    case C::bar:
      if (kinds_.size() > 1 && code(1) == C::bar)
        return fmt::format("let these threads pass the same barriers in the same order: some wait "
                           "at {}, others at {}",
                           first, second);
      return kinds_.size() > 1
                 ? fmt::format("let the threads at {} come to the barrier at {} too, or leave them "
                               "out of its count",
                               second, first)
                 : fmt::format("let as many threads come to the barrier at {} as its count names",
                               first);
    case C::mbarrier_wait:
      return fmt::format("let just as many threads (or copies, or bytes) arrive in each phase as "
                         "the mbarrier that {} waits for was initialised for, and wait for the "
                         "parity of the phase in which they arrive",
                         first);
    case C::ld:
    case C::atom:
      if (kinds_.size() > 1 && code(1) == C::atom && code(0) == C::atom)
        return fmt::format("take locks in one order everywhere: some wait at {}, others at {}",
                           first, second);
      return "";
    default:
      return place(0).operation.starts_with("waits for lanes")
                 ? fmt::format("let all lanes that the mask names come to the operation at {}, or "
                               "leave the others out of the mask",
                               first)
                 : "";
    }
  }

  std::vector<report::Timeline> charts(const explore::Options& options) const {
    constexpr size_t kMost = 4; // kinds of threads: two pairs of lanes
    std::vector<explore::StuckThread> threads;
    for (size_t k = 0; k < std::min(kinds_.size(), kMost); ++k)
      if (place(k).launch == found_.launch) // only one launch is watched
        threads.push_back({place(k).agent, place(k).lane, place(k).pc});
    const explore::LastSteps last = explore::last_steps(subject_.job, found_, threads, options);
    std::vector<report::Timeline> out;
    for (size_t k = 0; k < threads.size(); k += 2) out.push_back(chart(k, last));
    return out;
  }

private:
  struct Kind {
    size_t place; // one of them
    size_t count;
  };

  static bool alike(const vgpu::Place& a, const vgpu::Place& b) {
    // "waits at barrier 1 (32 of 64 threads have arrived)"
    auto what = [](const vgpu::Place& p) {
      return std::string_view(p.operation).substr(0, p.operation.find(" ("));
    };
    return a.launch == b.launch && a.pc == b.pc && what(a) == what(b) && a.region == b.region &&
           (a.region == "shared" || a.offset == b.offset);
  }

  const vgpu::Place& place(size_t kind) const { return found_.places[kinds_[kind].place]; }
  const report::Location& location(size_t kind) const { return out_.locations[kinds_[kind].place]; }
  std::string does(size_t kind) const {
    const vgpu::Place& at = place(kind);
    return at.has_address ? fmt::format("{} ({} byte {})", at.operation, at.region, at.offset)
                          : at.operation;
  }
  C code(size_t kind) const {
    const vgpu::Place& at = place(kind);
    return subject_.job.launches[at.launch].program->ops[at.pc].code;
  }

  // Others of the block (where somebody polls: of any) that wait elsewhere.
  std::string others(size_t kind) const {
    std::string text;
    size_t told = 0;
    for (size_t k = 0; k < kinds_.size() && told < 2; ++k) {
      if (k == kind || place(k).agent.cta != place(kind).agent.cta) continue;
      std::string thread = who(location(k));
      text += fmt::format("{}{}, which waits at line {}", told++ ? "; " : "",
                          thread.substr(0, thread.find(" of block")), location(k).line);
    }
    return text;
  }

  std::string expected(size_t kind, const explore::LastSteps& last) const {
    const std::string other = others(kind);
    switch (code(kind)) {
    case C::ld:
    case C::atom: {
      if (kind >= last.writers.size() || !last.writers[kind].known) break;
      const auto& writer = last.writers[kind];
      if (!writer.any) return "a store by another thread; none of these has made one";
      const report::Location by = step_of(subject_, found_.launch, program_, writer.step).place;
      return fmt::format("a store by another thread; the last was by {} in line {}", who(by),
                         by.line);
    }
    default: break;
    }
    return other.empty() ? "others, but none of the block is left that could come" : other;
  }

  report::Timeline chart(size_t first, const explore::LastSteps& last) const {
    report::Timeline t;
    t.stuck = true;
    const size_t end = std::min(first + 2, kinds_.size());
    for (size_t k = first; k < end; ++k) {
      t.lanes[k - first] = who(location(k));
      if (kinds_[k].count > 1) t.lanes[k - first] += fmt::format(" ×{}", kinds_[k].count);
    }
    bool told[2] = {false, false};
    for (const explore::HistoryStep& s : last.steps) {
      report::TimelineStep step = step_of(subject_, found_.launch, program_, s);
      step.sides = uint8_t(s.sides >> first & 3);
      step.barrier = s.barrier && step.sides == 3;
      if (!step.sides) continue;
      const size_t side = step.sides == 2 ? 1 : 0;
      if (step.sides != 3 && !told[side] && first + side < last.left_out.size()) {
        step.left_out = last.left_out[first + side];
        told[side] = true;
      }
      t.steps.push_back(std::move(step));
    }
    for (size_t k = first; k < end; ++k) {
      report::TimelineStep step;
      step.place = location(k);
      step.what = does(k);
      step.sides = uint8_t(1 << (k - first));
      step.waits = true;
      step.expected = expected(k, last);
      t.steps.push_back(std::move(step));
    }
    return t;
  }

  const cases::Case& subject_;
  const explore::Finding& found_;
  const report::Finding& out_;
  const ir::Program& program_;
  std::vector<Kind> kinds_;
};

} // namespace

Stuck stuck_of(const cases::Case& subject, const explore::Finding& found,
               const report::Finding& out, const explore::Options& options, bool watch) {
  const Waiting waiting(subject, found, out);
  if (waiting.empty()) return {};
  return {waiting.message(), waiting.help(),
          watch ? waiting.charts(options) : std::vector<report::Timeline>{}};
}

} // namespace assay::cli
