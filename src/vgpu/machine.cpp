// A launch's machine: code bound to handlers, calls, events.
#include "vgpu/machine.hpp"
#include "vgpu/frames.hpp"
#include "vgpu/reach.hpp"
#include "vgpu/stage.hpp"
#include "vgpu/watch.hpp"

#include "base/check.hpp"

#include <cstring>

namespace assay::vgpu {

Machine::Machine(Stage& stage_, uint32_t index)
    : stage(stage_), job(stage.job), launch(job.launches[index]), program(*launch.program),
      launch_index(index), options(stage.options), memory(stage.memory), runtime(stage.runtime),
      policy(stage.policy), outcome(stage.outcome), detector(stage.detector.get()),
      abort(stage.abort), misses_writes(stage.misses_writes), total_ctas(uint32_t(ctas_of(launch))),
      first_cta(stage.order.first_cta[index]), runnable(stage.runnable),
      not_started(options.only_cta < total_ctas ? Admission(options.only_cta + 1, options.only_cta)
                                                : Admission(total_ctas)),
      table(stage.table), live_ctas(stage.live_ctas), stalled_agents(stage.stalled_agents),
      arms(stage.arms), changed(stage.changed), spinning(stage.spinning) {
  threads = launch.block[0] * launch.block[1] * launch.block[2];
  warps_per_cta = (threads + 31) / 32;
  place_reserved_memory();
  resident_limit = residency(launch, job.device);
  retrack_buffers.resize(job.buffers.size());

  parameters.assign(program.parameter_bytes, 0);
  for (uint32_t i = 0; i < launch.arguments.size(); ++i) {
    const Argument& a = launch.arguments[i];
    uint8_t* to = parameters.data() + program.parameters[i].offset;
    std::memcpy(to, a.bytes.data(), std::min<size_t>(a.bytes.size(), program.parameters[i].bytes));
    for (const Argument::Pointer& p : a.pointers) {
      uint64_t address = memory.buffer_address(p.buffer) + p.addend;
      std::memcpy(to + p.offset, &address, sizeof address);
    }
  }
  parameter_region.host = parameters.data();
  parameter_region.size = parameters.size();
  parameter_region.base = ir::window_base(ir::kParamWindow);
  parameter_region.read_only = true;

  if (options.one_float_order) float_sums = std::make_unique<FloatSums>();
  vector_level = &level(options.level);
  for (int mode = 0; mode < 2; ++mode) {
    code[mode].resize(program.ops.size());
    for (size_t i = 0; i < program.ops.size(); ++i) {
      const ir::Op& op = program.ops[i];
      code[mode][i] = make_exec(vector_level->handler(program, op, mode == 1, options.detect), op);
    }
    originals[mode].resize(program.ops.size());
  }
  for (const ir::Op& op : program.ops) {
    arrivals_follow_copies |= op.code == ir::OpCode::cp_async_arrive;
    counts_pending |= op.code == ir::OpCode::mbarrier_pending;
  }
  copies_when = policy.copies();
  know_barrier_numbers();
  number_fixed_addresses();
  auto ask_before = [&](uint32_t pc) {
    for (int mode = 0; mode < 2; ++mode)
      if (pc < program.ops.size() && code[mode][pc].run != vector_level->armed) {
        originals[mode][pc] = code[mode][pc].run;
        code[mode][pc].run = vector_level->armed;
      }
  };
  auto ask_before_fences = [&] {
    for (uint32_t pc = 0; pc < program.ops.size(); ++pc)
      if (is_fence_sc(program.ops[pc])) ask_before(pc);
  };
  for (const ArmState& a : arms)
    for (const race::Side* side : {&a.arm.first, &a.arm.second}) {
      if (side->agent.cta - first_cta >= total_ctas) continue;
      if ((!a.arm.missed && !a.arm.late) || a.arm.holds_fence) ask_before(side->info.pc);
      if (a.arm.holds_fence) ask_before_fences();
    }
  writes_late =
      detector && (policy.delays_writes() ||
                   std::any_of(arms.begin(), arms.end(), [](auto& a) { return a.arm.late; }));
  if (writes_late)
    for (uint32_t pc = 0; pc < program.ops.size(); ++pc)
      if (finds_late(program.ops[pc].code)) ask_before(pc);
  if (policy.delays_fences() && detector) ask_before_fences();
  bool puts_off = false;
  for (uint32_t pc = 0; pc < program.ops.size() && detector && (misses_writes || writes_late); ++pc)
    puts_off |= can_be_put_off(program, pc);
  for (uint32_t pc = 0; pc < program.ops.size() && puts_off; ++pc)
    if (ends_put_off(program, pc)) ask_before(pc);
  if (options.watch && options.watch->launch() == index && detector) {
    options.watch->begin();
    for (uint32_t pc = 0; pc < program.ops.size(); ++pc)
      if (options.watch->watches(program, pc)) ask_before(pc);
  }
  if (options.reach)
    for (uint32_t pc : options.reach->asked(index)) ask_before(pc);
  hash_path = options.detect && options.hash_path;
  prepare_ctas();
}

// Nearly every barrier has a literal number: one more than it goes to the upper half of `imm`.
void Machine::know_barrier_numbers() {
  size_t next = 0; // functions lie one after another
  const ir::Function* f = nullptr;
  for (size_t i = 0; i < program.ops.size(); ++i) {
    while (next < program.functions.size() && program.functions[next].entry <= i)
      f = &program.functions[next++];
    const ir::Op& op = program.ops[i];
    if (op.code != ir::OpCode::bar || !f) continue;
    for (const ir::Constant& c : f->constants)
      if (c.slot == op.a && c.source == ir::Constant::Source::value && c.value < 16)
        for (auto& mode : code) mode[i].op.imm |= (c.value + 1) << 32;
  }
}

void Machine::number_fixed_addresses() {
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const ir::Op& op = program.ops[i];
    if (op.code != ir::OpCode::ld && op.code != ir::OpCode::st) continue;
    const uint8_t fixed = program.mem[op.c].fixed;
    for (auto& mode : code)
      (op.code == ir::OpCode::ld ? mode[i].op.b : mode[i].op.d) =
          SlotPlace(fixed ? 1u << (fixed - 1) : 0);
  }
}

