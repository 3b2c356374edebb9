// CUDA's driver interface, found when the program runs: no header and no library of CUDA is needed
// to build. The declarations are those of its documentation; every entry that has two versions is
// the second.
#include <map>
#include <mutex>
#include <string>

#include "runtime/device_apis.h"
#include "runtime/dynamic_library.h"
#include "tenon/support/error.h"

namespace tenon::runtime {

namespace {

using Result = int;
using CudaDevice = int;
using Context = void*;
using Address = unsigned long long;

struct Driver {
  DynamicLibrary library{"libcuda.so.1", DynamicLibrary::Lifetime::OfTheProcess};

  Result (*init)(unsigned) = library.function<Result(unsigned)>("cuInit");
  Result (*get_error_string)(Result, const char**) =
      library.function<Result(Result, const char**)>("cuGetErrorString");
  Result (*device_get_count)(int*) = library.function<Result(int*)>("cuDeviceGetCount");
  Result (*device_get)(CudaDevice*,
                       int) = library.function<Result(CudaDevice*, int)>("cuDeviceGet");
  Result (*device_get_name)(char*, int, CudaDevice) =
      library.function<Result(char*, int, CudaDevice)>("cuDeviceGetName");
  Result (*primary_context_retain)(Context*, CudaDevice) =
      library.function<Result(Context*, CudaDevice)>("cuDevicePrimaryCtxRetain");
  Result (*context_set_current)(Context) = library.function<Result(Context)>("cuCtxSetCurrent");
  Result (*context_synchronize)() = library.function<Result()>("cuCtxSynchronize");
  Result (*mem_alloc)(Address*, std::size_t) =
      library.function<Result(Address*, std::size_t)>("cuMemAlloc_v2");
  Result (*mem_free)(Address) = library.function<Result(Address)>("cuMemFree_v2");
  // Addresses are unified, so that one call copies in every direction.
  Result (*memcpy)(Address, Address, std::size_t) =
      library.function<Result(Address, Address, std::size_t)>("cuMemcpy");

  void check(Result result, const char* what) const {
    if (result == 0) return;
    const char* reason = nullptr;
    get_error_string(result, &reason);
    throw RuntimeError(
        "CUDA: " + std::string(what) + " failed: " +
        (reason == nullptr ? "error " + std::to_string(result) : std::string(reason)));
  }
};

Address address_of(const MemoryPlace& place) {
  return reinterpret_cast<Address>(place.data) + place.byte_offset;
}

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
    driver_.check(driver_.device_get_name(name, sizeof(name) - 1, device(id)),
                  "asking for a device's name");
    return name;
  }

  void* allocate(int id, std::uint64_t nbytes, std::uint64_t) override {
    use(id);
    Address address = 0;  // aligned to 256 bytes by the driver
    const std::string what = "allocating " + std::to_string(nbytes) + " bytes";
    driver_.check(driver_.mem_alloc(&address, nbytes == 0 ? 1 : nbytes), what.c_str());
    return reinterpret_cast<void*>(address);
  }

  void release(int id, void* data) override {
    use(id);
    driver_.check(driver_.mem_free(reinterpret_cast<Address>(data)), "freeing memory");
  }

  void copy(const MemoryPlace& from, const MemoryPlace& to, std::uint64_t nbytes) override {
    const bool to_cuda = to.device.type == DeviceType::Cuda;
    use(to_cuda ? to.device.id : from.device.id);
    driver_.check(driver_.memcpy(address_of(to), address_of(from), nbytes), "copying");
    driver_.check(driver_.context_synchronize(), "copying");
  }

  void synchronize(int id) override {
    use(id);
    driver_.check(driver_.context_synchronize(), "waiting for the device");
  }

 private:
  CudaDevice device(int id) const {
    CudaDevice device = 0;
    const std::string what = "finding cuda(" + std::to_string(id) + ")";
    driver_.check(driver_.device_get(&device, id), what.c_str());
    return device;
  }

  /// Makes the device's primary context, which other CUDA code of the process shares, this
  /// thread's.
  void use(int id) {
    std::lock_guard lock(mutex_);
    Context& context = contexts_[id];
    if (context == nullptr)
      driver_.check(driver_.primary_context_retain(&context, device(id)),
                    "taking the device's context");
    driver_.check(driver_.context_set_current(context), "taking the device's context");
  }

  Driver driver_;
  std::mutex mutex_;
  std::map<int, Context> contexts_;
};

}  // namespace

std::unique_ptr<DeviceApi> make_cuda_api() {
  try {
    return std::make_unique<CudaApi>();
  } catch (const RuntimeError& error) {
    throw RuntimeError("no CUDA driver found: " + std::string(error.what()));
  }
}

}  // namespace tenon::runtime
