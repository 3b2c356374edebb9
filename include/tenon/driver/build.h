// build: from a schedule, or from loop programs, to functions that run.
//
//   runtime::Module mod = build(s, {A, B, C}, Target("llvm -mcpu=native"), {.name = "matmul"});
//   mod["matmul"](a, b, c);
#pragma once

#include "tenon/codegen/artifact.h"
#include "tenon/driver/lower.h"
#include "tenon/driver/target.h"
#include "tenon/runtime/module.h"

namespace tenon {

/// Throws what lower throws, and TargetError.
runtime::Module build(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                      const Target& target = Target("llvm"), const BuildOptions& options = {},
                      SourceLocation where = SourceLocation::current());
/// Functions that lower has made; one that is still multi-dimensional is lowered first, with
/// `options.passes` and `instrument_bounds`. LowerError for a function that is malformed.
runtime::Module build(const tir::IRModule& module, const Target& target = Target("llvm"),
                      const BuildOptions& options = {},
                      SourceLocation where = SourceLocation::current());
/// Several of them in one module; the same name twice is a LowerError.
runtime::Module build(const std::vector<tir::IRModule>& modules,
                      const Target& target = Target("llvm"), const BuildOptions& options = {},
                      SourceLocation where = SourceLocation::current());

/// Functions, and the processor that they are for.
struct TargetedModule {
  tir::IRModule module;
  Target target;
};
/// Functions for several processors in one module, as for a program that chooses among them when it
/// runs:
///   build({{baseline, Target("llvm -mcpu=x86-64")}, {wide, Target("llvm -mcpu=native")}})
/// Loading it needs a processor that can run all of them; saving it does not.
runtime::Module build(const std::vector<TargetedModule>& modules, const BuildOptions& options = {},
                      SourceLocation where = SourceLocation::current());

/// What build loads: code to be read or saved, for another kind of processor than this one too.
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
