// build compiles a schedule, or loop programs, to callable functions.
//
//   runtime::Module mod = build(s, {A, B, C}, Target("llvm -mcpu=native"), {.name = "matmul"});
//   mod["matmul"](a, b, c);
#pragma once

#include "tenon/codegen/artifact.h"
#include "tenon/driver/lower.h"
#include "tenon/driver/target.h"
#include "tenon/runtime/module.h"

#pragma GCC visibility push(default)

namespace tenon {

/// Options of build. All are optional.
struct BuildOptions {
  /// Name of a function built from a schedule. Functions of a module keep their names.
  Name name = "main";
  std::vector<std::pair<te::Tensor, tir::Buffer>> binds = {};
  /// Shared libraries that define extern functions.
  std::vector<std::string> link = {};
  /// Allows reassociation of float sums and reciprocals for divisions.
  bool fast_math = false;
  /// See LowerOptions.
  bool instrument_bounds = false;
  Bounds bounds = Bounds::Default;
  /// See LowerOptions: compares tensor intrinsics with the loops that they replace, at run time.
  bool check_intrinsics = false;
  bool allow_parallel_reduction_race = false;
  /// Required alignment in bytes of the memory of every array argument, a power of two. 0: that of
  /// the elements. A bound buffer with its own `data_alignment` requires that.
  int argument_alignment = 0;
  /// Whether the compiler may interchange, jam and vectorize serial loops of CPU functions. true:
  /// in all stages. false: in none, so that loops run exactly as scheduled. Nullopt: in unscheduled
  /// stages and those that request it (Stage::autotune_loops). Functions that do not come from a
  /// te::Schedule count as unscheduled. In every case the compiler chooses registers, vector widths
  /// and instructions.
  std::optional<bool> autotune_loops = std::nullopt;
  /// Optimization level, 0 to 3.
  int opt_level = 3;
  /// Whether C, OpenCL C and CUDA C text has comments that name the stage of the loops and its
  /// declaration: "// C, matmul.cpp:14".
  bool stage_comments = false;
  /// Measures the time of each stage's loops; see driver/profile.h. Only for CPUs, compiled by
  /// LLVM.
  bool profile = false;
  lowering::PassOptions passes = {};
  /// Called after each step other than a pass: "freeze", "infer-bound", "schedule-ops",
  /// "emit-llvm", "optimize-llvm", "generate-code", "load"; for C "emit-c", "load".
  StepListener on_step = {};
};

/// Compiles a schedule. Throws the errors of lower, and TargetError.
runtime::Module build(const te::Schedule& schedule, const std::vector<LowerArgument>& args,
                      const Target& target = Target("llvm"), const BuildOptions& options = {},
                      SourceLocation where = SourceLocation::current());
/// Compiles a module. Functions that are still multi-dimensional are lowered first, with
/// `options.passes` and `instrument_bounds`. LowerError for a malformed function.
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

#pragma GCC visibility pop
