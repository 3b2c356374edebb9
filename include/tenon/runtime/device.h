// A device: a kind and a number. A plain value; nothing is loaded until somebody asks whether it
// exists.
//
//   auto c = runtime::NDArray::empty({64}, Float(32), cpu(0));
//   if (!cuda(0).exists()) std::cout << cuda(0).why_missing() << '\n';
//   // no CUDA driver found: libcuda.so.1 cannot be loaded (...)
#pragma once

#include <cstdint>
#include <string>

namespace tenon::runtime {

/// The values are DLPack's.
enum class DeviceType : std::int32_t { Cpu = 1, Cuda = 2, OpenCL = 4 };

/// "cpu", "cuda", "opencl"; "device type 9" for one that this runtime does not know.
std::string to_string(DeviceType type);

/// One of a kind of devices, by its number; the host is cpu(0).
struct Device {
  DeviceType type = DeviceType::Cpu;
  int id = 0;

  /// Whether arrays can be made there now: the driver is found and has a device of that number.
  bool exists() const;
  /// A sentence on what is missing; empty if the device exists.
  std::string why_missing() const;
  /// "cuda(0)"
  std::string str() const;

  friend bool operator==(const Device&, const Device&) = default;
};

}  // namespace tenon::runtime

namespace tenon {

using runtime::Device;
using runtime::DeviceType;

inline runtime::Device cpu(int id = 0) { return {runtime::DeviceType::Cpu, id}; }
inline runtime::Device cuda(int id = 0) { return {runtime::DeviceType::Cuda, id}; }
/// One of OpenCL's devices, in the order in which its platforms name them.
inline runtime::Device opencl(int id = 0) { return {runtime::DeviceType::OpenCL, id}; }

}  // namespace tenon
