// Repeats of a launch: the conflict pass, plain repeats, repeats with delays; see examination.hpp.
#include "native/inject/examination.hpp"

#include "base/random.hpp"

#include <algorithm>

namespace assay::native {
namespace {

constexpr uint32_t kPairSlots = 1 << 16;
constexpr uint64_t kMostRefilled = 1 << 22; // blocks
constexpr uint64_t kMostCellBytes = uint64_t(16) << 30;

} // namespace

void Examination::repeat_all() {
  const Settings& settings = tool_.options().settings;
  if (request_->launch.graph) return repeat_graph();
  if (settings.conflict_pass)
    if (std::string trouble = map_conflicts(); !trouble.empty()) report_.notes.push_back(trouble);
  lap("conflicts");
  if (report_.differing_bytes) return;
  schemes_ = schemes_for(request_->launch, evidence_.inventory, evidence_.code.tensor_loads);
  const bool same = plain_repeats();
  lap("plain");
  if (same) outside_repeats();
  lap("outside");
  if (report_.differing_bytes || !same) return;
  const bool uses_shared = shared_bytes_ != 0 && settings.scrub;
  if (!schemes_.empty() || uses_shared) {
    const std::string trouble = patched_ ? "" : patch_modules();
    if (!trouble.empty())
      report_.notes.push_back("no repeats with delays: " + trouble);
    else
      perturbed_repeats();
  }
  lap("perturbed");
}

// A graph: repeats of the process's own, then of one that is made with patched kernels. The first
// of those is observed.
void Examination::repeat_graph() {
  const bool same = plain_repeats();
  lap("plain");
  if (same) outside_repeats();
  lap("outside");
  if (report_.differing_bytes || !same) return;
  evidence_.bare = graph_with_patches();
  if (evidence_.bare.empty()) {
    Run run;
    DeviceState state = blank_state();
    state.counting = 1;
    if (!this->run(state, run)) return;
    take_inventory(state);
    if (evidence_.inventory.accesses() == 0 && !request_->kernels.empty())
      evidence_.bare = "no patch took effect in its kernels";
    schemes_ = schemes_for(request_->launch, evidence_.inventory, evidence_.code.tensor_loads);
    if (evidence_.bare.empty() && !schemes_.empty()) perturbed_repeats();
  }
  lap("perturbed");
}

std::string Examination::graph_with_patches() {
  const std::vector<int> before = residency();
  if (std::string problem = patch_modules(); !problem.empty()) return problem;
  tool_.watch_launches(true);
  watching_ = true;
  if (fits_only_plain(before)) return "a grid is resident together only without instrumentation";
  if (std::string problem = make_tables(); !problem.empty()) return problem;
  give_state(state_.at());
  thread_state.userdata = state_.at();
  std::string problem = request_->make_graph_anew();
  thread_state.userdata = 0;
  return problem;
}

void Examination::give_state(CUdeviceptr state) {
  for (const KernelCode& kernel : request_->kernels)
    if (api.sanitizerSetCallbackData(kernel.function, reinterpret_cast<const void*>(state)) !=
        SANITIZER_SUCCESS)
      tool_.debug("no data for patches of " + kernel.symbol);
}

void Examination::outside_repeats() {
  const uint32_t most = tool_.options().settings.outside;
  for (uint32_t i = 0; i < most; ++i) {
    Run run;
    run.outside = true;
    pressure_ = Device::Pressure(i % Device::kPressures);
    run.scheme = Device::pressure_name(pressure_);
    DeviceState state = blank_state();
    if (!this->run(state, run)) return;
  }
  if (unpressed_) report_.notes.push_back("no memory for pressure from outside");
}

bool Examination::plain_repeats() {
  // Without patches: faster, and as the kernel is.
  if (std::string trouble = patched_ ? unpatch_modules() : ""; !trouble.empty())
    report_.notes.push_back("patches could not be taken out for the plain repeats: " + trouble);
  for (uint32_t i = 0; i < tool_.options().settings.plain; ++i) {
    Run run;
    DeviceState state = blank_state();
    if (!this->run(state, run)) return false;
  }
  return true;
}

void Examination::perturbed_repeats() {
  // Where nothing is to be delayed, one repeat with each block's shared memory refilled at its
  // beginning: what a kernel reads there before it writes, it must not depend on.
  if (schemes_.empty()) {
    Run run;
    DeviceState state = blank_state();
    this->run(state, run);
    return;
  }
  for (const Scheme& scheme : schemes_)
    if (!perturb(scheme)) return;
}

bool Examination::perturb(const Scheme& scheme) {
  const Settings& settings = tool_.options().settings;
  const uint64_t blocks = request_->launch.grid.count();
  uint64_t accesses = 0, delayed = 0, waited = 0;
  for (size_t i = 0; i < scheme.actions.size(); ++i)
    if (scheme.actions[i]) accesses += evidence_.inventory.sites[i].lanes;
  uint32_t shortest = settings.cycles;
  const auto begin = std::chrono::steady_clock::now();
  const auto cheap = std::chrono::milliseconds(settings.extra_ms),
             dear = std::chrono::milliseconds(settings.long_ms);
  CUresult r = actions_.on_device(scheme.actions.size());
  for (uint32_t i = 0; i < settings.perturbed + settings.extra && r == CUDA_SUCCESS; ++i) {
    const auto spent = std::chrono::steady_clock::now() - begin;
    if (spent > (i < settings.perturbed ? dear : cheap) && i >= std::min(settings.perturbed, 4u))
      break;
    const Variation variation = vary(scheme, settings, i);
    r = api.cuMemcpyHtoDAsync(actions_.at(), variation.actions.data(), variation.actions.size(),
                              device_->stream());
    Run run;
    run.perturbed = true;
    run.scheme = scheme.name();
    DeviceState state = blank_state();
    state.actions = reinterpret_cast<const uint8_t*>(actions_.at());
    state.seed = uint32_t(random_at(settings.seed, report_.number, evidence_.runs.size()));
    state.cycles = scaled_cycles(variation.cycles, request_->launch, accesses);
    shortest = std::min(shortest, state.cycles);
    state.probability = variation.probability;
    run.most_cycles = (accesses / 32 + 1) * state.cycles;
    state.blocks_hit =
        settings.delayed_blocks && settings.delayed_blocks < blocks
            ? uint32_t(std::max<uint64_t>(settings.delayed_blocks * 65536 / blocks, 1))
            : 65536;
    if (r == CUDA_SUCCESS && !this->run(state, run)) return false;
    delayed += run.delayed;
    waited += run.delay_cycles;
  }
  if (r != CUDA_SUCCESS) report_.notes.push_back("no memory for a table of delays");
  if (shortest < settings.cycles)
    report_.notes.push_back(scheme.name() + ": delays shortened to " + std::to_string(shortest) +
                            " cycles, since there are many");
  figure("delayed." + scheme.name(), delayed);
  figure("cycles." + scheme.name(), waited);
  figure("instructions." + scheme.name(), scheme.instructions);
  return r == CUDA_SUCCESS;
}

CUresult Examination::refill(DeviceState& state, Run& run) {
  run.scrub_pattern = uint32_t(random_at(tool_.options().settings.seed, 1, ++pattern_)) | 1;
  uint32_t reached = 0;
  CUresult r = device_->scrub(run.scrub_pattern, reached);
  least_scrubbed_ = std::min(least_scrubbed_, reached);
  if (r != CUDA_SUCCESS || shared_bytes_ == 0) return r;
  if (!patched_) {
    // Once more where the kernel's own blocks will lie: their share of the memory that L1 and
    // shared memory divide may be another than that of one large block.
    if (device_->scrub_as(request_->launch.block.count(), shared_bytes_, run.scrub_pattern) !=
        CUDA_SUCCESS)
      unscrubbed_ = true;
    return CUDA_SUCCESS;
  }
  // A graph's kernels have blocks of the same numbers. In a cluster the patch at the beginning of a
  // block ended with an illegal instruction (H200, driver 580).
  if (request_->launch.graph || request_->launch.cluster.count() > 1) return CUDA_SUCCESS;
  // With patches: in each block, before its first instruction.
  const uint64_t blocks = std::min<uint64_t>(request_->launch.grid.count(), kMostRefilled);
  if (refilled_.size() < blocks * 4) r = refilled_.on_device(blocks * 4);
  if (r == CUDA_SUCCESS) r = api.cuMemsetD8Async(refilled_.at(), 0, blocks * 4, device_->stream());
  state.refill_flags = reinterpret_cast<uint32_t*>(refilled_.at());
  state.refill_blocks = uint32_t(blocks);
  state.refill_pattern = run.scrub_pattern;
  return r;
}

bool Examination::run(DeviceState& state, Run& run) {
  const auto begin = std::chrono::steady_clock::now();
  const Settings& settings = tool_.options().settings;
  if (std::string trouble = memory_->restore_before(); !trouble.empty()) end_process(trouble);
  CUresult r = settings.scrub ? refill(state, run) : CUDA_SUCCESS;
  if (r == CUDA_SUCCESS) r = upload(state);
  if (r == CUDA_SUCCESS && run.outside) {
    // Twice as long as a repeat takes, within bounds.
    const uint64_t length = uint64_t(std::clamp(plain_ms_ * 2, 0.2, 20.0) * 1e6);
    if (device_->press(pressure_, length, run.scrub_pattern) != CUDA_SUCCESS) unpressed_ = true;
  }
  const auto launched = std::chrono::steady_clock::now();
  thread_state.userdata = patched_ ? state_.at() : 0;
  if (r == CUDA_SUCCESS) r = request_->repeat();
  thread_state.userdata = 0;
  const std::string how = run.perturbed ? " with delays (" + run.scheme + ")"
                          : run.outside ? " under pressure from outside (" + run.scheme + ")"
                                        : " without delays";
  if (r != CUDA_SUCCESS) {
    report_.notes.push_back("a repeat could not be launched: " + text_of(r));
    return false;
  }
  const auto limit =
      std::chrono::milliseconds(1000 * settings.limit_seconds + uint64_t(200 * own_ms_));
  if (!Device::wait(request_->stream, limit, r)) {
    if (hangs_by_itself(run, plain_ms_ > 0 ? settings.plain : 0, uint64_t(limit.count()))) {
      report_.verdict = Verdict::fail;
      report_.kind = "hang";
    }
    end_process("a repeat" + how + " did not end within " + std::to_string(limit.count() / 1000) +
                " s, though the process's own run did");
  }
  if (r != CUDA_SUCCESS) {
    report_.verdict = Verdict::fail;
    report_.kind = "nondeterministic";
    end_process("a repeat" + how + " ended with " + text_of(r) +
                ", though the process's own run did not");
  }
  if (!run.perturbed && !run.outside)
    plain_ms_ =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - launched)
            .count();
  Difference difference;
  r = download(state);
  std::string trouble = r == CUDA_SUCCESS ? memory_->compare(difference) : text_of(r);
  if (!trouble.empty()) end_process(trouble);
  run.differing_bytes = difference.bytes;
  run.delayed = state.delayed;
  run.delay_cycles = state.delay_cycles;
  run.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  evidence_.runs.push_back(run);
  if (!difference.bytes) return true;
  report_.differing_bytes = difference.bytes;
  report_.place = name_place(difference.region, difference.offset);
  found_difference(run);
  return false;
}

