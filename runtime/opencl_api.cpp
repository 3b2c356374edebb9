// OpenCL, found when the program runs: no header and no library of OpenCL is needed to build. The
// declarations are those of its specification, version 1.2.
#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/device_apis.h"
#include "runtime/dynamic_library.h"
#include "tenon/support/error.h"

namespace tenon::runtime {

namespace {

using Result = std::int32_t;
using Platform = void*;
using DeviceId = void*;
using Context = void*;
using Queue = void*;
using Memory = void*;
using Bits = std::uint64_t;

constexpr Bits kAnyDevice = 0xFFFFFFFF;
constexpr std::uint32_t kDeviceName = 0x102B;
constexpr Bits kReadWrite = 1;
constexpr std::uint32_t kBlocking = 1;
constexpr Result kDeviceNotFound = -1;
constexpr Result kPlatformNotFound = -1001;

struct Driver {
  DynamicLibrary library{"libOpenCL.so.1", DynamicLibrary::Lifetime::OfTheProcess};

  using GetPlatformIds = Result(std::uint32_t, Platform*, std::uint32_t*);
  GetPlatformIds* get_platform_ids = library.function<GetPlatformIds>("clGetPlatformIDs");
  using GetDeviceIds = Result(Platform, Bits, std::uint32_t, DeviceId*, std::uint32_t*);
  GetDeviceIds* get_device_ids = library.function<GetDeviceIds>("clGetDeviceIDs");
  using GetDeviceInfo = Result(DeviceId, std::uint32_t, std::size_t, void*, std::size_t*);
  GetDeviceInfo* get_device_info = library.function<GetDeviceInfo>("clGetDeviceInfo");
  using CreateContext = Context(const std::intptr_t*, std::uint32_t, const DeviceId*, void*, void*,
                                Result*);
  CreateContext* create_context = library.function<CreateContext>("clCreateContext");
  using CreateQueue = Queue(Context, DeviceId, Bits, Result*);
  CreateQueue* create_queue = library.function<CreateQueue>("clCreateCommandQueue");
  using CreateBuffer = Memory(Context, Bits, std::size_t, void*, Result*);
  CreateBuffer* create_buffer = library.function<CreateBuffer>("clCreateBuffer");
  using ReleaseMemory = Result(Memory);
  ReleaseMemory* release_memory = library.function<ReleaseMemory>("clReleaseMemObject");
  using Read = Result(Queue, Memory, std::uint32_t, std::size_t, std::size_t, void*, std::uint32_t,
                      const void*, void*);
  Read* read = library.function<Read>("clEnqueueReadBuffer");
  using Write = Result(Queue, Memory, std::uint32_t, std::size_t, std::size_t, const void*,
                       std::uint32_t, const void*, void*);
  Write* write = library.function<Write>("clEnqueueWriteBuffer");
  using Copy = Result(Queue, Memory, Memory, std::size_t, std::size_t, std::size_t, std::uint32_t,
                      const void*, void*);
  Copy* copy = library.function<Copy>("clEnqueueCopyBuffer");
  using Finish = Result(Queue);
  Finish* finish = library.function<Finish>("clFinish");
};

void check(Result result, const std::string& what) {
  if (result != 0)
    throw RuntimeError("OpenCL: " + what + " failed with error " + std::to_string(result));
}

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

  void release(int, void* data) override { check(driver_.release_memory(data), "freeing memory"); }

  void copy(const MemoryPlace& from, const MemoryPlace& to, std::uint64_t nbytes) override {
    if (nbytes == 0) return;
    const bool from_here = from.device.type == DeviceType::OpenCL;
    const bool to_here = to.device.type == DeviceType::OpenCL;
    if (from_here && to_here && from.device != to.device)
      throw RuntimeError("OpenCL: no copy from " + from.device.str() + " to " + to.device.str() +
                         "; copy to the host in between");
    Queue queue = open(to_here ? to.device.id : from.device.id).queue;
    check(enqueue(queue, from, to, nbytes), "copying");
    check(driver_.finish(queue), "copying");
  }

  void synchronize(int id) override {
    check(driver_.finish(open(id).queue), "waiting for the device");
  }

 private:
  struct OpenDevice {
    DeviceId id;
    Context context = nullptr;
    Queue queue = nullptr;
  };

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

  /// With context and queue, made at the first use.
  OpenDevice& open(int id) {
    std::lock_guard lock(mutex_);
    OpenDevice& device = at(id);
    if (device.queue != nullptr) return device;
    Result result = 0;
    device.context = driver_.create_context(nullptr, 1, &device.id, nullptr, nullptr, &result);
    check(result, "making a context");
    device.queue = driver_.create_queue(device.context, device.id, 0, &result);
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
