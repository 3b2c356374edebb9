// CUDA's driver interface, loaded at run time: no CUDA header or library is needed to build. The
// declarations follow its documentation. For entry points with two versions, the second is used.
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/core/dynamic_library.h"
#include "runtime/devices/device_apis.h"
#include "tenon/support/error.h"

namespace tenon::runtime {

namespace cuda_driver {

namespace {

using Result = int;
using CudaDevice = int;
using Context = void*;
using Module = void*;
using Function = void*;
using Event = void*;
using StreamHandle = void*;
using Address = unsigned long long;

struct Driver {
  DynamicLibrary library{"libcuda.so.1"};

  Result (*init)(unsigned) = library.function("cuInit");
  Result (*get_error_string)(Result, const char**) = library.function("cuGetErrorString");
  Result (*device_get_count)(int*) = library.function("cuDeviceGetCount");
  Result (*device_get)(CudaDevice*, int) = library.function("cuDeviceGet");
  Result (*device_get_name)(char*, int, CudaDevice) = library.function("cuDeviceGetName");
  Result (*primary_context_retain)(Context*,
                                   CudaDevice) = library.function("cuDevicePrimaryCtxRetain");
  Result (*context_set_current)(Context) = library.function("cuCtxSetCurrent");
  Result (*context_synchronize)() = library.function("cuCtxSynchronize");
  Result (*mem_alloc)(Address*, std::size_t) = library.function("cuMemAlloc_v2");
  Result (*mem_free)(Address) = library.function("cuMemFree_v2");
  Result (*module_load_data)(Module*, const void*) = library.function("cuModuleLoadData");
  Result (*module_unload)(Module) = library.function("cuModuleUnload");
  Result (*module_get_function)(Function*, Module,
                                const char*) = library.function("cuModuleGetFunction");
  Result (*func_set_attribute)(Function, int, int) = library.function("cuFuncSetAttribute");
  Result (*func_get_attribute)(int*, int, Function) = library.function("cuFuncGetAttribute");
  Result (*launch_kernel)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, void*, void**, void**) = library.function("cuLaunchKernel");
  // Addresses are unified, so that one function copies in every direction.
  Result (*memcpy_async)(Address, Address, std::size_t,
                         StreamHandle) = library.function("cuMemcpyAsync");
  Result (*stream_create)(StreamHandle*, unsigned) = library.function("cuStreamCreate");
  Result (*stream_destroy)(StreamHandle) = library.function("cuStreamDestroy_v2");
  Result (*stream_synchronize)(StreamHandle) = library.function("cuStreamSynchronize");
  Result (*stream_wait_event)(StreamHandle, Event,
                              unsigned) = library.function("cuStreamWaitEvent");
  Result (*event_create)(Event*, unsigned) = library.function("cuEventCreate");
  Result (*event_destroy)(Event) = library.function("cuEventDestroy_v2");
  Result (*event_record)(Event, void*) = library.function("cuEventRecord");
  Result (*event_synchronize)(Event) = library.function("cuEventSynchronize");
  Result (*event_elapsed_time)(float*, Event, Event) = library.function("cuEventElapsedTime");

  void check(Result result, std::string_view what) const {
    if (result == 0) return;
    const char* reason = nullptr;
    get_error_string(result, &reason);
    throw RuntimeError(
        "CUDA: " + std::string(what) + " failed: " +
        (reason == nullptr ? "error " + std::to_string(result) : std::string(reason)));
  }

  CudaDevice device(int id) const {
    CudaDevice device = 0;
    check(device_get(&device, id), "finding cuda(" + std::to_string(id) + ")");
    return device;
  }

  /// Makes the device's primary context, which is shared with other CUDA code of the process,
  /// current in this thread.
  void use(int id) {
    const std::lock_guard lock(mutex);
    Context& context = contexts[id];
    if (context == nullptr)
      check(primary_context_retain(&context, device(id)), "taking the device's context");
    check(context_set_current(context), "taking the device's context");
  }

  /// Does the same in a destructor. Returns false if the driver has shut down.
  bool can_use(int id) noexcept {
    try {
      use(id);
      return true;
    } catch (const RuntimeError&) {
      return false;
    }
  }

