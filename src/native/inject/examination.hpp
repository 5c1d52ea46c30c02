// One launch from the driver call's entry to its exit: may it be replayed, what does it reach, its
// own run under observation, repeats with and without delays, comparison, restoring, report.
#pragma once

#include "native/inject/memory.hpp"
#include "native/inject/tool.hpp"
#include "native/judge.hpp"
#include "native/report.hpp"

namespace assay::native {

class Examination {
public:
  Examination(Tool& tool, std::unique_ptr<Request> request, uint64_t number, CUcontext context);
  ~Examination();

  // At the entry. False: there is a reason against it, and it has been reported.
  bool begin();
  // At the exit, when the process's own launch has been handed to the device.
  void finish(CUresult own_result);

private:
  std::string prepare();
  // Holds the other threads and waits until the device is at rest.
  std::string come_to_rest();
  void look_at_code(Circumstances& circumstances);
  // The kernel's module: its variables, which arguments need not lead to.
  void add_variables(std::vector<Allocation>& all) const;
  std::string patch();
  std::string make_tables();
  void repeat_graph();
  std::string graph_with_patches();
  void give_state(CUdeviceptr state);
  std::string count_own_run();
  bool grid_barrier_alone(const DeviceState& state) const;
  std::string patch_modules();
  std::string unpatch_modules();
  bool fits_only_plain(const std::vector<int>& before);
  std::vector<int> residency() const;
  std::string observe();
  void repeat_all();
  std::string map_conflicts();
  bool plain_repeats();
  void perturbed_repeats();
  bool perturb(const Scheme& scheme);
  void outside_repeats();
  // Refills shared memory before a repeat.
  CUresult refill(DeviceState& state, Run& run);
  // One repeat; false ends the examination. `state` is what the patches are given.
  bool run(DeviceState& state, Run& run);
  void found_difference(const Run& run);
  std::string name_place(size_t region, uint64_t offset) const;
  std::string describe(const Conflict& conflict) const;
  std::string describe_site(uint32_t site) const;
  void take_inventory(const DeviceState& state);
  DeviceState blank_state() const;
  CUresult upload(const DeviceState& state);
  CUresult download(DeviceState& state);
  // The device cannot be used any more, or a repeat does not end: report, then end the process.
  [[noreturn]] void end_process(const std::string& why);
  void report();
  void release();
  // Like release, but touches nothing that a launch which has not ended may use or hold back.
  void abandon();
  double elapsed() const;
  void figure(const std::string& name, uint64_t value);
  void lap(const std::string& name);

  Tool& tool_;
  std::unique_ptr<Request> request_;
  CUcontext context_;
  Device* device_ = nullptr;
  std::unique_ptr<Memory> memory_;
  Memory* abandoned_ = nullptr; // never freed
  struct Image {
    std::string bytes;
    std::unique_ptr<Cubin> cubin;
  };
  std::map<CUmodule, Image> images_;
  const Cubin* cubin_ = nullptr; // of the kernel; of a graph none
  KernelReport report_;
  Evidence evidence_;
  std::vector<Scheme> schemes_;
  Buffer state_, sites_, ranges_, actions_, cells_, pairs_, refilled_;
  const std::vector<Buffer*> buffers_ = {&state_, &sites_, &ranges_,  &actions_,
                                         &cells_, &pairs_, &refilled_};
  uint64_t code_begin_ = 0, code_size_ = 0;
  Device::Pressure pressure_ = Device::Pressure::cold_cache;
  bool unpressed_ = false;
  bool unscrubbed_ = false;
  uint32_t shared_bytes_ = 0; // of a block, static and dynamic
  uint32_t range_count_ = 0, pair_slots_ = 0, pattern_ = 0, least_scrubbed_ = ~0u;
  bool holding_ = false, patched_ = false, unfinished_ = false, watching_ = false;
  double own_ms_ = 0, plain_ms_ = 0; // the own run; a repeat without patches
  std::chrono::steady_clock::time_point begin_, lap_;
};

} // namespace assay::native
