// Observers of a build between lowering and code generation: the profiler's probes, and listings of
// functions next to their machine code.
#pragma once

#include "tenon/codegen/compile_options.h"
#include "tenon/driver/build.h"

namespace tenon {

class BuildWatcher {
 public:
  virtual ~BuildWatcher() = default;
  /// Receives each CPU function in the order of compilation: `lowered` is the result of lowering,
  /// and `ready` is ready for code generation. Returns the function to compile instead of `ready`.
  virtual tir::PrimFunc add(const tir::PrimFunc& lowered, const tir::PrimFunc& ready) = 0;
  /// Receives each device kernel that is ready for code generation. Returns the kernel to emit
  /// instead.
  virtual tir::PrimFunc add_kernel(const tir::PrimFunc& kernel) { return kernel; }
  /// Sets the options that code generation needs, such as `profiler` or `lines`. Called after all
  /// functions have been added. Objects that the options point to must live as long as this
  /// watcher.
  virtual void set_up(codegen::CompileOptions& options) = 0;
  /// Returns the source lines to show for the statements of the functions and kernels added so far;
  /// null if the code should not have line numbers.
  virtual const codegen::StatementLines* lines() const { return nullptr; }
};

/// Compiles as `compile` does, and reports each function to the watcher.
codegen::Artifact compile_watched(const te::Schedule& schedule,
                                  const std::vector<LowerArgument>& args, const Target& target,
                                  const BuildOptions& options, const SourceLocation& where,
                                  BuildWatcher& watcher);
codegen::Artifact compile_watched(const tir::IRModule& module, const Target& target,
                                  const BuildOptions& options, const SourceLocation& where,
                                  BuildWatcher& watcher);

}  // namespace tenon
