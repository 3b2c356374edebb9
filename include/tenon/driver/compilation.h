// The intermediate results between a schedule and its lowered module.
//
//   Compilation compilation(schedule, {A, B, C}, options, where);
//   compilation.graph();            // te::freeze
//   compilation.bounds();           // te::infer_bound
//   compilation.read_conditions();  // te::check_reads
//   compilation.loops();            // te::schedule_ops
//   compilation.module();           // lowering::run_pipeline
#pragma once

#include <chrono>

#include "tenon/arith/simplifier_memory.h"
#include "tenon/driver/lower.h"
#include "tenon/te/check_reads.h"
#include "tenon/te/graph.h"

namespace tenon {

/// Returns the result of `run`, and reports its duration.
template <class F>
auto timed(const StepListener& on_step, std::string_view step, F run) {
  const auto start = std::chrono::steady_clock::now();
  auto result = run();
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  if (on_step) on_step(step, time.count());
  return result;
}

/// Computes each result from the preceding one on first use, and keeps it. Not thread-safe. The
/// returned references are valid as long as the object.
class Compilation {
 public:
  /// Copies the arguments and options; `schedule` must outlive the object.
  Compilation(const te::Schedule& schedule, std::vector<LowerArgument> args, LowerOptions options,
              SourceLocation where)
      : schedule_(schedule), args_(std::move(args)), options_(std::move(options)), where_(where) {}

  const te::StageGraph& graph();
  const te::Bounds& bounds();
  /// The conditions on symbolic sizes under which reads are in bounds. Throws BoundError for a read
  /// that is out of bounds for all sizes.
  const std::vector<arith::SizeCondition>& read_conditions();
  /// The loop program before any pass, over multi-dimensional buffers. With
  /// `options.separate_constants`, also the function that computes the constants, if the program
  /// has constants. If iterations of a loop conflict, an annotation of the functions has the
  /// message, which refuse_conflicts (driver/checks.h) throws.
  const tir::IRModule& loops();
  /// The lowered functions. Throws BoundError for an access that is provably out of bounds.
  const tir::IRModule& module();

  /// Reports the warnings of the schedule that have not been reported yet, to `options.on_warning`
  /// or to standard error.
  void emit_warnings();

 private:
  const arith::SimplifierMemory memory_;
  const te::Schedule& schedule_;
  std::vector<LowerArgument> args_;
  LowerOptions options_;
  SourceLocation where_;
  std::optional<te::StageGraph> graph_;
  std::optional<te::Bounds> bounds_;
  std::optional<std::vector<arith::SizeCondition>> read_conditions_;
  std::optional<tir::IRModule> loops_, module_;
};

}  // namespace tenon
