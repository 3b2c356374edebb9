// Kernels and streams of an OpenCL device.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "runtime/devices/current_stream.h"
#include "runtime/devices/opencl_driver.h"

namespace tenon::runtime::opencl_driver {

class OpenClStream : public DeviceStream {
 public:
  /// Takes ownership of the queue.
  OpenClStream(const Driver& driver, Queue queue, std::function<void(Queue)> on_end)
      : driver_(driver), queue_(queue), on_end_(std::move(on_end)) {}
  ~OpenClStream() override {
    on_end_(queue_);
    // Operations queued so far still run.
    driver_.flush(queue_);
    driver_.release_queue(queue_);
  }

  Queue queue() const { return queue_; }

  void synchronize() override { check(driver_.finish(queue_), "waiting for a stream"); }

  void wait_for(DeviceStream& other) override {
    Queue awaited = static_cast<OpenClStream&>(other).queue();
    Event event = nullptr;
    check(driver_.enqueue_marker(awaited, 0, nullptr, &event), "marking the end of a stream");
    // A queue that waits for another one does not cause it to run.
    driver_.flush(awaited);
    const Result result = driver_.enqueue_barrier(queue_, 1, &event, nullptr);
    driver_.release_event(event);
    check(result, "waiting for another stream");
  }

 private:
  const Driver& driver_;
  Queue queue_;
  const std::function<void(Queue)> on_end_;
};

/// The queue of the calling thread's stream, or the device's default queue.
class QueueOfThread {
 public:
  QueueOfThread(int id, Queue own) : device_{DeviceType::OpenCL, id}, own_(own) {}
  Queue operator()() const {
    const auto* stream = static_cast<OpenClStream*>(stream_of_this_thread(device_));
    return stream == nullptr ? own_ : stream->queue();
  }

 private:
  Device device_;
  Queue own_;
};

std::unique_ptr<LoadedKernels> load_opencl_kernels(const Driver& driver, Context context,
                                                   DeviceId device, QueueOfThread queue,
                                                   const KernelImage& image);

}  // namespace tenon::runtime::opencl_driver
