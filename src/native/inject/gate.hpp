// Holds the process's other host threads at their next entry into the driver while a launch is
// replayed, and tells when all of them are outside it. Every wait has a limit (rule 2).
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace assay::native {

class Gate {
public:
  // Around each outermost driver call of a thread.
  void enter() {
    inside_.fetch_add(1);
    while (held_.load()) {
      inside_.fetch_sub(1);
      while (held_.load()) std::this_thread::sleep_for(std::chrono::microseconds(50));
      inside_.fetch_add(1);
    }
  }
  void leave() { inside_.fetch_sub(1); }

  // By a thread that is inside itself. False: another replays, or others did not come out in time.
  bool hold(std::chrono::milliseconds limit) {
    bool free = false;
    if (!held_.compare_exchange_strong(free, true)) return false;
    const auto end = std::chrono::steady_clock::now() + limit;
    while (inside_.load() != 1) {
      if (std::chrono::steady_clock::now() > end) {
        held_.store(false);
        return false;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    return true;
  }
  void release() { held_.store(false); }

private:
  std::atomic<int> inside_{0};
  std::atomic<bool> held_{false};
};

} // namespace assay::native
