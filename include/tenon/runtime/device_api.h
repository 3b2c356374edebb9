// What the runtime asks of a kind of device. Drivers are found with dlopen at the first use, so
// that everything builds and runs where there is none.
//
//   DeviceApi& api = device_api(DeviceType::Cuda);    // RuntimeError: no CUDA driver found: libcuda.so.1
//   cannot be loaded void* data = api.allocate(0, 1024, 128);
#pragma once

#include <cstdint>
#include <string>

#include "tenon/runtime/device.h"

namespace tenon::runtime {

/// A place in a device's memory, or in the host's.
struct MemoryPlace {
  Device device;
  void* data = nullptr;
  std::uint64_t byte_offset = 0;
};

class DeviceApi {
 public:
  virtual ~DeviceApi() = default;

  virtual int device_count() = 0;
  /// The vendor's name of the device.
  virtual std::string device_name(int id) = 0;
  /// Never null. Throws RuntimeError if there is no such device or not as much memory.
  virtual void* allocate(int id, std::uint64_t nbytes, std::uint64_t alignment) = 0;
  virtual void release(int id, void* data) = 0;
  /// Between places of this kind of device, or between one of them and the host. Returns when the
  /// bytes are there.
  virtual void copy(const MemoryPlace& from, const MemoryPlace& to, std::uint64_t nbytes) = 0;
  /// Waits for all that was started on the device.
  virtual void synchronize(int id) = 0;
};

/// Throws RuntimeError, naming the library that is missing, if the kind has no driver here.
DeviceApi& device_api(DeviceType type);

}  // namespace tenon::runtime
