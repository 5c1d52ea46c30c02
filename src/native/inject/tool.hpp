// The state of the library in its process: what it was told about contexts, streams, modules and
// memory, and what it is doing at the moment. Made once, never destroyed: the driver calls until
// the very end of the process.
#pragma once

#include "native/allocations.hpp"
#include "native/channel.hpp"
#include "native/cubin.hpp"
#include "native/inject/device.hpp"
#include "native/inject/gate.hpp"
#include "native/inject/request.hpp"

#include <map>
#include <memory>
#include <set>

namespace assay::native {

class Examination;

struct ModuleImage {
  CUcontext context = nullptr;
  std::string bytes; // a copy of the cubin; empty when it was too large to keep
};

// What a thread is doing for the library.
struct ThreadState {
  int driver_depth = 0;               // nested driver calls
  bool own_work = false;              // calls that the library makes itself
  bool loading_own = false;           // among them: loading our own modules
  CUdeviceptr userdata = 0;           // for the next launch of this thread: its DeviceState
  Examination* examination = nullptr; // of the launch that this thread is in
};
extern thread_local ThreadState thread_state;

// Marks the calls in its life as the library's own, and lets no stream capture object to them.
class OwnWork {
public:
  OwnWork();
  ~OwnWork();
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;

private:
  bool outer_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

class Tool {
public:
  // False: this process is none of our business.
  bool start();

  void on_resource(uint32_t id, const void* data);
  void on_launch(uint32_t id, const void* data);
  void on_graph(uint32_t id, const void* data);
  void on_driver_call(uint32_t call, const Sanitizer_CallbackData& data);

  // For examinations.
  Channel& channel() { return channel_; }
  const Options& options() const { return options_; }
  Device* device(CUcontext context, std::string& problem);
  std::vector<Allocation> allocations(CUcontext context);
  std::string image(CUmodule module);
  // Waits until no stream of the process has work; empty, or why it was given up.
  std::string quiesce(CUstream also);
  Gate& gate() { return gate_; }
  void debug(const std::string& text);
  // Callbacks at the begin of launches cost every launch of the process; they are on only while one
  // is examined and the other threads are held.
  void watch_launches(bool on);
  // A wait took too long; after a few of these nothing more is examined in this process.
  void gave_up();
  // A module whose patches must stay, since a launch of it has not ended.
  void leave_patched(CUmodule module);
  bool left_patched(CUmodule module);

private:
  void before_launch(uint32_t call, const Sanitizer_CallbackData& data);
  void after_launch(const Sanitizer_CallbackData& data);
  void note_sharing(uint32_t call, const Sanitizer_CallbackData& data);
  void note_mapping(uint32_t call, const Sanitizer_CallbackData& data);
  bool read_launch(Request& request, uint32_t call, const Sanitizer_CallbackData& data);
  void hand_over(const Sanitizer_LaunchData& launch);
  void note_unhandled(uint32_t call, const Sanitizer_CallbackData& data);
  void add_module(const Sanitizer_ResourceModuleData& data);
  void add_memory(const Sanitizer_ResourceMemoryData& data);

  std::mutex mutex_; // of what follows up to `selector_`
  AllocationTable table_;
  std::vector<Allocation> mapped_; // by cuMemMap, not yet accessible
  std::map<CUstream, CUcontext> streams_;
  std::map<CUmodule, ModuleImage> modules_;
  std::map<CUcontext, std::unique_ptr<Device>> devices_;
  std::map<CUfunction, bool> may_choose_; // by handle, so that unselected launches cost little
  std::set<std::string> remarked_;
  std::set<CUmodule> left_patched_;
  uint64_t image_bytes_ = 0, launches_ = 0;
  std::unique_ptr<Selector> selector_;
  GraphTable graphs_; // has a lock of its own
  bool shares_handles_ =
      false; // exported or imported VMM memory: all mapped memory counts as shared

  Sanitizer_SubscriberHandle subscriber_ = nullptr;
  Gate gate_;
  Channel channel_;
  Options options_;
  std::atomic<uint32_t> unquiet_{0};
};

extern Tool* tool;

} // namespace assay::native
