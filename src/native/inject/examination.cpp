// The course of an examination, but for the repeats; see examination.hpp and docs/native.md.
#include "native/inject/examination.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace assay::native {
namespace {

uint64_t host_memory_free() {
  std::FILE* file = std::fopen("/proc/meminfo", "r");
  if (!file) return 0;
  char line[256];
  unsigned long long kib = 0;
  while (std::fgets(line, sizeof line, file))
    if (std::sscanf(line, "MemAvailable: %llu kB", &kib) == 1) break;
  std::fclose(file);
  return uint64_t(kib) * 1024;
}

std::string hex(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

} // namespace

Examination::Examination(Tool& tool, std::unique_ptr<Request> request, uint64_t number,
                         CUcontext context)
    : tool_(tool), request_(std::move(request)), context_(context),
      begin_(std::chrono::steady_clock::now()), lap_(begin_) {
  report_.process = uint64_t(::getpid());
  report_.number = number;
  report_.launch = request_->launch;
}

Examination::~Examination() { release(); }

double Examination::elapsed() const {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_)
      .count();
}

void Examination::figure(const std::string& name, uint64_t value) {
  report_.figures.emplace_back(name, std::to_string(value));
}

void Examination::lap(const std::string& name) {
  const auto now = std::chrono::steady_clock::now();
  char text[32];
  std::snprintf(text, sizeof text, "%.3f",
                std::chrono::duration<double, std::milli>(now - lap_).count());
  report_.figures.emplace_back("ms." + name, text);
  lap_ = now;
}

void Examination::release() {
  thread_state.userdata = 0;
  if (request_->launch.graph && patched_) {
    request_->use_own_graph();
    give_state(0);
  }
  if (patched_)
    if (std::string problem = unpatch_modules(); !problem.empty())
      tool_.debug("unpatch: " + problem);
  if (watching_) tool_.watch_launches(false);
  watching_ = false;
  for (Buffer* buffer : buffers_) buffer->reset();
  if (device_) device_->relax();
  memory_.reset();
  if (holding_) tool_.gate().release();
  holding_ = false;
}

void Examination::abandon() {
  thread_state.userdata = 0;
  for (CUmodule module : request_->modules()) tool_.leave_patched(module);
  patched_ = false;
  if (watching_) tool_.watch_launches(false);
  watching_ = false;
  // The patches go on using their state, and freeing memory could wait for the launch: both stay.
  for (Buffer* buffer : buffers_) buffer->forget();
  abandoned_ = memory_.release();
  if (holding_) tool_.gate().release();
  holding_ = false;
}

void Examination::report() {
  report_.milliseconds = elapsed();
  tool_.channel().send(to_message(report_));
}

void Examination::end_process(const std::string& why) {
  report_.reason = why;
  report_.notes.push_back("the process was ended: its device cannot be used any more");
  report();
  tool_.channel().send(Message{"ended", {}}.add("process", report_.process).add("reason", why));
  ::_exit(1);
}

bool Examination::begin() {
  tool_.channel().send(Message{"examining", {}}.add("name", request_->launch.name));
  const std::string problem = prepare();
  report_.launch = request_->launch;
  if (problem.empty()) return true;
  report_.reason = problem;
  release();
  report();
  return false;
}

void Examination::look_at_code(Circumstances& circumstances) {
  bool known = !request_->kernels.empty() || request_->launch.graph;
  evidence_.code.known = known;
  for (CUmodule module : request_->modules()) {
    Image& image = images_[module];
    image.bytes = tool_.image(module);
    image.cubin = std::make_unique<Cubin>(image.bytes);
  }
  for (const KernelCode& kernel : request_->kernels) {
    const Cubin& cubin = *images_[kernel.module].cubin;
    const std::string_view code = cubin.ok() ? cubin.code(kernel.symbol) : std::string_view();
    known = known && !code.empty();
    evidence_.code.add(examine_sass(reinterpret_cast<const uint8_t*>(code.data()), code.size()));
    if (!cubin.ok()) continue;
    for (std::string& name : cubin.externals(kernel.symbol))
      circumstances.externals.push_back(std::move(name));
  }
  evidence_.code.known = known;
  if (!known)
    report_.notes.push_back("its machine code was not found: what it reads and stores in ways that "
                            "patches do not see is unknown");
  circumstances.code = evidence_.code;
  evidence_.alone = request_->launch.programmatic;
  if (!request_->launch.graph) cubin_ = images_[request_->module].cubin.get();
}

