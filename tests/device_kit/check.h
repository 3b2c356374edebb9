// Running cases on a device and comparing what they leave.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tenon/runtime/device.h"

namespace tenon::device_kit {

struct CheckOptions {
  std::string kernels, results;
  /// The groups to run; all if empty.
  std::set<std::string> groups;
  std::string only;
  Device device = cuda(0);
  /// The time limit of the run.
  double seconds = 1e9;
  /// Whether results are compared; off for the stand-in driver, which executes no kernel.
  bool numbers = true;
};

/// Runs the cases in a child process, one after the other. A case that ends the child or exceeds
/// its time limit has crashed, and a new child runs the rest. A case that was interrupted together
/// with an earlier run is run once more. Returns the exit status: 0 if all cases are right, 1 if
/// not, 3 if there is no device.
int check(const CheckOptions& options);

/// Runs a case in this process. Returns what is wrong, or "". Throws what the runtime throws.
std::string run_case(const CheckOptions& options, const std::string& name);

/// The group "tutorials": folders of numbered libraries, as tutorials write them with --save. Steps
/// with the same argument types get the same random inputs and must return the same results.
std::vector<std::string> tutorial_names(const std::string& kernels);
std::string run_tutorial(const CheckOptions& options, const std::string& name);

/// The group "runtime": checks of memory, streams, timers and errors, by name.
std::vector<std::string> runtime_checks();
std::string run_runtime_check(const CheckOptions& options, const std::string& name);

}  // namespace tenon::device_kit
