// Running cases on a device and comparing what they leave.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tenon/runtime/device.h"

namespace tenon::device_kit {

struct CheckOptions {
  std::string kernels, results;
  /// Those whose cases are run; none: all.
  std::set<std::string> groups;
  std::string only;
  Device device = cuda(0);
  /// The case whose turn it is when so many seconds are over is the last.
  double seconds = 1e9;
  /// Whether results are compared. A driver that computes nothing leaves none.
  bool numbers = true;
};

/// Each case in a process that goes on with the next one; a case that ends or blocks the process
/// has crashed, and the next one gets a new process. A case that the end of an earlier run
/// interrupted runs once more. The exit status: 0, 1 if one is not right, 3
/// without a device.
int check(const CheckOptions& options);

/// Runs a case here. "" or what is wrong; throws what the runtime throws.
std::string run_case(const CheckOptions& options, const std::string& name);

/// The group "tutorials": folders of numbered libraries, as tutorials write them with --save. All
/// steps of a tutorial are given the same random inputs and must leave the same, as far as they
/// take arrays of the same types.
std::vector<std::string> tutorial_names(const std::string& kernels);
std::string run_tutorial(const CheckOptions& options, const std::string& name);

/// The group "runtime": what no kernel file says. Their names, and one of them: "" or what is
/// wrong.
std::vector<std::string> runtime_checks();
std::string run_runtime_check(const CheckOptions& options, const std::string& name);

}  // namespace tenon::device_kit
