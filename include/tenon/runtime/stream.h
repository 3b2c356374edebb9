// Streams: queues of a device, in which what a thread starts there runs in order. What is started
// in different streams may run at the same time. Without one, a thread starts all in the device's
// own.
//
//   runtime::Stream first(cuda(0)), second(cuda(0));
//   {
//     const runtime::UseStream use(first);      // of this thread, to the end of the scope
//     mod["f"](a, b, c);                        // returns when the kernels are queued
//   }
//   second.wait_for(first);
//   first.synchronize();
//
// Copying an array takes the thread's stream as well, and returns when the bytes are there: it
// waits for what was started before in that stream, for nothing in others.
#pragma once

#include <memory>
#include <optional>

#include "tenon/runtime/device.h"
#include "tenon/support/error.h"

namespace tenon::runtime {

class DeviceStream;

/// A cheap handle. The queue is there as long as a handle is, or a thread uses it.
class Stream {
 public:
  /// Throws RuntimeError for a device that does not exist, or has no queues, as a CPU.
  explicit Stream(Device device, SourceLocation where = SourceLocation::current());

  Device device() const;
  /// Waits for all that was started in it.
  void synchronize() const;
  /// What is started in it from now on waits for all that was started in the other one. Throws
  /// RuntimeError for a stream of another device.
  void wait_for(const Stream& other, SourceLocation where = SourceLocation::current()) const;

  /// Whether both are the same queue.
  friend bool operator==(const Stream& a, const Stream& b) { return a.state_ == b.state_; }

 private:
  friend void set_stream(Device device, std::optional<Stream> stream);
  friend DeviceStream* stream_of_this_thread(Device device);
  struct State;
  std::shared_ptr<State> state_;
};

/// From here on the thread starts in it what it starts on its device. Nullopt: in the device's own.
/// Throws RuntimeError for a stream of another device.
void set_stream(Device device, std::optional<Stream> stream);
/// Nullopt: the device's own.
std::optional<Stream> current_stream(Device device);

/// Sets the stream for the calling thread, and at the end of its scope the one that was set before.
class UseStream {
 public:
  explicit UseStream(const Stream& stream);
  ~UseStream();
  UseStream(const UseStream&) = delete;
  UseStream& operator=(const UseStream&) = delete;

 private:
  Device device_;
  std::optional<Stream> before_;
};

/// Waits for all that was started on the device, in whatever stream.
void synchronize(Device device, SourceLocation where = SourceLocation::current());

}  // namespace tenon::runtime
