// Preparation of functions for a device: the host functions and the kernels that they launch.
#pragma once

#include "tenon/codegen/compile_options.h"
#include "tenon/driver/build_watcher.h"
#include "tenon/lower/pipeline.h"

namespace tenon {

/// Returns the compile unit of lowered functions. Throws LowerError for code that the device cannot
/// run, such as array elements that no thread computes. `watcher` may be nullptr. Precondition: the
/// target is a GPU.
codegen::CompileUnit for_device(const tir::IRModule& module, const lowering::PassOptions& options,
                                const tir::TargetFacts& target, bool stage_comments,
                                BuildWatcher* watcher);

}  // namespace tenon
