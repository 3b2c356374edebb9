// Running cases on a device and comparing what they leave.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tenon/runtime/device.h"

namespace tenon::device_kit {

struct CheckOptions {
  std::string kernels, results;
  std::optional<std::string> group;
  std::string only;
  Device device = cuda(0);
  /// The case whose turn it is when so many seconds are over is the last.
  double seconds = 1e9;
  /// Whether results are compared. A driver that computes nothing leaves none.
  bool numbers = true;
};

/// Each case in a process that goes on with the next one; a case that ends or blocks the process
/// has crashed, and the next one gets a new process. The exit status: 0, 1 if one is not right, 3
/// without a device.
int check(const CheckOptions& options);

/// Runs a case here. "" or what is wrong; throws what the runtime throws.
std::string run_case(const CheckOptions& options, const std::string& name);

/// The group "runtime": what no kernel file says. Their names, and one of them: "" or what is
/// wrong.
std::vector<std::string> runtime_checks();
std::string run_runtime_check(const CheckOptions& options, const std::string& name);

}  // namespace tenon::device_kit
