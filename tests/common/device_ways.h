// Ways to run a lowered function whose loops are bound to threads: after each pass for devices, and
// as kernels that are put back for their launches.
#pragma once

#include <string>
#include <vector>

#include "tenon/tir/function.h"

namespace tenon::testing {

struct DeviceWay {
  std::string name;
  tir::PrimFunc func;
  /// Whether its barriers are there, so that races are faults.
  bool has_barriers;
};

/// For devices whose warps exchange values, and for those that have none. What a pass leaves alone
/// is not repeated, and a function without threads has one way, the last. One that a device cannot
/// run as a whole, since some of its stages are not bound, is not split. Kernels that do not verify
/// are an InternalError.
std::vector<DeviceWay> ways_on_devices(const tir::PrimFunc& lowered);

}  // namespace tenon::testing
