// Functions for a device, made ready for code: those of the host, and the kernels that they launch.
#pragma once

#include "tenon/codegen/compile_options.h"
#include "tenon/driver/build_watcher.h"
#include "tenon/lower/pipeline.h"

namespace tenon {

/// What is compiled for a device from functions that have been lowered. Throws LowerError for what
/// the device cannot run, such as elements of arrays that no thread computes. Precondition: the
/// target is a GPU's. The watcher may be null.
codegen::CompileUnit for_device(const tir::IRModule& module, const lowering::PassOptions& options,
                                const tir::TargetFacts& target, bool stage_comments,
                                BuildWatcher* watcher);

}  // namespace tenon