  std::mutex mutex;
  /// The primary contexts that are in use, by device. Guarded by `mutex`.
  std::map<int, Context> contexts;
};

Address address_of(const DLTensor& tensor) {
  return reinterpret_cast<Address>(tensor.data) + tensor.byte_offset;
}

/// Flag for events that only order streams.
constexpr unsigned kWithoutTimes = 2;
/// Flag for streams that do not synchronize with the device's default stream.
constexpr unsigned kNonBlocking = 1;

using EventOwner = std::unique_ptr<void, Result (*)(Event)>;

/// Precondition: the device's context is current.
EventOwner make_event(const Driver& driver, unsigned flags) {
  Event event = nullptr;
  driver.check(driver.event_create(&event, flags), "making an event");
  return {event, driver.event_destroy};
}

/// Returns the calling thread's stream; null is the device's default stream.
StreamHandle stream_handle(int id) { return stream_of_this_thread({DeviceType::Cuda, id}); }

/// CUDA_ERROR_NO_BINARY_FOR_GPU: the cubin is for another architecture.
constexpr Result kNoBinaryForDevice = 209;
/// CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES and CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES.
constexpr int kStaticSharedBytes = 1, kMaxDynamicSharedBytes = 8;
/// Bytes of shared memory, static and dynamic, that a kernel can use without setting the attribute.
constexpr int kDefaultSharedBytes = 48 * 1024;

class CudaKernels : public LoadedKernels {
 public:
  /// Precondition: the device's context is current.
  CudaKernels(Driver& driver, int id, const KernelImage& image)
      : driver_(driver), id_(id), specs_(image.kernels.begin(), image.kernels.end()) {
    if (image.binary.empty() && image.portable.empty())
      throw RuntimeError(
          "CUDA: these kernels exist only as text: where they were built, NVRTC (the compiler of "
          "CUDA C) was not found or did not know the architecture");
    Result loaded = kNoBinaryForDevice;
    if (!image.binary.empty()) loaded = driver_.module_load_data(&module_, image.binary.data());
    if (loaded == kNoBinaryForDevice && !image.portable.empty())
      loaded = driver_.module_load_data(&module_, image.portable.data());
    driver_.check(loaded, "loading kernels");
    for (const KernelSpec& spec : specs_) {
      Function function = nullptr;
      int shared = 0;
      Result result = driver_.module_get_function(&function, module_, spec.name.c_str());
      if (result == 0) result = driver_.func_get_attribute(&shared, kStaticSharedBytes, function);
      if (result != 0) driver_.module_unload(module_);
      driver_.check(result, "finding the kernel `" + spec.name + "`");
      functions_.push_back(function);
      max_dynamic_bytes_.push_back(std::max(kDefaultSharedBytes - shared, 0));
    }
  }
  ~CudaKernels() override {
    if (!driver_.can_use(id_)) return;
    // Unloading does not wait for running kernels.
    driver_.context_synchronize();
    driver_.module_unload(module_);
  }

  void launch(std::size_t kernel, std::span<const TenonValue> args,
              const LaunchSize& size) override {
    const KernelSpec& spec = specs_[kernel];
    driver_.use(id_);
    std::vector<TenonValue> values(args.begin(), args.end());
    std::vector<float> floats(args.size());
    std::vector<void*> params;
    for (std::size_t n = 0; n < args.size(); ++n) {
      // On a little-endian host, the first bytes of an integer are the lowest.
      params.push_back(&values[n]);
      if (spec.params[n] != Float(32)) continue;
      floats[n] = static_cast<float>(values[n].f);
      params.back() = &floats[n];
    }
    const std::string what = "launching the kernel `" + spec.name + "`";
    const auto number = [&](std::size_t extent) {
      if (extent > std::numeric_limits<unsigned>::max())
        throw RuntimeError("CUDA: " + what + " with an extent of " + std::to_string(extent) +
                           ", more than a device has");
      return static_cast<unsigned>(extent);
    };
    if (size.dynamic_shared_bytes > std::numeric_limits<int>::max())
      throw RuntimeError("CUDA: " + what + " with " + std::to_string(size.dynamic_shared_bytes) +
                         " bytes of shared memory, more than a device has");
    allow(kernel, static_cast<int>(size.dynamic_shared_bytes));
    driver_.check(driver_.launch_kernel(functions_[kernel], number(size.blocks[0]),
                                        number(size.blocks[1]), number(size.blocks[2]),
                                        number(size.threads[0]), number(size.threads[1]),
                                        number(size.threads[2]), number(size.dynamic_shared_bytes),
                                        stream_handle(id_), params.data(), nullptr),
                  what);
  }

 private:
  void allow(std::size_t kernel, int bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes <= max_dynamic_bytes_[kernel]) return;
    driver_.check(driver_.func_set_attribute(functions_[kernel], kMaxDynamicSharedBytes, bytes),
                  "asking for dynamic shared memory");
    max_dynamic_bytes_[kernel] = bytes;
  }

