// The interface of OpenCL devices.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/core/dynamic_library.h"
#include "runtime/devices/device_apis.h"
#include "tenon/support/error.h"

namespace tenon::runtime {

namespace opencl_driver {

namespace {

// ---- the driver ---------------------------------------------------------------------------------

// OpenCL's driver, loaded at run time: no OpenCL header or library is needed to build. The
// declarations follow version 1.2 of the specification.

using Result = std::int32_t;
using Platform = void*;
using DeviceId = void*;
using Context = void*;
using Queue = void*;
using Memory = void*;
using Program = void*;
using Kernel = void*;
using Event = void*;
using Bits = std::uint64_t;

constexpr Bits kAnyDevice = 0xFFFFFFFF;
constexpr std::uint32_t kMaxWorkItemSizes = 0x1005;
constexpr std::uint32_t kMemoryBytes = 0x101F;
constexpr std::uint32_t kDeviceName = 0x102B;
constexpr std::uint32_t kDeviceVersion = 0x102F;
constexpr std::uint32_t kDeviceExtensions = 0x1030;
constexpr std::uint32_t kSubgroupSizeOfLaunch = 0x2033;
constexpr std::uint32_t kSingleFloatConfig = 0x101B;
constexpr Bits kRoundsDivisions = 1 << 7;
constexpr std::uint32_t kBuildLog = 0x1183;
constexpr Bits kReadWrite = 1;
constexpr std::uint32_t kBlocking = 1;
constexpr Bits kTakesTimes = 1 << 1;
constexpr std::uint32_t kEndOfCommand = 0x1283;
constexpr Result kDeviceNotFound = -1;
constexpr Result kPlatformNotFound = -1001;

struct Driver {
  DynamicLibrary library{"libOpenCL.so.1"};