void Examination::add_variables(std::vector<Allocation>& all) const {
  AllocationTable table;
  for (const Allocation& allocation : all) table.add(allocation);
  for (const auto& [module, image] : images_)
    for (const std::string& name :
         image.cubin->ok() ? image.cubin->variables() : std::vector<std::string>()) {
      CUdeviceptr address = 0;
      size_t size = 0;
      if (api.cuModuleGetGlobal(&address, &size, module, name.c_str()) != CUDA_SUCCESS) continue;
      if (!table.mark(address, kModuleMemory)) table.add({address, size, kModuleMemory, 0});
    }
  all = table.all();
}

std::string Examination::come_to_rest() {
  const auto limit = std::chrono::milliseconds(200 * tool_.options().settings.limit_seconds);
  holding_ = tool_.gate().hold(limit);
  if (!holding_) {
    tool_.gave_up();
    return "talks to others: another host thread stayed inside the driver";
  }
  const std::string problem = tool_.quiesce(request_->stream);
  lap("quiesce");
  return problem;
}

std::string Examination::prepare() {
  Request& request = *request_;
  Circumstances circumstances;
  // Nothing may be loaded and no memory touched before the device is at rest.
  if (std::string why = reason_against(request.launch, circumstances); !why.empty()) return why;
  if (std::string problem = come_to_rest(); !problem.empty()) return problem;
  if (std::string problem = request.resolve(); !problem.empty()) return problem;
  for (CUmodule module : request.modules())
    if (tool_.left_patched(module))
      return "another launch of its module has not ended since it was examined";
  look_at_code(circumstances);
  circumstances.parameters_known = request.parameters_known;
  if (std::string why = reason_against(request.launch, circumstances); !why.empty()) return why;
  std::string problem;
  device_ = tool_.device(context_, problem);
  if (!device_) return problem;
  std::vector<Allocation> all = tool_.allocations(context_);
  add_variables(all);
  memory_ = std::make_unique<Memory>(*device_);
  problem = memory_->reach(all, request.arguments, request.launch.graph);
  if (!problem.empty()) return problem;
  circumstances.reachable = memory_->regions();
  if (std::string why = reason_against(request.launch, circumstances); !why.empty()) return why;
  lap("reach");
  if (problem = memory_->copy_before(host_memory_free()); !problem.empty()) return problem;
  report_.snapshot_bytes = memory_->bytes();
  if (memory_->on_host())
    report_.notes.push_back("copies lie in host memory: the device is too full");
  lap("copy");
  // A graph's own run is without patches: it was made without them.
  return request.launch.graph ? "" : patch();
}

std::string Examination::patch_modules() {
  for (CUmodule module : request_->modules()) {
    patched_ = true; // one of them, at least
    if (std::string problem = device_->patch(module); !problem.empty()) return problem;
  }
  return "";
}

std::string Examination::unpatch_modules() {
  std::string problem;
  for (CUmodule module : request_->modules())
    if (std::string one = Device::unpatch(module); !one.empty()) problem = one;
  if (problem.empty()) patched_ = false;
  return problem;
}

// How many blocks of each kernel a multiprocessor holds at a time, as the module now is.
std::vector<int> Examination::residency() const {
  std::vector<int> out;
  for (const KernelCode& kernel : request_->kernels) {
    int blocks = 0;
    api.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.function, int(kernel.threads),
                                                    kernel.shared_bytes);
    out.push_back(blocks);
  }
  return out;
}