std::string Examination::map_conflicts() {
  Inventory& inventory = evidence_.inventory;
  size_t device_free = 0, total = 0;
  if (api.cuMemGetInfo(&device_free, &total) != CUDA_SUCCESS) return "";
  const uint64_t room = device_free > kDeviceReserve ? device_free - kDeviceReserve : 0;
  const uint64_t count = cells_for(inventory, std::min(room, kMostCellBytes));
  if (count == 0 || request_->launch.graph) return "";
  CUresult r = cells_.on_device(count * sizeof(Cell));
  if (r == CUDA_SUCCESS) r = pairs_.on_device(kPairSlots * sizeof(PairSlot));
  if (r == CUDA_SUCCESS)
    r = api.cuMemsetD8Async(cells_.at(), 0, count * sizeof(Cell), device_->stream());
  if (r == CUDA_SUCCESS)
    r = api.cuMemsetD8Async(pairs_.at(), 0, kPairSlots * sizeof(PairSlot), device_->stream());
  if (r != CUDA_SUCCESS) return "no memory for the conflict pass";
  DeviceState state = blank_state();
  state.cells = reinterpret_cast<Cell*>(cells_.at());
  state.cell_mask = count - 1;
  state.pairs = reinterpret_cast<PairSlot*>(pairs_.at());
  state.pair_mask = kPairSlots - 1;
  state.shared_blocks = shared_blocks_for(inventory);
  state.line_share = line_share_for(inventory, memory_->bytes(), count);
  const Settings& settings = tool_.options().settings;
  const uint64_t blocks = request_->launch.grid.count();
  if (settings.trace_blocks && settings.trace_blocks < blocks && blocks <= kBlockMask) {
    state.trace_blocks = settings.trace_blocks;
    state.trace_total = uint32_t(blocks);
    state.trace_factor = step_through(blocks, settings.seed);
    state.shared_blocks = 65536;
  }
  if (state.shared_blocks < 65536)
    figure("conflict pass, shared memory of blocks in 65536", state.shared_blocks);
  Run run;
  const bool same = this->run(state, run);
  std::vector<PairSlot> slots(kPairSlots);
  r = api.cuMemcpyDtoHAsync(slots.data(), pairs_.at(), kPairSlots * sizeof(PairSlot),
                            device_->stream());
  if (r == CUDA_SUCCESS) r = device_->finish();
  cells_.reset();
  pairs_.reset();
  if (r != CUDA_SUCCESS) return "the conflict pass could not be read: " + text_of(r);
  inventory.mapped = true;
  inventory.map = make_map(slots, state.cells_lost, state.pairs_lost);
  if (state.line_share || state.trace_total) inventory.map.complete = false;
  for (int shared = 0; shared < 2; ++shared)
    for (uint32_t scope = 0; scope < kScopes; ++scope)
      if (inventory.map.counts[shared][scope])
        figure(std::string("conflicts.") + (shared ? "shared " : "global ") +
                   scope_name(Scope(scope)),
               inventory.map.counts[shared][scope]);
  figure("conflict pairs", inventory.map.pairs.size());
  if (state.clashes) {
    figure("clashes of lanes", state.clashes);
    report_.notes.push_back("lanes of a warp store different values to the same bytes by one "
                            "instruction, the write at " +
                            describe_site(state.clash_site) + ", " + std::to_string(state.clashes) +
                            " times: which of them stays is not defined, though this GPU may "
                            "always keep the same one");
  }
  if (state.cells_lost) figure("conflict cells lost", state.cells_lost);
  if (!same) { // the difference was found by this very run: now the pairs are known
    report_.pairs.clear();
    found_difference(run);
  }
  if (state.line_share)
    return "the conflict pass looked at " + std::to_string(100 * state.line_share / 65536) +
           " % of its memory: all accesses were delayed";
  return inventory.map.complete ? "" : "the conflict pass was too small: all accesses were delayed";
}

} // namespace assay::native
