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
using Program = void*;
using Kernel = void*;
using Event = void*;
using Bits = std::uint64_t;

constexpr Bits kAnyDevice = 0xFFFFFFFF;
constexpr std::uint32_t kDeviceName = 0x102B;
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
  using CreateProgram = Program(Context, std::uint32_t, const char* const*, const std::size_t*,
                                Result*);
  CreateProgram* create_program = library.function<CreateProgram>("clCreateProgramWithSource");
  using BuildProgram = Result(Program, std::uint32_t, const DeviceId*, const char*, void*, void*);
  BuildProgram* build_program = library.function<BuildProgram>("clBuildProgram");
  using GetBuildInfo = Result(Program, DeviceId, std::uint32_t, std::size_t, void*, std::size_t*);
  GetBuildInfo* get_build_info = library.function<GetBuildInfo>("clGetProgramBuildInfo");
  using ReleaseProgram = Result(Program);
  ReleaseProgram* release_program = library.function<ReleaseProgram>("clReleaseProgram");
  using CreateKernel = Kernel(Program, const char*, Result*);
  CreateKernel* create_kernel = library.function<CreateKernel>("clCreateKernel");
  using ReleaseKernel = Result(Kernel);
  ReleaseKernel* release_kernel = library.function<ReleaseKernel>("clReleaseKernel");
  using SetArgument = Result(Kernel, std::uint32_t, std::size_t, const void*);
  SetArgument* set_argument = library.function<SetArgument>("clSetKernelArg");
  using Launch = Result(Queue, Kernel, std::uint32_t, const std::size_t*, const std::size_t*,
                        const std::size_t*, std::uint32_t, const void*, void*);
  Launch* launch = library.function<Launch>("clEnqueueNDRangeKernel");
  using EnqueueMarker = Result(Queue, std::uint32_t, const Event*, Event*);
  EnqueueMarker* enqueue_marker = library.function<EnqueueMarker>("clEnqueueMarkerWithWaitList");
  using GetTimes = Result(Event, std::uint32_t, std::size_t, void*, std::size_t*);
  GetTimes* get_times = library.function<GetTimes>("clGetEventProfilingInfo");
  using ReleaseEvent = Result(Event);
  ReleaseEvent* release_event = library.function<ReleaseEvent>("clReleaseEvent");
};

/// What the specification calls the errors that a user's program can lead to.
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

void check(Result result, const std::string& what) {
  if (result != 0)
    throw RuntimeError("OpenCL: " + what + " failed with error " + std::to_string(result) +
                       meaning_of(result));
}

/// The bytes of a scalar argument, which stand at the beginning.
union ScalarBytes {
  std::int64_t integer;
  float single;
  double real;
};

ScalarBytes bytes_of(const TenonValue& value, DataType type) {
  if (type == Float(32)) return {.single = static_cast<float>(value.f)};
  if (type == Float(64)) return {.real = value.f};
  return {.integer = value.i};  // The first bytes are the lowest.
}

class OpenClKernels : public LoadedKernels {
 public:
  OpenClKernels(const Driver& driver, Context context, DeviceId device, Queue queue,
                const KernelImage& image)
      : driver_(driver), queue_(queue), specs_(image.kernels.begin(), image.kernels.end()) {
    try {
      build(context, device, image.source);
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
    // A kernel's arguments are part of it until it is queued.
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
      const ScalarBytes bytes = bytes_of(args[n], type);
      if (type.is_handle()) {
        set(sizeof(Memory), &args[n].p);
      } else {
        set(static_cast<std::size_t>(type.bytes()), &bytes);
      }
    }
    if (spec.has_dynamic_shared) set(std::max<std::size_t>(size.dynamic_shared_bytes, 1), nullptr);
    std::size_t all[3];
    for (int d = 0; d < 3; ++d) all[d] = size.blocks[d] * size.threads[d];
    check(driver_.launch(queue_, handle, 3, nullptr, all, size.threads, 0, nullptr, nullptr),
          "launching the kernel `" + spec.name + "` with blocks of " +
              std::to_string(size.threads[0]) + " x " + std::to_string(size.threads[1]) + " x " +
              std::to_string(size.threads[2]) + " threads");
  }

 private:
  void build(Context context, DeviceId device, std::string_view source) {
    const char* text = source.data();
    const std::size_t length = source.size();
    Result result = 0;
    program_ = driver_.create_program(context, 1, &text, &length, &result);
    check(result, "making a program");
    // Divisions and square roots round like those of other targets, where the device can.
    Bits floats = 0;
    driver_.get_device_info(device, kSingleFloatConfig, sizeof(floats), &floats, nullptr);
    std::string options = "-cl-std=CL1.2";
    if ((floats & kRoundsDivisions) != 0) options += " -cl-fp32-correctly-rounded-divide-sqrt";
    result = driver_.build_program(program_, 1, &device, options.c_str(), nullptr, nullptr);
    if (result == 0) return;
    std::size_t size = 0;
    driver_.get_build_info(program_, device, kBuildLog, 0, nullptr, &size);
    std::string log(size, '\0');
    driver_.get_build_info(program_, device, kBuildLog, size, log.data(), nullptr);
    throw RuntimeError("OpenCL: compiling kernels failed with error " + std::to_string(result) +
                       ":\n" + std::string(log.c_str()));
  }

  void release() {
    for (Kernel kernel : kernels_)
      if (kernel != nullptr) driver_.release_kernel(kernel);
    if (program_ != nullptr) driver_.release_program(program_);
  }

  const Driver& driver_;
  Queue queue_;
  std::vector<KernelSpec> specs_;
  Program program_ = nullptr;
  std::vector<Kernel> kernels_;
  std::mutex mutex_;
};

/// Markers in the queue, whose ends the device notes.
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

  std::unique_ptr<LoadedKernels> load_kernels(int id, const KernelImage& image) override {
    const OpenDevice& device = open(id);
    return std::make_unique<OpenClKernels>(driver_, device.context, device.id, device.queue, image);
  }

  std::unique_ptr<DeviceTimer> make_timer(int id) override {
    return std::make_unique<OpenClTimer>(driver_, open(id).queue);
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