// Rule 3: a grid that counts on being resident as a whole must stay so.
bool Examination::fits_only_plain(const std::vector<int>& before) {
  const std::vector<int> after = residency();
  for (size_t i = 0; i < before.size(); ++i) {
    const uint64_t plain = uint64_t(before[i]) * device_->processors(),
                   patched = uint64_t(after[i]) * device_->processors();
    if (before.size() == 1) {
      figure("occupancy.plain", uint64_t(before[i]));
      figure("occupancy.patched", uint64_t(after[i]));
    }
    const uint64_t blocks = request_->kernels[i].blocks;
    if (before[i] > 0 && blocks <= plain && blocks > patched) return true;
  }
  return false;
}

std::string Examination::patch() {
  const std::vector<int> before = residency();
  if (std::string problem = patch_modules(); !problem.empty()) return problem;
  tool_.watch_launches(true);
  watching_ = true;
  for (const KernelCode& kernel : request_->kernels) {
    int shared = 0;
    if (api.cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel.function) ==
        CUDA_SUCCESS)
      shared_bytes_ = std::max(shared_bytes_, uint32_t(shared) + kernel.shared_bytes);
  }
  if (fits_only_plain(before)) return "its grid is resident together only without instrumentation";
  if (std::string problem = make_tables(); !problem.empty()) return problem;
  DeviceState state = blank_state();
  state.counting = 1;
  if (CUresult r = upload(state); r != CUDA_SUCCESS)
    return "no memory for the tables of the patches: " + text_of(r);
  thread_state.userdata = state_.at();
  lap("patch");
  return "";
}

std::string Examination::make_tables() {
  const Launch& l = request_->launch;
  for (const std::string& name : device_->missing_classes())
    report_.notes.push_back("not observed by this sanitizer library: " + name);
  // All instructions of a graph's kernels are one: its delays are everywhere.
  if (l.graph || api.sanitizerGetFunctionPcAndSize(request_->module, l.symbol.c_str(), &code_begin_,
                                                   &code_size_) != SANITIZER_SUCCESS) {
    code_begin_ = 0;
    code_size_ = 0;
  }
  const uint32_t sites = uint32_t(std::min<uint64_t>(code_size_ / 16, kSiteMask - 1));
  const std::vector<AddressRange> ranges = joined_ranges(memory_->regions());
  range_count_ = uint32_t(ranges.size());
  CUresult r = state_.on_device(sizeof(DeviceState));
  if (r == CUDA_SUCCESS) r = sites_.on_device((sites + 1) * sizeof(Site));
  if (r == CUDA_SUCCESS) r = ranges_.on_device(ranges.size() * sizeof(AddressRange));
  if (r == CUDA_SUCCESS && !ranges.empty())
    r = api.cuMemcpyHtoDAsync(ranges_.at(), ranges.data(), ranges.size() * sizeof(AddressRange),
                              device_->stream());
  if (r == CUDA_SUCCESS)
    r = api.cuMemsetD8Async(sites_.at(), 0, (sites + 1) * sizeof(Site), device_->stream());
  return r == CUDA_SUCCESS ? "" : "no memory for the tables of the patches: " + text_of(r);
}

DeviceState Examination::blank_state() const {
  DeviceState state;
  std::memset(&state, 0, sizeof state);
  state.lowest_stray = ~0ull;
  state.code_begin = code_begin_;
  state.site_count = uint32_t(std::min<uint64_t>(code_size_ / 16, kSiteMask - 1));
  state.sites = reinterpret_cast<Site*>(sites_.at());
  state.writable = reinterpret_cast<const AddressRange*>(ranges_.at());
  state.writable_count = range_count_;
  return state;
}

CUresult Examination::upload(const DeviceState& state) {
  if (!state_.at()) return CUDA_SUCCESS; // nothing is patched: repeats of a graph
  const CUresult r = api.cuMemcpyHtoDAsync(state_.at(), &state, sizeof state, device_->stream());
  return r == CUDA_SUCCESS ? device_->finish() : r;
}

