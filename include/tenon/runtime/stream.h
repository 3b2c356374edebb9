// Streams: queues of a device whose operations execute in order. Operations in different streams
// may overlap. By default, a thread uses the device's default stream.
//
//   runtime::Stream first(cuda(0)), second(cuda(0));
//   {
//     const runtime::UseStream use(first);      // for this thread, until the end of the scope
//     mod["f"](a, b, c);                        // returns when the kernels are queued
//   }
//   second.wait_for(first);
//   first.synchronize();
//
// Copies of arrays use the thread's stream too and return when they are complete: they wait for
// earlier operations in that stream, but not for other streams.
#pragma once

#include <memory>
#include <optional>

#include "tenon/runtime/device.h"
#include "tenon/support/error.h"

namespace tenon::runtime {

/// A cheap handle. The queue exists as long as a handle exists or a thread uses it.
class Stream {
 public:
  /// Makes a stream. RuntimeError for a device that does not exist or has no streams, such as a
  /// CPU.
  explicit Stream(Device device, SourceLocation where = SourceLocation::current());
  // Moves are copies, so that a handle is never empty.
  Stream(const Stream&) = default;
  Stream& operator=(const Stream&) = default;

  Device device() const { return device_; }
  /// Waits for all operations queued so far.
  void synchronize() const;
  /// Makes later operations in this stream wait for all operations queued so far in `other`.
  /// RuntimeError for a stream of another device.
  void wait_for(const Stream& other, SourceLocation where = SourceLocation::current()) const;

  /// Whether both are the same queue.
  friend bool operator==(const Stream& a, const Stream& b) { return a.queue_ == b.queue_; }

 private:
  friend void* stream_of_this_thread(Device device);

  Device device_;
  /// The driver's handle.
  std::shared_ptr<void> queue_;
};

/// Sets the stream that the calling thread uses on a device. Nullopt: the device's default stream.
/// RuntimeError for a stream of another device.
void set_stream(Device device, std::optional<Stream> stream);
/// Returns the calling thread's stream; nullopt if it is the device's default stream.
std::optional<Stream> current_stream(Device device);

/// Sets the calling thread's stream for a scope, and restores the previous one at its end.
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

/// Waits for all operations on the device, in all streams.
void synchronize(Device device, SourceLocation where = SourceLocation::current());

}  // namespace tenon::runtime