  Driver& driver_;
  const int id_;
  std::vector<KernelSpec> specs_;
  std::mutex mutex_;
  /// Bytes of dynamic shared memory that a launch of each kernel can currently use.
  std::vector<int> max_dynamic_bytes_;
  Module module_ = nullptr;
  std::vector<Function> functions_;
};

class CudaApi : public DeviceApi {
 public:
  CudaApi() { driver_.check(driver_.init(0), "starting the driver"); }

  int device_count() override {
    int count = 0;
    driver_.check(driver_.device_get_count(&count), "counting devices");
    return count;
  }

  std::string device_name(int id) override {
    char name[256] = {};
    driver_.check(driver_.device_get_name(name, sizeof(name) - 1, driver_.device(id)),
                  "asking for a device's name");
    return name;
  }

  void* allocate(int id, std::uint64_t nbytes, std::uint64_t) override {
    driver_.use(id);
    Address address = 0;  // aligned to 256 bytes by the driver
    driver_.check(driver_.mem_alloc(&address, nbytes == 0 ? 1 : nbytes),
                  "allocating " + std::to_string(nbytes) + " bytes");
    return reinterpret_cast<void*>(address);
  }

  void release(int id, void* data) noexcept override {
    if (!driver_.can_use(id)) return;
    // The driver does not guarantee to wait for kernels that use the memory.
    driver_.context_synchronize();
    driver_.mem_free(reinterpret_cast<Address>(data));
  }

  void copy(const DLTensor& from, const DLTensor& to, std::uint64_t nbytes) override {
    const bool to_cuda = to.device.device_type == kDLCUDA;
    const int source = from.device.device_id, id = to_cuda ? to.device.device_id : source;
    // A copy between two devices also waits for the thread's stream on the source device.
    if (to_cuda && from.device.device_type == kDLCUDA && source != id) {
      driver_.use(source);
      driver_.check(driver_.stream_synchronize(stream_handle(source)), "copying");
    }
    driver_.use(id);
    const StreamHandle stream = stream_handle(id);
    driver_.check(driver_.memcpy_async(address_of(to), address_of(from), nbytes, stream),
                  "copying");
    driver_.check(driver_.stream_synchronize(stream), "copying");
  }

  void synchronize(int id) override {
    driver_.use(id);
    driver_.check(driver_.context_synchronize(), "waiting for the device");
  }

  std::unique_ptr<LoadedKernels> load_kernels(int id, const KernelImage& image) override {
    driver_.use(id);
    return std::make_unique<CudaKernels>(driver_, id, image);
  }

  double seconds_of(int id, FunctionRef<void()> work) override {
    driver_.use(id);
    const StreamHandle stream = stream_handle(id);
    const EventOwner start = make_event(driver_, 0), stop = make_event(driver_, 0);
    driver_.check(driver_.event_record(start.get(), stream), "marking a time");
    work();
    driver_.use(id);
    driver_.check(driver_.event_record(stop.get(), stream), "marking a time");
    driver_.check(driver_.event_synchronize(stop.get()), "waiting for the device");
    float milliseconds = 0;
    driver_.check(driver_.event_elapsed_time(&milliseconds, start.get(), stop.get()),
                  "measuring a time");
    return static_cast<double>(milliseconds) * 1e-3;
  }

  std::shared_ptr<void> make_stream(int id) override {
    driver_.use(id);
    StreamHandle stream = nullptr;
    driver_.check(driver_.stream_create(&stream, kNonBlocking), "making a stream");
    // Destroying a stream does not cancel queued operations.
    return {stream, [&driver = driver_, id](StreamHandle handle) {
              if (driver.can_use(id)) driver.stream_destroy(handle);
            }};
  }

  void synchronize_stream(int id, void* stream) override {
    driver_.use(id);
    driver_.check(driver_.stream_synchronize(stream), "waiting for a stream");
  }

  void wait_for(int id, void* stream, void* other) override {
    driver_.use(id);
    const EventOwner event = make_event(driver_, kWithoutTimes);
    Result result = driver_.event_record(event.get(), other);
    if (result == 0) result = driver_.stream_wait_event(stream, event.get(), 0);
    driver_.check(result, "waiting for another stream");
  }

 private:
  Driver driver_;
};

}  // namespace

}  // namespace cuda_driver

std::unique_ptr<DeviceApi> make_cuda_api() {
  try {
    return std::make_unique<cuda_driver::CudaApi>();
  } catch (const RuntimeError& error) {
    throw RuntimeError("no CUDA driver found: " + std::string(error.what()));
  }
}

}  // namespace tenon::runtime
