// Reads the images that CUDA's driver loads, machine code (a cubin) or PTX: their architecture,
// their kernels, and the parameters and limits of each kernel. NVIDIA does not document the format
// of cubins; the tests compile kernels of known content and check what is read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::testing {

/// An image that is malformed, with the code that the driver returns for it.
struct ImageError : std::runtime_error {
  ImageError(int code, const std::string& what) : std::runtime_error(what), code(code) {}
  int code;
};

struct KernelParameter {
  enum class Kind { Unknown, Pointer, Scalar };

  std::size_t offset = 0, bytes = 0;
  /// Cubins do not distinguish pointers from other values of 64 bits, and PTX only where it
  /// converts them to addresses.
  Kind kind = Kind::Unknown;
  /// Alignment in bytes that the widest access through a pointer needs.
  std::size_t alignment = 1;
  /// Whether the kernel may write through a pointer.
  bool is_written = true;
};

struct DeviceKernel {
  std::string name;
  std::vector<KernelParameter> parameters = {};
  std::size_t static_shared_bytes = 0;
  /// Maximum threads of a block, from __launch_bounds__; 0 if unlimited.
  unsigned max_threads = 0;
  /// The only extents of a block that the kernel accepts; zeros if it accepts any.
  std::array<unsigned, 3> required_threads = {};
  /// Registers per thread; 0 if unknown.
  unsigned registers = 0;
};

/// sm_90a is {9, 0, true}.
struct Architecture {
  int major = 0, minor = 0;
  /// Runs only on devices of exactly this architecture.
  bool is_specific = false;

  std::string str() const;
};

struct DeviceImage {
  bool is_ptx = false;
  /// Ten times the version of PTX, 0 for a cubin: 90 is version 9.0.
  int ptx_version = 0;
  Architecture architecture = {};
  std::vector<DeviceKernel> kernels = {};

  /// Throws ImageError unless `image` is a cubin or PTX that ends with a zero.
  static DeviceImage read(const void* image);
};

}  // namespace tenon::testing
