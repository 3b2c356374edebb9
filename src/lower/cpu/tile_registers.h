// The steps of the pass tile_registers (passes.h), and the set of loops that it and auto_vectorize
// may change.
#pragma once

#include <algorithm>

#include "tenon/lower/pass.h"
#include "tenon/tir/stored_stages.h"
#include "tenon/tir/target.h"

namespace tenon::lowering {

/// The serial loops that the compiler may jam and vectorize without a mark in the schedule.
class AutotunedLoops {
 public:
  AutotunedLoops(const tir::PrimFunc& func, const PassOptions& options)
      : stages_(func), choice_(options.autotune_loops) {}

  /// Whether no stage that `s` computes has a schedule. Callers must query enclosing statements
  /// before inner ones, and before they rewrite them.
  bool contains(const tir::Stmt& s) {
    if (choice_) return *choice_;
    return std::ranges::none_of(stages_.of(s), [&](int stage) {
      return stages_.stages()[static_cast<std::size_t>(stage)].is_scheduled;
    });
  }

 private:
  tir::StoredStages stages_;
  std::optional<bool> choice_;
};

// The steps of tile_registers (passes.h), in their order. Each keeps the operands and the order of
// each element's computation, so results are bit-identical.

/// Unrolls and jams loops, so that the sums of several iterations are in registers at the same
/// time.
tir::Stmt unroll_and_jam(const tir::Stmt& s, AutotunedLoops& autotuned,
                         const tir::VectorRegisters& registers);

/// Scalar replacement: before a loop or a sequence, copies the vectors that it accumulates into to
/// local memory; after it, stores them back. Code generators keep this local memory in registers.
tir::Stmt promote_accumulators(const tir::Stmt& s, const tir::VectorRegisters& registers);

/// Reorders accumulations into local memory so that statements with common operands are adjacent,
/// if more operands would otherwise be live at once than there are registers.
tir::Stmt schedule_accumulations(const tir::Stmt& s, const tir::VectorRegisters& registers);

}  // namespace tenon::lowering
