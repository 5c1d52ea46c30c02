// Runs n independent pieces of work on up to `width` threads.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace assay::explore {

inline size_t default_threads() {
  unsigned n = std::thread::hardware_concurrency();
  return n ? n : 1;
}

inline void parallel(size_t n, size_t width, const std::function<void(size_t)>& work) {
  if (n <= 1 || width <= 1) {
    for (size_t i = 0; i < n; ++i) work(i);
    return;
  }
  std::atomic<size_t> next{0};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < std::min(n, width); ++t)
    threads.emplace_back([&] {
      for (size_t i; (i = next.fetch_add(1)) < n;) work(i);
    });
  for (std::thread& t : threads) t.join();
}

} // namespace assay::explore
