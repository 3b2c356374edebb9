// A parallel loop over independent work items.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tenon::tune {

/// Calls work(n) for n in [0, count) on at most `workers` threads. Rethrows the first exception
/// after all threads have ended.
template <class Work>
void parallel_for(std::size_t count, int workers, const Work& work) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr error;
  std::mutex mutex;
  const auto run = [&] {
    for (std::size_t n = next++; n < count; n = next++) {
      try {
        work(n);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (!error) error = std::current_exception();
      }
    }
  };
  const std::size_t threads = std::min<std::size_t>(count, std::max(workers, 1));
  if (threads <= 1) {
    run();
  } else {
    std::vector<std::jthread> pool;
    for (std::size_t n = 0; n < threads; ++n) pool.emplace_back(run);
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace tenon::tune