  Result (*get_platform_ids)(std::uint32_t, Platform*,
                             std::uint32_t*) = library.function("clGetPlatformIDs");
  Result (*get_device_ids)(Platform, Bits, std::uint32_t, DeviceId*,
                           std::uint32_t*) = library.function("clGetDeviceIDs");
  Result (*get_device_info)(DeviceId, std::uint32_t, std::size_t, void*,
                            std::size_t*) = library.function("clGetDeviceInfo");
  Context (*create_context)(const std::intptr_t*, std::uint32_t, const DeviceId*, void*, void*,
                            Result*) = library.function("clCreateContext");
  Queue (*create_queue)(Context, DeviceId, Bits,
                        Result*) = library.function("clCreateCommandQueue");
  Result (*release_queue)(Queue) = library.function("clReleaseCommandQueue");
  Result (*retain_queue)(Queue) = library.function("clRetainCommandQueue");
  Result (*flush)(Queue) = library.function("clFlush");
  Memory (*create_buffer)(Context, Bits, std::size_t, void*,
                          Result*) = library.function("clCreateBuffer");
  Result (*release_memory)(Memory) = library.function("clReleaseMemObject");
  Result (*read)(Queue, Memory, std::uint32_t, std::size_t, std::size_t, void*, std::uint32_t,
                 const void*, void*) = library.function("clEnqueueReadBuffer");
  Result (*write)(Queue, Memory, std::uint32_t, std::size_t, std::size_t, const void*,
                  std::uint32_t, const void*, void*) = library.function("clEnqueueWriteBuffer");
  Result (*copy)(Queue, Memory, Memory, std::size_t, std::size_t, std::size_t, std::uint32_t,
                 const void*, void*) = library.function("clEnqueueCopyBuffer");
  Result (*finish)(Queue) = library.function("clFinish");
  Program (*create_program)(Context, std::uint32_t, const char* const*, const std::size_t*,
                            Result*) = library.function("clCreateProgramWithSource");
  Result (*build_program)(Program, std::uint32_t, const DeviceId*, const char*, void*,
                          void*) = library.function("clBuildProgram");
  Result (*get_build_info)(Program, DeviceId, std::uint32_t, std::size_t, void*,
                           std::size_t*) = library.function("clGetProgramBuildInfo");
  Result (*release_program)(Program) = library.function("clReleaseProgram");
  Kernel (*create_kernel)(Program, const char*, Result*) = library.function("clCreateKernel");
  Result (*release_kernel)(Kernel) = library.function("clReleaseKernel");
  Result (*set_argument)(Kernel, std::uint32_t, std::size_t,
                         const void*) = library.function("clSetKernelArg");
  Result (*launch)(Queue, Kernel, std::uint32_t, const std::size_t*, const std::size_t*,
                   const std::size_t*, std::uint32_t, const void*,
                   void*) = library.function("clEnqueueNDRangeKernel");
  Result (*enqueue_marker)(Queue, std::uint32_t, const Event*,
                           Event*) = library.function("clEnqueueMarkerWithWaitList");
  Result (*enqueue_barrier)(Queue, std::uint32_t, const Event*,
                            Event*) = library.function("clEnqueueBarrierWithWaitList");
  /// The query clGetKernelSubGroupInfo; null before OpenCL 2.1.
  Result (*get_subgroups)(Kernel, DeviceId, std::uint32_t, std::size_t, const void*, std::size_t,
                          void*,
                          std::size_t*) = FunctionAddress{library.find("clGetKernelSubGroupInfo")};
  Result (*get_times)(Event, std::uint32_t, std::size_t, void*,
                      std::size_t*) = library.function("clGetEventProfilingInfo");
  Result (*release_event)(Event) = library.function("clReleaseEvent");
};

/// Returns the specification's description of errors that a user's program can cause.
const char* meaning_of(Result result) {
  switch (result) {
    case -3:
      return ": the device's compiler is not available";
    case -4:
      return ": not as much memory can be allocated";
    case -5:
      return ": the device's resources do not suffice";
    case -6:
      return ": out of host memory";
    case -54:
      return ": so many threads in a block are more than the device runs";
    case -55:
      return ": an extent of threads in a block is more than the device runs";
    case -61:
      return ": a buffer of this size cannot be made";
    default:
      return "";
  }
}

/// Throws RuntimeError with the failed operation and the meaning of the result.
void check(Result result, const std::string& what) {
  if (result != 0)
    throw RuntimeError("OpenCL: " + what + " failed with error " + std::to_string(result) +
                       meaning_of(result));
}

/// Returns a text property of a device.
std::string text_of(const Driver& driver, DeviceId device, std::uint32_t what) {
  std::size_t size = 0;
  check(driver.get_device_info(device, what, 0, nullptr, &size), "asking a device");
  std::string text(size, '\0');
  check(driver.get_device_info(device, what, size, text.data(), nullptr), "asking a device");
  return text.c_str();
}

// ---- kernels and streams ------------------------------------------------------------------------

using EventOwner = std::unique_ptr<void, Result (*)(Event)>;

/// Queues a marker and returns its event.
EventOwner mark(const Driver& driver, Queue queue, const char* what) {
  Event event = nullptr;
  check(driver.enqueue_marker(queue, 0, nullptr, &event), what);
  return {event, driver.release_event};
}

/// A device, whose context and queue are created at the first use.
struct OpenDevice {
  int number;
  DeviceId id;
  Context context = nullptr;
  Queue queue = nullptr;
  std::vector<Queue> streams = {};
};

/// Returns the queue of the calling thread's stream on the device, or the device's default queue.
Queue queue_of_this_thread(const OpenDevice& device) {
  const Queue stream = stream_of_this_thread({DeviceType::OpenCL, device.number});
  return stream == nullptr ? device.queue : stream;
}

std::string text_of(const std::size_t (&sizes)[3]) {
  return std::to_string(sizes[0]) + " x " + std::to_string(sizes[1]) + " x " +
         std::to_string(sizes[2]);
}

class OpenClKernels : public LoadedKernels {
 public:
  /// Precondition: the device is open.
  OpenClKernels(const Driver& driver, const OpenDevice& device, const KernelImage& image)
      : driver_(driver), device_(device), specs_(image.kernels.begin(), image.kernels.end()) {
    try {
      check_extensions(image.source);
      check(driver.get_device_info(device.id, kMaxWorkItemSizes, sizeof(max_threads_), max_threads_,
                                   nullptr),
            "asking a device");
      build(image.source);
      for (const KernelSpec& spec : specs_) {
        Result result = 0;
        kernels_.push_back(driver_.create_kernel(program_, spec.name.c_str(), &result));
        check(result, "making the kernel `" + spec.name + "`");
      }
    } catch (...) {
      release();
      throw;
    }
  }
  ~OpenClKernels() override { release(); }

  void launch(std::size_t kernel, std::span<const TenonValue> args,
              const LaunchSize& size) override {
    const KernelSpec& spec = specs_[kernel];
    // Locks, because the arguments are state of the kernel object until the launch is queued.
    const std::lock_guard lock(mutex_);
    Kernel handle = kernels_[kernel];
    std::uint32_t position = 0;
    const auto set = [&](std::size_t bytes, const void* data) {
      check(driver_.set_argument(handle, position, bytes, data),
            "setting argument " + std::to_string(position + 1) + " of kernel `" + spec.name + "`");
      ++position;
    };
    for (std::size_t n = 0; n < args.size(); ++n) {
      const DataType type = spec.params[n];
      if (type == Float(32)) {
        const auto single = static_cast<float>(args[n].f);
        set(sizeof(single), &single);
      } else {
        // On a little-endian host, the first bytes of an integer are the lowest.
        set(type.is_handle() ? sizeof(Memory) : static_cast<std::size_t>(type.bytes()), &args[n]);
      }
    }
    if (spec.has_dynamic_shared) set(std::max<std::size_t>(size.dynamic_shared_bytes, 1), nullptr);
    std::size_t all[3];
    for (int d = 0; d < 3; ++d) all[d] = size.blocks[d] * size.threads[d];
    check_threads(spec, size);
    if (spec.subgroup_size > 0) check_subgroups(handle, spec, size);
    check(driver_.launch(queue_of_this_thread(device_), handle, 3, nullptr, all, size.threads, 0,
                         nullptr, nullptr),
          "launching the kernel `" + spec.name + "` with blocks of " + text_of(size.threads) +
              " threads");
  }

