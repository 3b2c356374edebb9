// The interface of OpenCL devices.
#include <algorithm>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/devices/device_apis.h"
#include "runtime/devices/opencl_kernels.h"
#include "tenon/support/error.h"

namespace tenon::runtime {

namespace {

using namespace opencl_driver;

/// Times markers in the queue with the device's clock.
class OpenClTimer : public DeviceTimer {
 public:
  OpenClTimer(const Driver& driver, Queue queue) : driver_(driver), queue_(queue) {}
  ~OpenClTimer() override { release(start_); }

  void start() override {
    release(start_);
    start_ = mark();
  }

  double stop() override {
    Event stop = mark();
    const Result finished = driver_.finish(queue_);
    std::uint64_t begin = 0, end = 0;
    const Result first = driver_.get_times(start_, kEndOfCommand, sizeof(begin), &begin, nullptr);
    const Result last = driver_.get_times(stop, kEndOfCommand, sizeof(end), &end, nullptr);
    release(stop);
    check(finished, "waiting for the device");
    check(first, "asking when a command ended");
    check(last, "asking when a command ended");
    return static_cast<double>(end - begin) * 1e-9;
  }

 private:
  Event mark() const {
    Event event = nullptr;
    check(driver_.enqueue_marker(queue_, 0, nullptr, &event), "marking a time");
    return event;
  }

  void release(Event& event) const {
    if (event != nullptr) driver_.release_event(event);
    event = nullptr;
  }

  const Driver& driver_;
  Queue queue_;
  Event start_ = nullptr;
};

class OpenClApi : public DeviceApi {
 public:
  OpenClApi() {
    std::uint32_t count = 0;
    const Result result = driver_.get_platform_ids(0, nullptr, &count);
    if (result == kPlatformNotFound || count == 0) return;
    check(result, "counting platforms");
    std::vector<Platform> platforms(count);
    check(driver_.get_platform_ids(count, platforms.data(), nullptr), "listing platforms");
    for (Platform platform : platforms) add_devices(platform);
  }

  int device_count() override { return static_cast<int>(devices_.size()); }

  std::string device_name(int id) override {
    char name[256] = {};
    check(driver_.get_device_info(at(id).id, kDeviceName, sizeof(name) - 1, name, nullptr),
          "asking for a device's name");
    return name;
  }

  void* allocate(int id, std::uint64_t nbytes, std::uint64_t) override {
    Result result = 0;
    Memory memory = driver_.create_buffer(open(id).context, kReadWrite,
                                          std::max<std::uint64_t>(nbytes, 1), nullptr, &result);
    check(result, "allocating " + std::to_string(nbytes) + " bytes");
    return memory;
  }

  void release(int, void* data) noexcept override { driver_.release_memory(data); }

  void copy(const MemoryPlace& from, const MemoryPlace& to, std::uint64_t nbytes) override {
    if (nbytes == 0) return;
    const bool from_here = from.device.type == DeviceType::OpenCL;
    const bool to_here = to.device.type == DeviceType::OpenCL;
    if (from_here && to_here && from.device != to.device)
      throw RuntimeError("OpenCL: no copy from " + from.device.str() + " to " + to.device.str() +
                         "; copy to the host in between");
    Queue queue = queue_of(to_here ? to.device.id : from.device.id)();
    check(enqueue(queue, from, to, nbytes), "copying");
    check(driver_.finish(queue), "copying");
  }

  void synchronize(int id) override {
    std::vector<Queue> queues{open(id).queue};
    {
      const std::lock_guard lock(mutex_);
      for (Queue queue : at(id).streams) queues.push_back(queue);
      for (Queue queue : queues) driver_.retain_queue(queue);
    }
    Result result = 0;
    for (Queue queue : queues) {
      result = std::min(result, driver_.finish(queue));
      driver_.release_queue(queue);
    }
    check(result, "waiting for the device");
  }

  std::unique_ptr<DeviceStream> make_stream(int id) override {
    OpenDevice& device = open(id);
    Result result = 0;
    Queue queue = driver_.create_queue(device.context, device.id, kTakesTimes, &result);
    check(result, "making a stream");
    const std::lock_guard lock(mutex_);
    device.streams.push_back(queue);
    return std::make_unique<OpenClStream>(driver_, queue, [this, id](Queue gone) {
      const std::lock_guard lock(mutex_);
      std::erase(at(id).streams, gone);
    });
  }

  std::unique_ptr<LoadedKernels> load_kernels(int id, const KernelImage& image) override {
    const OpenDevice& device = open(id);
    return load_opencl_kernels(driver_, device.context, device.id, queue_of(id), image);
  }

  std::unique_ptr<DeviceTimer> make_timer(int id) override {
    return std::make_unique<OpenClTimer>(driver_, queue_of(id)());
  }

 private:
  struct OpenDevice {
    DeviceId id;
    Context context = nullptr;
    Queue queue = nullptr;
    std::vector<Queue> streams = {};
  };

  QueueOfThread queue_of(int id) { return {id, open(id).queue}; }

  void add_devices(Platform platform) {
    std::uint32_t count = 0;
    const Result result = driver_.get_device_ids(platform, kAnyDevice, 0, nullptr, &count);
    if (result == kDeviceNotFound || count == 0) return;
    check(result, "counting devices");
    std::vector<DeviceId> ids(count);
    check(driver_.get_device_ids(platform, kAnyDevice, count, ids.data(), nullptr),
          "listing devices");
    for (DeviceId id : ids) devices_.push_back({.id = id});
  }

  OpenDevice& at(int id) {
    if (id < 0 || id >= device_count())
      throw RuntimeError("opencl(" + std::to_string(id) + ") does not exist");
    return devices_[static_cast<std::size_t>(id)];
  }

  /// Returns the device with its context and queue, created at the first use.
  OpenDevice& open(int id) {
    std::lock_guard lock(mutex_);
    OpenDevice& device = at(id);
    if (device.queue != nullptr) return device;
    Result result = 0;
    device.context = driver_.create_context(nullptr, 1, &device.id, nullptr, nullptr, &result);
    check(result, "making a context");
    device.queue = driver_.create_queue(device.context, device.id, kTakesTimes, &result);
    check(result, "making a queue");
    return device;
  }

  Result enqueue(Queue queue, const MemoryPlace& from, const MemoryPlace& to,
                 std::uint64_t nbytes) {
    if (from.device.type != DeviceType::OpenCL)
      return driver_.write(queue, to.data, kBlocking, to.byte_offset, nbytes,
                           static_cast<const char*>(from.data) + from.byte_offset, 0, nullptr,
                           nullptr);
    if (to.device.type != DeviceType::OpenCL)
      return driver_.read(queue, from.data, kBlocking, from.byte_offset, nbytes,
                          static_cast<char*>(to.data) + to.byte_offset, 0, nullptr, nullptr);
    return driver_.copy(queue, from.data, to.data, from.byte_offset, to.byte_offset, nbytes, 0,
                        nullptr, nullptr);
  }

  Driver driver_;
  std::mutex mutex_;
  std::vector<OpenDevice> devices_;
};

}  // namespace

std::unique_ptr<DeviceApi> make_opencl_api() {
  try {
    return std::make_unique<OpenClApi>();
  } catch (const RuntimeError& error) {
    throw RuntimeError("no OpenCL found: " + std::string(error.what()));
  }
}

}  // namespace tenon::runtime