Machine::~Machine() = default;

static constexpr uint32_t kNoJoin = 0xffffffff; // no operation

void Machine::call(Warp& w, uint32_t pc, uint32_t function) {
  Group& g = *w.group;
  constexpr size_t kMaxDepth = 4096;
  const ir::Function& caller = program.functions[g.function];
  uint32_t regs_base = frame_place(program, w, g, function, pc + 1);
  uint32_t local_base = g.local_base + caller.local_bytes;
  local_base = (local_base + 15) & ~15u;
  // The registers of all frames of a warp, as much as the stacks of its lanes can have.
  constexpr uint64_t kMaxRegisters = (uint64_t(512) << 10) * 32;
  uint64_t registers = (uint64_t(regs_base) + program.functions[function].slots) * 128;
  if (g.frames.size() >= kMaxDepth || registers > kMaxRegisters ||
      !local_reserve(w, local_base + program.functions[function].local_bytes)) {
    fault(w, pc, uint32_t(__builtin_ctz(g.lanes)), EventKind::illegal_operation,
          "stack overflow: the call depth exceeds the thread's stack");
    return;
  }
  g.frames.push_back({pc + 1, g.regs_base, g.local_base, g.function});
  // Reconvergence points of the caller mean nothing at the same place of a deeper activation.
  if (!g.joins.empty()) g.joins.push_back({kNoJoin, 0, 0});
  enter_function(w, g, function, regs_base, local_base);
}

void Machine::call_indirect(Warp& w, uint32_t pc, char* regs, ir::Slot slot) {
  Group& g = *w.group;
  const auto& target = lanes<uint64_t>(regs, slot);
  uint32_t first = uint32_t(__builtin_ctz(g.lanes)), same = 0;
  for (uint32_t i = 0; i < 32; ++i)
    if (g.lanes >> i & 1 && target.v[i] == target.v[first]) same |= 1u << i;
  uint64_t offset = ir::offset_of(target.v[first]);
  if (ir::window_of(target.v[first]) != ir::kFunctionWindow || offset % 16 ||
      offset / 16 >= program.functions.size()) {
    fault(w, pc, first, EventKind::illegal_operation,
          "indirect call to an address that is no function");
    return;
  }
  if (hash_path) path(target.v[first]), path(same);
  // Lanes with another target stay before the call and take it on their own.
  if (same != g.lanes) diverge(w, same, pc, pc, ir::kNoIndex);
  call(w, pc, uint32_t(offset / 16));
}

bool Machine::ret(Warp& w) {
  Group& g = *w.group;
  if (g.frames.empty()) return false;
  Frame f = g.frames.back();
  g.frames.pop_back();
  // What the callee has not met at, and the mark of its call; none when the records were cleared
  // since, which took the caller's with them.
  for (bool mark = false; !mark && !g.joins.empty(); g.joins.pop_back())
    mark = g.joins.back().pc == kNoJoin;
  g.pc = f.return_pc;
  g.regs_base = f.regs_base;
  g.local_base = f.local_base;
  g.function = f.function;
  return true;
}

void Machine::note(const char* kind, std::string message, Place place) {
  for (const RunNote& n : outcome.notes)
    if (n.kind == kind && n.places[0].pc == place.pc) return;
  outcome.notes.push_back({kind, std::move(message), {std::move(place)}});
}

Place Machine::place(const Warp& w, uint32_t pc, uint32_t lane, std::string operation) const {
  Place p;
  p.launch = launch_index;
  p.pc = pc;
  p.agent = agent(w);
  p.agent.cta -= first_cta; // as the launch numbers them
  p.lane = lane;
  p.operation = std::move(operation);
  return p;
}

void Machine::fault(Warp& w, uint32_t pc, uint32_t lane, EventKind kind, std::string message,
                    bool has_address, std::string region, uint64_t offset) {
  if (abort) return; // the first finding of a run; what follows would only repeat it
  Place p = place(w, pc, lane, "");
  p.has_address = has_address;
  p.region = std::move(region);
  p.offset = offset;
  outcome.events.push_back({kind, std::move(message), {p}});
  abort = true;
}

} // namespace assay::vgpu
