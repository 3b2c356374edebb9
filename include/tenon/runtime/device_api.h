// What the runtime asks of a kind of device. Drivers are found with dlopen at the first use, so
// that everything builds and runs where there is none.
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

namespace tenon::runtime {

/// A place in a device's memory, or in the host's.
struct MemoryPlace {
  Device device;
  void* data = nullptr;
  std::uint64_t byte_offset = 0;
};

/// Kernels as a module carries them. Its owner keeps all of it while they are loaded.
struct KernelImage {
  std::span<const KernelSpec> kernels;
  std::string_view source;
  /// Machine code of one architecture; empty where no compiler was found.
  std::span<const std::byte> binary;
  /// Zero-terminated PTX, for devices of other architectures.
  std::string_view portable = {};
};

/// Extents of a launch; all positive.
struct LaunchSize {
  std::size_t blocks[3];
  std::size_t threads[3];
  std::size_t dynamic_shared_bytes;
};

/// Kernels on one device. Any thread may launch.
class LoadedKernels {
 public:
  virtual ~LoadedKernels() = default;
  /// Returns when the kernel is queued in the calling thread's stream; the arguments are copied.
  /// Throws RuntimeError with what the driver refuses. Precondition: the arguments are as many as
  /// the kernel's spec says.
  virtual void launch(std::size_t kernel, std::span<const TenonValue> args,
                      const LaunchSize& size) = 0;
};

/// A queue of a device. What is started in it runs in order.
class DeviceStream {
 public:
  virtual ~DeviceStream() = default;
  /// Waits for all that was started in it.
  virtual void synchronize() = 0;
  /// What is started in it from now on waits for all that was started in the other one, which is
  /// another stream of the same device.
  virtual void wait_for(DeviceStream& other) = 0;
};

/// Measures what a device does between two points of the program, in the stream of the thread that
/// made it.
class DeviceTimer {
 public:
  virtual ~DeviceTimer() = default;
  virtual void start() = 0;
  /// Waits for all that was started in the stream, and gives the seconds from the end of what was
  /// started before start() to the end of what was started since.
  virtual double stop() = 0;
};

class DeviceApi {
 public:
  virtual ~DeviceApi() = default;

  virtual int device_count() = 0;
  /// The vendor's name of the device.
  virtual std::string device_name(int id) = 0;
  /// Never null. Throws RuntimeError if there is no such device or not as much memory.
  virtual void* allocate(int id, std::uint64_t nbytes, std::uint64_t alignment) = 0;
  /// Waits for kernels that use the memory. Leaks it if the device has failed.
  virtual void release(int id, void* data) noexcept = 0;
  /// Between places of this kind of device, or between one of them and the host, in the calling
  /// thread's stream. Returns when the bytes are there.
  virtual void copy(const MemoryPlace& from, const MemoryPlace& to, std::uint64_t nbytes) = 0;
  /// Waits for all that was started on the device.
  virtual void synchronize(int id) = 0;
  /// Beside the device's own. Throws RuntimeError if this kind has none.
  virtual std::unique_ptr<DeviceStream> make_stream(int id);
  /// Throws RuntimeError, with the driver's message, if they cannot be compiled or loaded there.
  virtual std::unique_ptr<LoadedKernels> load_kernels(int id, const KernelImage& image);
  /// By the device's own clock where it has one; else by the host's, which waits for the device
  /// before it looks.
  virtual std::unique_ptr<DeviceTimer> make_timer(int id);
};

/// Throws RuntimeError, naming the library that is missing, if the kind has no driver here.
DeviceApi& device_api(DeviceType type);

}  // namespace tenon::runtime
