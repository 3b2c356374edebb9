#include "driver/device_functions.h"

#include "tenon/codegen/c_like/kernels.h"
#include "tenon/driver/target.h"
#include "tenon/lower/pipeline.h"
#include "tenon/lower/split_kernels.h"

namespace tenon {

codegen::CompileUnit for_device(const tir::IRModule& module, const lowering::PassOptions& options,
                                const tir::TargetFacts& target, bool stage_comments,
                                BuildWatcher* watcher) {
  // Host code only launches kernels. A generic processor lets a saved module run on other hosts.
  codegen::CompileUnit unit{.module = {}, .target = Target("llvm -mcpu=generic").facts()};
  lowering::PassOptions on_device = options;
  // Subgroup exchange is an OpenCL extension that the target must name.
  on_device.warp_size =
      target.kind == tir::TargetKind::Cuda ? target.warp_size : target.subgroup_size;
  // Asynchronous copies require sm_80.
  on_device.has_async_copies =
      target.kind == tir::TargetKind::Cuda && lowering::compute_capability(target) >= 80;
  const auto run = [&](std::span<const lowering::Pass> passes, const tir::PrimFunc& func) {
    return lowering::run_passes(passes, func, {.passes = on_device});
  };
  std::vector<tir::PrimFunc> kernels;
  lowering::PassOptions in_kernels = lowering::options_of_kernels(on_device);
  in_kernels.has_dp4a =
      target.kind == tir::TargetKind::Cuda && lowering::compute_capability(target) >= 61;
  for (const auto& [name, func] : module.functions) {
    tir::PrimFunc whole = func;
    if (target.fast_math) whole = run(lowering::fast_math_passes(), whole);
    lowering::DeviceProgram program =
        lowering::split_kernels(run(lowering::device_passes(), whole), target);
    unit.module.functions.emplace(name, run(lowering::host_passes(), program.host));
    for (const tir::PrimFunc& kernel : program.kernels) {
      kernels.push_back(
          lowering::run_passes(lowering::kernel_passes(), kernel, {.passes = in_kernels}));
      if (watcher) kernels.back() = watcher->add_kernel(kernels.back());
    }
  }
  unit.kernels = codegen::emit_kernels(
      kernels, target,
      {.stage_comments = stage_comments, .lines = watcher ? watcher->lines() : nullptr});
  return unit;
}

}  // namespace tenon
