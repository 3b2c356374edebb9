// The library's schedules for devices, each on a few shapes: whole tiles, and sizes that no tile
// divides.
#pragma once

#include <tenon/tenon.h>

namespace tenon::testing {

struct GpuProgram {
  std::string name;
  te::Schedule schedule;
  std::vector<LowerArgument> args;
};

/// Without what only tensor cores do.
std::vector<GpuProgram> gpu_programs(const tir::TargetFacts& target);
/// CUDA only.
std::vector<GpuProgram> tensor_core_programs(const tir::TargetFacts& target);

}  // namespace tenon::testing
