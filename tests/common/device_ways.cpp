#include "tests/common/device_ways.h"

#include <optional>

#include "tenon/lower/pipeline.h"
#include "tenon/lower/split_kernels.h"
#include "tenon/support/error.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"
#include "tests/common/run_on_device.h"

namespace tenon::testing {

namespace {

void check(const std::vector<tir::Violation>& violations, const tir::PrimFunc& func) {
  if (violations.empty()) return;
  throw InternalError(violations[0].what + " (" + violations[0].where + ") in\n" +
                      tir::print_function(func));
}

/// Nullopt where stages are not bound, or need more than a device has.
std::optional<tir::PrimFunc> split_and_joined(const tir::PrimFunc& func) {
  tir::TargetFacts target;
  target.kind = tir::TargetKind::OpenCl;
  tir::walk(func.body, [&](const tir::Allocate& n) {
    const auto& pointer = n.data.as<tir::VarNode>()->pointer;
    if (!pointer || pointer->scope.value_or(tir::StorageScope::Global) <= tir::StorageScope::Local)
      return;
    target.kind = tir::TargetKind::Cuda;
    target.arch = "sm_90";
  });
  target.max_threads_per_block = 1 << 16;
  target.max_shared_bytes = 1 << 30;
  try {
    lowering::DeviceProgram program = lowering::split_kernels(func, target);
    check(tir::verify(program.host, tir::Form::Lowered), program.host);
    for (tir::PrimFunc& kernel : program.kernels) {
      kernel = lowering::run_passes(lowering::kernel_passes(), kernel,
                                    {.passes = lowering::options_of_kernels()});
      check(tir::verify(kernel, tir::Form::Lowered), kernel);
      check(lowering::verify_kernel(kernel), kernel);
    }
    return lowering::join_kernels(program);
  } catch (const LowerError&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<DeviceWay> ways_on_devices(const tir::PrimFunc& lowered) {
  if (!has_threads(lowered))
    return {{"for devices", lowering::run_passes(lowering::device_passes(), lowered), true}};
  std::vector<DeviceWay> ways;
  for (const int warp_size : {0, 32}) {
    const std::string with = warp_size > 0 ? " (warps)" : "";
    bool has_barriers = false;
    lowering::PassOptions options;
    options.warp_size = warp_size;
    options.has_async_copies = warp_size > 0;
    options.on_pass = [&](const lowering::PassOptions::PassReport& report) {
      has_barriers |= report.pass == "synchronize-threads";
      if (!has_barriers && report.after.body.same_as(report.before.body)) return;
      ways.push_back({"after " + std::string(report.pass) + with, report.after, has_barriers});
    };
    const tir::PrimFunc last =
        lowering::run_passes(lowering::device_passes(), lowered, {.passes = options});
    if (std::optional<tir::PrimFunc> joined = split_and_joined(last))
      ways.push_back({"as kernels" + with, *joined, true});
    bool has_more = false;
    tir::walk(
        lowered.body,
        [&](const tir::Call& n) { has_more |= n.is(tir::Intrin::tvm_thread_allreduce); },
        [&](const tir::Attr& n) { has_more |= n.kind == tir::AttrKind::DoubleBufferWrite; });
    if (!has_more) break;
  }
  return ways;
}

}  // namespace tenon::testing