 private:
  /// The first lines of the source declare the extensions that it needs.
  void check_extensions(std::string_view source) const {
    constexpr std::string_view kBefore = "#pragma OPENCL EXTENSION ";
    const std::string there = " " + text_of(driver_, device_.id, kDeviceExtensions) + " ";
    for (std::size_t at = source.find(kBefore); at != std::string_view::npos;
         at = source.find(kBefore, at + 1)) {
      const std::size_t begin = at + kBefore.size();
      const std::string name(source.substr(begin, source.find(' ', begin) - begin));
      if (there.find(" " + name + " ") == std::string::npos)
        throw RuntimeError("OpenCL: these kernels need the extension " + name + ", which `" +
                           text_of(driver_, device_.id, kDeviceName) + "` does not have");
    }
  }

  /// Throws if a block is larger than the device allows, because the driver's error does not name
  /// the cause.
  void check_threads(const KernelSpec& spec, const LaunchSize& size) const {
    for (int d = 0; d < 3; ++d)
      if (size.threads[d] > max_threads_[d])
        throw RuntimeError("OpenCL: the kernel `" + spec.name + "` has blocks of " +
                           text_of(size.threads) + " threads; `" +
                           text_of(driver_, device_.id, kDeviceName) + "` allows at most " +
                           text_of(max_threads_) + "; split the axes by smaller factors");
  }

  void check_subgroups(Kernel kernel, const KernelSpec& spec, const LaunchSize& size) const {
    std::size_t threads = 0;
    Result result = 0;
    if (driver_.get_subgroups != nullptr)
      result =
          driver_.get_subgroups(kernel, device_.id, kSubgroupSizeOfLaunch, sizeof(size.threads),
                                size.threads, sizeof(threads), &threads, nullptr);
    check(result, "asking for the size of sub-groups");
    if (threads != static_cast<std::size_t>(spec.subgroup_size))
      throw RuntimeError("OpenCL: the kernel `" + spec.name + "` requires sub-groups of " +
                         std::to_string(spec.subgroup_size) + " threads; those of `" +
                         text_of(driver_, device_.id, kDeviceName) + "` have " +
                         std::to_string(threads) + " (target key -subgroup-size)");
  }

  /// Sub-groups require OpenCL 2.
  std::string language(std::string_view source) const {
    if (source.find("cl_khr_subgroup") == std::string_view::npos) return "-cl-std=CL1.2";
    const std::string version = text_of(driver_, device_.id, kDeviceVersion);
    return version.starts_with("OpenCL 3") ? "-cl-std=CL3.0" : "-cl-std=CL2.0";
  }

  void build(std::string_view source) {
    const char* text = source.data();
    const std::size_t length = source.size();
    Result result = 0;
    program_ = driver_.create_program(device_.context, 1, &text, &length, &result);
    check(result, "making a program");
    // Requests correctly rounded divisions and square roots, as on other targets, if the device
    // supports them.
    Bits floats = 0;
    driver_.get_device_info(device_.id, kSingleFloatConfig, sizeof(floats), &floats, nullptr);
    std::string options = language(source);
    if ((floats & kRoundsDivisions) != 0) options += " -cl-fp32-correctly-rounded-divide-sqrt";
    result = driver_.build_program(program_, 1, &device_.id, options.c_str(), nullptr, nullptr);
    if (result == 0) return;
    std::size_t size = 0;
    driver_.get_build_info(program_, device_.id, kBuildLog, 0, nullptr, &size);
    std::string log(size, '\0');
    driver_.get_build_info(program_, device_.id, kBuildLog, size, log.data(), nullptr);
    throw RuntimeError("OpenCL: compiling kernels failed with error " + std::to_string(result) +
                       ":\n" + std::string(log.c_str()));
  }

  void release() {
    for (Kernel kernel : kernels_)
      if (kernel != nullptr) driver_.release_kernel(kernel);
    if (program_ != nullptr) driver_.release_program(program_);
  }