CUresult Examination::download(DeviceState& state) {
  if (!state_.at()) return CUDA_SUCCESS;
  const CUresult r = api.cuMemcpyDtoHAsync(&state, state_.at(), sizeof state, device_->stream());
  return r == CUDA_SUCCESS ? device_->finish() : r;
}

void Examination::finish(CUresult own_result) {
  thread_state.userdata = 0;
  std::string problem;
  if (own_result != CUDA_SUCCESS)
    problem = "the launch itself failed: " + text_of(own_result);
  else
    problem = observe();
  if (problem.empty()) {
    repeat_all();
    if (std::string trouble = memory_->restore_after(); !trouble.empty()) end_process(trouble);
    lap("restore");
    evidence_.schemes = schemes_.size();
    const Decision decision = decide(evidence_);
    report_.verdict = decision.verdict;
    report_.kind = decision.kind;
    report_.reason = decision.reason;
    report_.notes.insert(report_.notes.end(), decision.notes.begin(), decision.notes.end());
    for (const Run& run : evidence_.runs)
      ++(run.perturbed ? report_.perturbed_runs : report_.plain_runs);
    if (unscrubbed_)
      report_.notes.push_back("shared memory was not refilled in the kernel's own layout");
    if (tool_.options().settings.scrub && least_scrubbed_ < device_->processors())
      report_.notes.push_back("shared memory was refilled on " + std::to_string(least_scrubbed_) +
                              " of " + std::to_string(device_->processors()) + " multiprocessors");
  } else {
    report_.reason = problem;
  }
  if (unfinished_)
    abandon();
  else
    release();
  lap("release");
  report();
}

std::string Examination::observe() {
  const auto limit = std::chrono::seconds(6 * tool_.options().settings.limit_seconds);
  CUresult result = CUDA_SUCCESS;
  if (!Device::wait(request_->stream, limit, result)) {
    // It may wait for what only the threads that we hold can do. Let go; it is theirs.
    tool_.gave_up();
    unfinished_ = true;
    report_.kind = "hang";
    return "its own run had not ended after " + std::to_string(limit.count()) +
           " s: it hangs, or waits for what the process does later";
  }
  if (result != CUDA_SUCCESS) {
    report_.kind = kind_of_end(text_of(result));
    return "its own run ended with " + text_of(result);
  }
  own_ms_ =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - lap_).count();
  lap("own run");
  if (!request_->launch.graph)
    if (std::string problem = count_own_run(); !problem.empty()) return problem;
  if (std::string problem = memory_->copy_after(); !problem.empty()) return problem;
  report_.changed_bytes = memory_->changed_bytes();
  lap("effect");
  return "";
}

std::string Examination::count_own_run() {
  DeviceState state;
  if (CUresult r = download(state); r != CUDA_SUCCESS) return "no count: " + text_of(r);
  take_inventory(state);
  if (state.stray_stores == 0) return "";
  if (grid_barrier_alone(state)) {
    report_.notes.push_back("the memory of its grid barrier was made with this launch and is not "
                            "put back: each run leaves the barrier ready for the next");
    return "";
  }
  return "stores to memory that its arguments do not lead to (" +
         std::to_string(state.stray_stores) + " stores, the first to " + hex(state.first_stray) +
         " by " + describe_site(state.first_stray_site) + ")";
}

// The first cooperative launch of a context makes the memory in which cooperative groups count.
bool Examination::grid_barrier_alone(const DeviceState& state) const {
  if (!request_->launch.cooperative) return false;
  for (const Allocation& allocation : tool_.allocations(context_))
    if ((allocation.traits & kRuntime) && allocation.address <= state.lowest_stray &&
        state.highest_stray < allocation.end())
      return true;
  return false;
}

