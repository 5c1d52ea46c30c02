// Lanes of a timeline; see lanes.hpp.
#include "cli/lanes.hpp"

#include "cli/places.hpp"
#include "ptx/module.hpp"
#include "vgpu/launch_order.hpp"

#include <fmt/format.h>

namespace assay::cli {
namespace {

const char* scope_text(ir::Scope scope) {
  switch (scope) {
  case ir::Scope::cta: return "block scope";
  case ir::Scope::cluster: return "cluster scope";
  case ir::Scope::gpu: return "device scope";
  case ir::Scope::sys: return "system scope";
  case ir::Scope::none: break;
  }
  return "";
}

const char* semantics_text(ir::Semantics semantics) {
  switch (semantics) {
  case ir::Semantics::volatile_: return "volatile";
  case ir::Semantics::relaxed: return "relaxed";
  case ir::Semantics::acquire: return "acquire";
  case ir::Semantics::release: return "release";
  case ir::Semantics::acq_rel: return "acquire-release";
  case ir::Semantics::sc: return "sequentially consistent";
  case ir::Semantics::mmio: return "mmio";
  case ir::Semantics::weak: break;
  }
  return "plain";
}

// The instruction as PTX has it, without guard and semicolon.
std::string ptx_text(const ir::Program& program, uint32_t pc) {
  const ptx::Instruction* i = program.sites[pc].instruction;
  if (!i) return ir::name(program.ops[pc].code);
  std::string text = ptx::print(*i);
  if (text.starts_with("@")) text.erase(0, text.find(' ') + 1);
  while (!text.empty() && (text.back() == ';' || text.back() == ' ' || text.back() == '\n'))
    text.pop_back();
  return text;
}

std::string strong_text(const ir::MemInfo& info, const char* what) {
  std::string out = fmt::format("{} {}", semantics_text(info.semantics), what);
  if (info.semantics != ir::Semantics::volatile_ && info.scope == ir::Scope::cta)
    out += ", block scope";
  return out;
}

// Of an operation on an mbarrier.
std::string mbarrier_text(const ir::Op& op, const explore::HistoryStep& s) {
  using C = ir::OpCode;
  const std::string object = fmt::format("mbarrier at byte {}", s.object);
  switch (op.code) {
  case C::mbarrier_inval: return "ends the " + object;
  case C::mbarrier_tx:
    return fmt::format("{} bytes, {}", op.flags & ir::kCompleteTx ? "completes" : "expects",
                       object);
  case C::mbarrier_wait:
    if (!s.answered) return "waits in vain, " + object;
    return s.phase < 0 ? "passes, no phase is complete yet, " + object
                       : fmt::format("told that phase {} is complete, {}", s.phase, object);
  case C::cp_async_arrive: return fmt::format("lets copies arrive, {}", object);
  default: return fmt::format("arrives in phase {}, {}", s.phase, object);
  }
}

// What an operation does for the order of others.
std::string what_it_does(const ir::Program& program, const explore::HistoryStep& s) {
  const uint32_t pc = s.pc;
  const ir::Op& op = program.ops[pc];
  using C = ir::OpCode;
  switch (op.code) {
  case C::bar: return op.b == ir::kNoSlot ? "barrier" : ptx_text(program, pc);
  case C::fence: return fmt::format("fence, {}", scope_text(ir::Scope(op.imm >> 8 & 255)));
  case C::bar_warp_sync: return "warp barrier";
  case C::cp_async: return "cp.async starts a copy";
  case C::cp_async_commit: return "cp.async.commit_group";
  case C::cp_async_wait:
    return op.imm == ir::kNoIndex ? "cp.async.wait_all"
                                  : fmt::format("cp.async.wait_group {}", op.imm);
  case C::cp_async_arrive:
  case C::mbarrier_arrive:
  case C::mbarrier_tx:
  case C::mbarrier_wait:
  case C::mbarrier_inval: return mbarrier_text(op, s);
  case C::ld: return strong_text(program.mem[op.c], "load");
  case C::st: return strong_text(program.mem[op.c], "store");
  case C::atom:
  case C::red: return strong_text(program.mem[op.c], "atomic");
  default: return ptx_text(program, pc);
  }
}

const char* access_text(const race::AccessInfo& info) {
  if (info.atomic) return "updates";
  return info.write ? "writes" : "reads";
}

vgpu::Place place(const cases::Case& subject, uint32_t launch, const explore::HistoryStep& step) {
  vgpu::Place at;
  at.launch = launch;
  at.pc = step.pc;
  at.agent = step.agent;
  at.agent.cta -= vgpu::launch_order(subject.job).first_cta[launch];
  at.lane = step.lane;
  return at;
}

} // namespace

report::TimelineStep step_of(const cases::Case& subject, uint32_t launch,
                             const ir::Program& program, const explore::HistoryStep& s) {
  report::TimelineStep step;
  step.place = place_of(subject, place(subject, launch, s));
  step.what = what_it_does(program, s);
  step.times = s.times;
  return step;
}

report::Timeline timeline_of(const cases::Case& subject, const explore::Finding& found,
                             const explore::History& history, const Edge& edge) {
  report::Timeline out;
  if (!history.known) return out;
  const ir::Program& program = *subject.job.launches[found.launch].program;
  for (int side = 0; side < 2; ++side) {
    explore::HistoryStep thread;
    thread.agent = history.agents[side];
    thread.lane = history.lanes[side];
    out.lanes[side] = who(place_of(subject, place(subject, found.launch, thread)));
  }
  for (const explore::HistoryStep& s : history.steps) {
    report::TimelineStep step;
    step.place = place_of(subject, place(subject, found.launch, s));
    const race::AccessInfo& info =
        (s.access & 1 ? found.conflict.first : found.conflict.second).info;
    step.what = s.copy     ? fmt::format("the copy {}", access_text(info))
                : s.access ? access_text(info)
                           : what_it_does(program, s);
    step.sides = s.sides;
    step.access = s.access;
    step.barrier = s.barrier;
    step.times = s.times;
    step.left_out = s.left_out;
    step.at_fault = s.at_fault;
    if (s.helper && step.place.thread) {
      const auto& t = step.place.thread->thread;
      step.who = fmt::format("({},{},{})", t[0], t[1], t[2]);
    }
    // Several operations of one line of source are one step to its reader.
    report::TimelineStep* last = out.steps.empty() ? nullptr : &out.steps.back();
    bool again = last && !step.access && !step.barrier && !last->access && !last->barrier &&
                 last->sides == step.sides && last->who == step.who && last->what == step.what &&
                 last->place.line == step.place.line && last->place.file == step.place.file;
    if (again)
      last->times += step.times, last->at_fault |= step.at_fault;
    else
      out.steps.push_back(std::move(step));
  }
  out.missing = edge.brief;
  out.scope = edge.scope;
  out.both_orders = found.both_orders && !found.differing.empty();
  return out;
}

} // namespace assay::cli