  const Driver& driver_;
  const OpenDevice& device_;
  /// The maximum number of threads along each dimension of a block.
  std::size_t max_threads_[3] = {};
  std::vector<KernelSpec> specs_;
  Program program_ = nullptr;
  std::vector<Kernel> kernels_;
  std::mutex mutex_;
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
    // NVIDIA's driver makes buffers of any size and fails when they are used.
    std::uint64_t most = 0;
    check(driver_.get_device_info(at(id).id, kMemoryBytes, sizeof(most), &most, nullptr),
          "asking for a device's memory");
    if (nbytes > most)
      throw RuntimeError("OpenCL: cannot allocate " + std::to_string(nbytes) +
                         " bytes; the device has " + std::to_string(most) + " bytes of memory");
    Result result = 0;
    Memory memory = driver_.create_buffer(open(id).context, kReadWrite,
                                          std::max<std::uint64_t>(nbytes, 1), nullptr, &result);
    check(result, "allocating " + std::to_string(nbytes) + " bytes");
    return memory;
  }

  void release(int, void* data) noexcept override { driver_.release_memory(data); }

  void copy(const DLTensor& from, const DLTensor& to, std::uint64_t nbytes) override {
    if (nbytes == 0) return;
    const Device source = device_of(from), target = device_of(to);
    const bool to_here = target.type == DeviceType::OpenCL;
    if (source.type == DeviceType::OpenCL && to_here && source != target)
      throw RuntimeError("OpenCL: no copy from " + source.str() + " to " + target.str() +
                         "; copy to the host in between");
    Queue queue = queue_of_this_thread(open(to_here ? target.id : source.id));
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

  std::shared_ptr<void> make_stream(int id) override {
    OpenDevice& device = open(id);
    Result result = 0;
    Queue queue = driver_.create_queue(device.context, device.id, kTakesTimes, &result);
    check(result, "making a stream");
    std::shared_ptr<void> stream(queue, [this, &device](Queue gone) {
      {
        const std::lock_guard lock(mutex_);
        std::erase(device.streams, gone);
      }
      // Releasing a queue does not cancel queued operations.
      driver_.flush(gone);
      driver_.release_queue(gone);
    });
    const std::lock_guard lock(mutex_);
    device.streams.push_back(queue);
    return stream;
  }

  void synchronize_stream(int, void* stream) override {
    check(driver_.finish(stream), "waiting for a stream");
  }

  void wait_for(int, void* stream, void* other) override {
    const EventOwner event = mark(driver_, other, "marking the end of a stream");
    // A queue that waits for an event does not cause the queue of the event to run; flushing does.
    driver_.flush(other);
    const Event marker = event.get();
    check(driver_.enqueue_barrier(stream, 1, &marker, nullptr), "waiting for another stream");
  }

  std::unique_ptr<LoadedKernels> load_kernels(int id, const KernelImage& image) override {
    return std::make_unique<OpenClKernels>(driver_, open(id), image);
  }

  /// Measures the time between two markers in the queue.
  double seconds_of(int id, FunctionRef<void()> work) override {
    Queue queue = queue_of_this_thread(open(id));
    const EventOwner start = mark(driver_, queue, "marking a time");
    work();
    const EventOwner stop = mark(driver_, queue, "marking a time");
    check(driver_.finish(queue), "waiting for the device");
    const std::uint64_t begin = end_of(start), end = end_of(stop);
    return static_cast<double>(end - begin) * 1e-9;
  }

 private:
  /// Returns the time at which the command of the event ended.
  std::uint64_t end_of(const EventOwner& event) const {
    std::uint64_t time = 0;
    check(driver_.get_times(event.get(), kEndOfCommand, sizeof(time), &time, nullptr),
          "asking when a command ended");
    return time;
  }

  void add_devices(Platform platform) {
    std::uint32_t count = 0;
    const Result result = driver_.get_device_ids(platform, kAnyDevice, 0, nullptr, &count);
    if (result == kDeviceNotFound || count == 0) return;
    check(result, "counting devices");
    std::vector<DeviceId> ids(count);
    check(driver_.get_device_ids(platform, kAnyDevice, count, ids.data(), nullptr),
          "listing devices");
    for (DeviceId id : ids) devices_.push_back({.number = device_count(), .id = id});
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

  Result enqueue(Queue queue, const DLTensor& from, const DLTensor& to, std::uint64_t nbytes) {
    if (from.device.device_type != kDLOpenCL)
      return driver_.write(queue, to.data, kBlocking, to.byte_offset, nbytes,
                           static_cast<const char*>(from.data) + from.byte_offset, 0, nullptr,
                           nullptr);
    if (to.device.device_type != kDLOpenCL)
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

}  // namespace opencl_driver

std::unique_ptr<DeviceApi> make_opencl_api() {
  try {
    return std::make_unique<opencl_driver::OpenClApi>();
  } catch (const RuntimeError& error) {
    throw RuntimeError("no OpenCL found: " + std::string(error.what()));
  }
}

}  // namespace tenon::runtime
