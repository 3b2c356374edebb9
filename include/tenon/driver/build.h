// build: from a schedule, or from loop programs, to functions that run.
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

/// What is built, and how; nothing of it need be given.
struct BuildOptions {
  /// Names the function that is built from a schedule; those of a module have their names.
  Name name = "main";
  std::vector<std::pair<te::Tensor, tir::Buffer>> binds = {};
  /// Shared libraries in which extern functions are found.
  std::vector<std::string> link = {};
  /// Reassociation of floating sums, reciprocals for divisions.
  bool fast_math = false;
  /// As in LowerOptions.
  bool instrument_bounds = false;
  Bounds bounds = Bounds::Default;
  /// As in LowerOptions: tensor intrinsics are run beside the loops that they declare, and
  /// compared.
  bool check_intrinsics = false;
  bool allow_parallel_reduction_race = false;
  /// Bytes that the memory of every array passed must be aligned to, a power of two. 0: any memory
  /// that is aligned to its elements will do. A buffer that is bound with a `data_alignment` of its
  /// own demands that.
  int argument_alignment = 0;
  /// Whether the compiler rearranges serial loops of a function for a processor: interchanges, jams
  /// and vectorizes them. true: in all stages; false: in none, so that the code runs the loops that
  /// the schedule says. Not given: in stages without any schedule, and in those that ask for it
  /// (Stage::autotune_loops). Functions that were not made by a te::Schedule count as unscheduled.
  /// Registers, vector widths and instructions are the compiler's choice in either case.
  std::optional<bool> autotune_loops = std::nullopt;
  /// 0 to 3.
  int opt_level = 3;
  /// In the text of C, OpenCL C and CUDA C, comments say which stage the loops compute, and where
  /// it was declared: "// C, matmul.cpp:14".
  bool stage_comments = false;
  /// Each stage's loops report how long they took: driver/profile.h. For CPUs, by LLVM.
  bool profile = false;
  lowering::PassOptions passes = {};
  /// Called after each step that is no pass: "freeze", "infer-bound", "schedule-ops", "emit-llvm",
  /// "optimize-llvm", "generate-code", "load"; for C "emit-c", "load".
  StepListener on_step = {};
};

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

#pragma GCC visibility pop
