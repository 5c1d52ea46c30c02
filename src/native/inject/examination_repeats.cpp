// Repeats of a launch: the conflict pass, plain repeats, repeats with delays; see examination.hpp.
#include "native/inject/examination.hpp"

#include "base/random.hpp"

#include <algorithm>

namespace assay::native {
namespace {

constexpr uint32_t kPairSlots = 1 << 16;
constexpr uint64_t kMostCellBytes = uint64_t(16) << 30;

} // namespace

void Examination::repeat_all() {
  const Settings& settings = tool_.options().settings;
  if (settings.conflict_pass)
    if (std::string trouble = map_conflicts(); !trouble.empty()) report_.notes.push_back(trouble);
  lap("conflicts");
  if (report_.differing_bytes) return;
  schemes_ = schemes_for(request_->launch, evidence_.inventory);
  const bool same = plain_repeats();
  lap("plain");
  if (same && !schemes_.empty()) {
    const std::string trouble = patched_ ? "" : device_->patch(request_->module);
    if (trouble.empty()) {
      patched_ = true;
      perturbed_repeats();
    } else {
      report_.notes.push_back("no repeats with delays: " + trouble);
    }
  }
  lap("perturbed");
}

bool Examination::plain_repeats() {
  // Without patches: faster, and as the kernel is.
  if (std::string trouble = Device::unpatch(request_->module); !trouble.empty()) {
    report_.notes.push_back("patches could not be taken out for the plain repeats: " + trouble);
  } else {
    patched_ = false;
  }
  for (uint32_t i = 0; i < tool_.options().settings.plain; ++i) {
    Run run;
    DeviceState state = blank_state();
    if (!this->run(state, run)) return false;
  }
  return true;
}

void Examination::perturbed_repeats() {
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
  CUresult r = actions_.on_device(scheme.actions.size());
  for (uint32_t i = 0; i < settings.perturbed && r == CUDA_SUCCESS; ++i) {
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

bool Examination::run(DeviceState& state, Run& run) {
  const auto begin = std::chrono::steady_clock::now();
  const Settings& settings = tool_.options().settings;
  if (std::string trouble = memory_->restore_before(); !trouble.empty()) end_process(trouble);
  CUresult r = CUDA_SUCCESS;
  if (settings.scrub) {
    run.scrub_pattern = uint32_t(random_at(settings.seed, 1, ++pattern_)) | 1;
    uint32_t reached = 0;
    r = device_->scrub(run.scrub_pattern, reached);
    least_scrubbed_ = std::min(least_scrubbed_, reached);
    // Once more where the kernel's own blocks will lie: their share of the memory that L1 and
    // shared memory divide may be another than that of one large block.
    if (r == CUDA_SUCCESS && device_->scrub_as(request_->launch.block.count(), shared_bytes_,
                                               run.scrub_pattern) != CUDA_SUCCESS)
      unscrubbed_ = true;
  }
  if (r == CUDA_SUCCESS) r = upload(state);
  thread_state.userdata = patched_ ? state_.at() : 0;
  if (r == CUDA_SUCCESS) r = request_->repeat();
  thread_state.userdata = 0;
  const std::string how = run.perturbed ? " with delays (" + run.scheme + ")" : " without delays";
  if (r != CUDA_SUCCESS) {
    report_.notes.push_back("a repeat could not be launched: " + text_of(r));
    return false;
  }
  const auto limit =
      std::chrono::milliseconds(1000 * settings.limit_seconds + uint64_t(200 * own_ms_));
  if (!Device::wait(request_->stream, limit, r))
    end_process("a repeat" + how + " did not end within " + std::to_string(limit.count() / 1000) +
                " s, though the process's own run did");
  if (r != CUDA_SUCCESS) {
    report_.verdict = Verdict::fail;
    report_.kind = "nondeterministic";
    end_process("a repeat" + how + " ended with " + text_of(r) +
                ", though the process's own run did not");
  }
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
  if (count == 0) return "";
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
  for (int shared = 0; shared < 2; ++shared)
    for (uint32_t scope = 0; scope < kScopes; ++scope)
      if (inventory.map.counts[shared][scope])
        figure(std::string("conflicts.") + (shared ? "shared " : "global ") +
                   scope_name(Scope(scope)),
               inventory.map.counts[shared][scope]);
  figure("conflict pairs", inventory.map.pairs.size());
  if (state.cells_lost) figure("conflict cells lost", state.cells_lost);
  if (!same) { // the difference was found by this very run: now the pairs are known
    report_.pairs.clear();
    found_difference(run);
  }
  return inventory.map.complete ? "" : "the conflict pass was too small: all accesses were delayed";
}

} // namespace assay::native
