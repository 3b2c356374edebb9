#include "runtime/devices/opencl_driver.h"

#include "tenon/support/error.h"

namespace tenon::runtime::opencl_driver {

namespace {

/// Returns the specification's description of errors that a user's program can cause.
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

}  // namespace

void check(Result result, const std::string& what) {
  if (result != 0)
    throw RuntimeError("OpenCL: " + what + " failed with error " + std::to_string(result) +
                       meaning_of(result));
}

std::string text_of(const Driver& driver, DeviceId device, std::uint32_t what) {
  std::size_t size = 0;
  check(driver.get_device_info(device, what, 0, nullptr, &size), "asking a device");
  std::string text(size, '\0');
  check(driver.get_device_info(device, what, size, text.data(), nullptr), "asking a device");
  return text.c_str();
}

}  // namespace tenon::runtime::opencl_driver
