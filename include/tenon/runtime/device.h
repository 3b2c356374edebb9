// A device: a kind and a number. A plain value; drivers are loaded only when its existence is
// queried.
//
//   auto c = runtime::NDArray::empty({64}, Float(32), cpu(0));
//   if (!cuda(0).exists()) std::cout << cuda(0).why_missing() << '\n';
//   // no CUDA driver found: libcuda.so.1 cannot be loaded (...)
#pragma once

#include <cstdint>
#include <string>

namespace tenon::runtime {

/// The kinds of devices, with DLPack's values.
enum class DeviceType : std::int32_t { Cpu = 1, Cuda = 2, OpenCL = 4 };

/// Returns "cpu", "cuda" or "opencl"; "device type 9" for an unknown kind.
std::string to_string(DeviceType type);

/// A device of a kind, by number. The host is cpu(0).
struct Device {
  DeviceType type = DeviceType::Cpu;
  int id = 0;

  /// Whether arrays can be allocated on this device: the driver is found and has a device of this
  /// number.
  bool exists() const;
  /// Returns what is missing, as a sentence; empty if the device exists.
  std::string why_missing() const;
  /// Returns the device as text: "cuda(0)".
  std::string str() const;

  friend bool operator==(const Device&, const Device&) = default;
};

}  // namespace tenon::runtime

namespace tenon {

using runtime::Device;
using runtime::DeviceType;

inline runtime::Device cpu(int id = 0) { return {runtime::DeviceType::Cpu, id}; }
inline runtime::Device cuda(int id = 0) { return {runtime::DeviceType::Cuda, id}; }
/// Returns an OpenCL device. They are numbered in the order in which the platforms list them.
inline runtime::Device opencl(int id = 0) { return {runtime::DeviceType::OpenCL, id}; }

}  // namespace tenon
