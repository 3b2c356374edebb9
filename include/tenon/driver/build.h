// build compiles a schedule, or loop programs, to callable functions.
//
//   runtime::Module mod = build(s, {A, B, C}, Target("llvm -mcpu=native"), {.name = "matmul"});
//   mod["matmul"](a, b, c);
#pragma once

#include "tenon/codegen/artifact.h"
#include "tenon/driver/lower.h"
#include "tenon/driver/target.h"
#include "tenon/runtime/module.h"

namespace tenon {

/// Compiles a schedule. Throws the errors of lower, and TargetError.
runtime::Module build(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                      const Target& target = Target("llvm"), const BuildOptions& options = {},
                      SourceLocation where = SourceLocation::current());
/// Compiles a module. First lowers the functions that are not lowered yet, with `options.passes`
/// and `instrument_bounds`. LowerError for a malformed function.
runtime::Module build(const tir::IRModule& module, const Target& target = Target("llvm"),
                      const BuildOptions& options = {},
                      SourceLocation where = SourceLocation::current());
/// Compiles several modules into one. LowerError for duplicate names.
runtime::Module build(const std::vector<tir::IRModule>& modules,
                      const Target& target = Target("llvm"), const BuildOptions& options = {},
                      SourceLocation where = SourceLocation::current());

/// Functions and their target.
struct TargetedModule {
  tir::IRModule module;
  Target target;
};
/// Compiles functions for several processors into one module, from which a program chooses at run
/// time:
///   build({{baseline, Target("llvm -mcpu=x86-64")}, {wide, Target("llvm -mcpu=native")}})
/// Loading the module requires a processor that can run all of them; saving it does not.
runtime::Module build(const std::vector<TargetedModule>& modules, const BuildOptions& options = {},
                      SourceLocation where = SourceLocation::current());

/// Compile without loading: for reading or saving code, also for another kind of processor.
codegen::Artifact compile(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                          const Target& target = Target("llvm"), const BuildOptions& options = {},
                          SourceLocation where = SourceLocation::current());
codegen::Artifact compile(const tir::IRModule& module, const Target& target = Target("llvm"),
                          const BuildOptions& options = {},
                          SourceLocation where = SourceLocation::current());
codegen::Artifact compile(const std::vector<TargetedModule>& modules,
                          const BuildOptions& options = {},
                          SourceLocation where = SourceLocation::current());

}  // namespace tenon
