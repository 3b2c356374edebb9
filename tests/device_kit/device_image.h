// Reads what CUDA's driver loads: machine code (a cubin) or PTX, with the kernels in it and what
// each launch of them must give. Neither the format of cubins nor that of their .nv.info sections
// is documented; the tests compile kernels of known content and find it there.
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
  /// Cubins do not distinguish pointers from integers of 64 bits.
  Kind kind = Kind::Unknown;
  /// In bytes. If it is a pointer, every access through it needs a multiple of this.
  std::size_t alignment = 1;
  /// If it is a pointer, whether the kernel may write through it.
  bool is_written = true;
};

struct DeviceKernel {
  std::string name;
  std::vector<KernelParameter> parameters = {};
  std::size_t static_shared_bytes = 0;
  /// Of a block, by __launch_bounds__. 0: no limit of its own.
  unsigned max_threads = 0;
  /// Extents of a block that the kernel was compiled for; zeros: any.
  std::array<unsigned, 3> required_threads = {};
  /// Per thread; 0: not known.
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
  /// 90 of version 9.0; 0 for a cubin.
  int ptx_version = 0;
  Architecture architecture = {};
  std::vector<DeviceKernel> kernels = {};

  /// Throws ImageError for something else than a cubin or PTX that ends with a zero.
  static DeviceImage read(const void* image);
};

}  // namespace tenon::testing
