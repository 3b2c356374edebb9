// What takes part in a build between lowering and code: the profile's probes, and listings of
// functions beside their machine code.
#pragma once

#include "tenon/codegen/compile_options.h"
#include "tenon/driver/build.h"

namespace tenon {

class BuildWatcher {
 public:
  virtual ~BuildWatcher() = default;
  /// Given each function for a CPU as it was lowered and as it is ready for code, in the order in
  /// which they are compiled. Returns what is to be compiled instead of `ready`.
  virtual tir::PrimFunc add(const tir::PrimFunc& lowered, const tir::PrimFunc& ready) = 0;
  /// Given each kernel for a device as it is ready for code; returns what is to be emitted instead.
  virtual tir::PrimFunc add_kernel(const tir::PrimFunc& kernel) { return kernel; }
  /// When all functions have been added. What the options refer to lives as long as this.
  virtual void set_up(codegen::CompileOptions& options) = 0;
  /// Of the functions and kernels that have been added so far; null if code need not tell of lines.
  virtual const codegen::StatementLines* lines() const { return nullptr; }
};

/// `compile`, watched.
codegen::Artifact compile_watched(const te::Schedule& schedule,
                                  const std::vector<LowerArgument>& args, const Target& target,
                                  const BuildOptions& options, const SourceLocation& where,
                                  BuildWatcher& watcher);
codegen::Artifact compile_watched(const tir::IRModule& module, const Target& target,
                                  const BuildOptions& options, const SourceLocation& where,
                                  BuildWatcher& watcher);

}  // namespace tenon
