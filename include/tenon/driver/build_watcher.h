// Observers of a build between lowering and code generation: the profiler's probes, and listings of
// functions next to their machine code.
#pragma once

#include <functional>

#include "tenon/codegen/compile_options.h"
#include "tenon/driver/build.h"

namespace tenon {

/// The callbacks of an observer.
struct BuildWatcher {
  /// Receives each CPU function in the order of compilation: `lowered` is the result of lowering,
  /// and `ready` is ready for code generation. Returns the function to compile instead of `ready`.
  std::function<tir::PrimFunc(const tir::PrimFunc& lowered, const tir::PrimFunc& ready)> add;
  /// Receives each device kernel that is ready for code generation. Returns the kernel to emit
  /// instead. Required for devices.
  std::function<tir::PrimFunc(const tir::PrimFunc& kernel)> add_kernel = {};
  /// The source lines to show for the statements of the functions and kernels added so far; null if
  /// the code should not have line numbers.
  const codegen::StatementLines* lines = nullptr;
  /// Sets the options with which the functions report to a profiler. Called after all functions
  /// have been added.
  std::function<void(codegen::CompileOptions& options)> set_profiler = {};
};

/// Compiles as `compile` does, and reports each function to the watcher.
codegen::Artifact compile_watched(const te::Schedule& schedule,
                                  const std::vector<LowerArgument>& args, const Target& target,
                                  const BuildOptions& options, const SourceLocation& where,
                                  const BuildWatcher& watcher);
codegen::Artifact compile_watched(const tir::IRModule& module, const Target& target,
                                  const BuildOptions& options, const SourceLocation& where,
                                  const BuildWatcher& watcher);

}  // namespace tenon
