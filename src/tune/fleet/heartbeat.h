// Sends a heartbeat every second in the background.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "tenon/tune/fleet.h"

namespace tenon::tune {

class Heartbeat {
 public:
  /// Sends `sign` to each process from a separate thread until destroyed.
  Heartbeat(Channel& channel, std::vector<int> to, std::string sign)
      : thread_([this, &channel, to = std::move(to),
                 sign = std::move(sign)](const std::stop_token& stop) {
          std::unique_lock lock(mutex_);
          while (!stop.stop_requested()) {
            for (const int n : to) try {
                channel.send(n, sign);
              } catch (const std::exception&) {
                // Send errors are ignored: a lost process is detected by its silence.
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