void Examination::take_inventory(const DeviceState& state) {
  Inventory& inventory = evidence_.inventory;
  inventory.sites.resize(state.site_count + 1);
  api.cuMemcpyDtoHAsync(inventory.sites.data(), sites_.at(), inventory.sites.size() * sizeof(Site),
                        device_->stream());
  device_->finish();
  std::copy(std::begin(state.counters), std::end(state.counters), std::begin(inventory.counters));
  report_.accesses = inventory.accesses();
  static const char* const names[kCounters] = {
      "global reads",   "global writes",   "global atomics", "shared reads", "shared writes",
      "shared atomics", "remote shared",   "matrix shared",  "async copies", "bulk loads",
      "bulk stores",    "wgmma",           "async stores",   "barriers",     "mbarriers",
      "local accesses", "global granules", "shared granules"};
  for (uint32_t i = 0; i < kCounters; ++i)
    if (inventory.counters[i]) figure(names[i], inventory.counters[i]);
  if (evidence_.code.tensor_loads)
    report_.notes.push_back("tensor loads (TMA) are not observed and were not delayed");
  if (evidence_.code.tensor_stores)
    report_.notes.push_back("tensor stores (TMA) are not observed; their effect is compared");
}

void Examination::found_difference(const Run& run) {
  const ConflictMap& map = evidence_.inventory.map;
  const std::string_view code =
      cubin_ && cubin_->ok() ? cubin_->code(request_->launch.symbol) : std::string_view();
  evidence_.float_atomics_only =
      evidence_.inventory.mapped && only_float_atomics(map, [&](uint32_t site) {
        return sass_at(code, uint64_t(site) * 16) == SassKind::float_atomic;
      });
  size_t shown = 0;
  for (const Conflict& conflict : map.pairs) {
    if (conflict.scope == kWithinWarp &&
        map.counts[0][kAcrossBlocks] + map.counts[0][kWithinBlock] + map.counts[1][kWithinBlock] !=
            0)
      continue;
    if (++shown > 5) break;
    report_.pairs.push_back(describe(conflict));
  }
}

std::string Examination::describe_site(uint32_t site) const {
  if (site >= code_size_ / 16) return "code outside the kernel";
  std::string out("+");
  out += hex(uint64_t(site) * 16);
  const SourceLine line = cubin_ && cubin_->ok()
                              ? source_line(*cubin_, request_->launch.symbol, uint64_t(site) * 16)
                              : SourceLine();
  if (line.line) out += " (" + line.file + ":" + std::to_string(line.line) + ")";
  return out;
}

std::string Examination::describe(const Conflict& conflict) const {
  const auto what = [&](uint32_t site) {
    const uint32_t flags =
        site < evidence_.inventory.sites.size() ? evidence_.inventory.sites[site].flags : 0;
    return std::string(flags & kSiteAtomic   ? "atomic"
                       : flags & kSiteAsync  ? "asynchronous copy"
                       : flags & kSiteWrites ? "write"
                                             : "read") +
           " at " + describe_site(site);
  };
  return std::string(conflict.shared ? "shared" : "global") + " memory, " +
         scope_name(conflict.scope) + ": " + what(conflict.first) + " and " +
         what(conflict.second) + ", " + std::to_string(conflict.count) + " times";
}

std::string Examination::name_place(size_t region, uint64_t offset) const {
  const Allocation& allocation = memory_->regions()[region];
  const uint64_t address = allocation.address + offset;
  const std::string of =
      "byte " + std::to_string(offset) + " of an allocation of " + text_of_bytes(allocation.size);
  // The pointer argument nearest below it.
  uint64_t best = 0;
  size_t argument = 0;
  for (size_t i = 0; i < request_->launch.parameters.size(); ++i) {
    const Parameter& p = request_->launch.parameters[i];
    uint64_t word = 0;
    if (p.size != 8 || p.offset + 8 > request_->arguments.size()) continue;
    std::memcpy(&word, &request_->arguments[p.offset], 8);
    if (word >= allocation.address && word <= address && word > best) {
      best = word;
      argument = i;
    }
  }
  if (best)
    return "parameter " + std::to_string(argument) + ", byte " + std::to_string(address - best) +
           " (" + of + ")";
  return (allocation.traits & kModuleMemory ? "a variable of the module: " : "") + of;
}

} // namespace assay::native
