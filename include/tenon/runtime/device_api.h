// The interface between the runtime and a kind of device. Drivers are loaded with dlopen at the
// first use, so that everything builds and runs without them.
//
//   DeviceApi& api = device_api(DeviceType::Cuda);
//       // RuntimeError: no CUDA driver found: libcuda.so.1 cannot be loaded
//   void* data = api.allocate(0, 1024, 128);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tenon/runtime/c_api.h"
#include "tenon/runtime/device.h"
#include "tenon/runtime/kernel_spec.h"
#include "tenon/support/function_ref.h"

namespace tenon::runtime {

inline Device device_of(const DLTensor& tensor) {
  return {static_cast<DeviceType>(tensor.device.device_type), tensor.device.device_id};
}

/// Kernels as stored in a module. The module keeps this data alive while the kernels are loaded.
struct KernelImage {
  std::span<const KernelSpec> kernels;
  std::string_view source;
  /// Machine code for one architecture; empty if no compiler was found.
  std::span<const std::byte> binary;
  /// Zero-terminated PTX for devices of other architectures.
  std::string_view portable = {};
};

/// The extents of a launch; all positive.
struct LaunchSize {
  std::size_t blocks[3];
  std::size_t threads[3];
  std::size_t dynamic_shared_bytes;
};

/// Kernels loaded on one device. Thread-safe.
class LoadedKernels {
 public:
  virtual ~LoadedKernels() = default;
  /// Queues a launch in the calling thread's stream and returns; the arguments are copied.
  /// RuntimeError with the driver's message. Precondition: the number of arguments matches the
  /// kernel's spec.
  virtual void launch(std::size_t kernel, std::span<const TenonValue> args,
                      const LaunchSize& size) = 0;
};

class DeviceApi {
 public:
  virtual ~DeviceApi() = default;

  virtual int device_count() = 0;
  /// Returns the vendor's name of the device.
  virtual std::string device_name(int id) = 0;
  /// Allocates memory; never null. RuntimeError if the device does not exist or is out of memory.
  virtual void* allocate(int id, std::uint64_t nbytes, std::uint64_t alignment) = 0;
  /// Frees memory after the kernels that use it have finished. Leaks it if the device has failed.
  virtual void release(int id, void* data) noexcept = 0;
  /// Copies bytes, starting at the first elements of two compact tensors on devices of this kind,
  /// or of one of them and one on the host, in the calling thread's stream. Only the data, byte
  /// offset and device of the tensors are used. Returns when the copy is complete.
  virtual void copy(const DLTensor& from, const DLTensor& to, std::uint64_t nbytes) = 0;
  /// Waits for all operations on the device.
  virtual void synchronize(int id) = 0;
  /// Makes a stream in addition to the device's default one, and returns the driver's handle of it.
  /// Releasing the stream does not cancel queued operations. RuntimeError if this kind of device
  /// has no streams.
  virtual std::shared_ptr<void> make_stream(int id);
  /// Waits for all operations queued so far in a stream of the device.
  virtual void synchronize_stream(int /*id*/, void* /*stream*/) {}
  /// Makes later operations in `stream` wait for all operations queued so far in `other`, a
  /// different stream of the same device.
  virtual void wait_for(int /*id*/, void* /*stream*/, void* /*other*/) {}
  /// Loads kernels on a device. RuntimeError, with the driver's message, if they cannot be compiled
  /// or loaded.
  virtual std::unique_ptr<LoadedKernels> load_kernels(int id, const KernelImage& image);
  /// Calls `work` and waits for the calling thread's stream. Returns the seconds between the end of
  /// the operations queued before `work` and the end of those that it queued, by the device's
  /// clock. If the device has no clock, waits for the device and reads the host's clock.
  virtual double seconds_of(int id, FunctionRef<void()> work);
};

/// Returns the interface of a kind of device. RuntimeError, naming the missing library, if it has
/// no driver here.
DeviceApi& device_api(DeviceType type);

}  // namespace tenon::runtime
