// A sign of life every second, while something else is done.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "tenon/tune/fleet.h"

namespace tenon::tune {

class Heartbeat {
 public:
  /// Sends `sign` to each of them from a thread of its own, until destroyed.
  Heartbeat(Channel& channel, std::vector<int> to, std::string sign)
      : thread_([this, &channel, to = std::move(to),
                 sign = std::move(sign)](const std::stop_token& stop) {
          std::unique_lock lock(mutex_);
          while (!stop.stop_requested()) {
            for (const int n : to) try {
                channel.send(n, sign);
              } catch (const std::exception&) {
                // Whoever is gone is found out by silence.
              }
            wake_.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
          }
        }) {}

 private:
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

}  // namespace tenon::tune
