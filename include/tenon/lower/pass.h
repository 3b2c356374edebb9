// The type of lowering passes, their options, and their failure.
//
// A pass is a free function `PrimFunc verb_object(const PrimFunc&, const PassOptions&)` in
// src/lower/<folder>/verb_object.cpp, declared in src/lower/passes.h. Its name in flags and dumps
// is "verb-object".
#pragma once

#include <functional>
#include <string_view>

#include "tenon/tir/function.h"
#include "tenon/tir/target.h"

namespace tenon::lowering {

/// Options of the passes.
struct PassOptions {
  bool disable_vectorize = false;
  bool disable_storage_rewrite = false;
  bool disable_cse = false;
  bool noalias = true;
  /// Whether flatten_storage attaches the sizes of buffers to their stores and allocations. Set by
  /// PipelineOptions::instrument_bounds.
  bool keep_buffer_sizes = false;
  /// Whether to compute the same wrong prefetch address as TVM 0.9, with transposed indices.
  bool legacy_prefetch_index = false;
  /// Limits of loop unrolling.
  struct Unroll {
    /// Maximum trip count, times the stores and calls of the body, at which a serial loop without a
    /// mark is unrolled. 0: only marked loops are unrolled.
    int auto_max_step = 0;
    int auto_max_depth = 8;
    int auto_max_extent = 0;
    bool explicit_unroll = true;
    /// Maximum number of copies of statements. LowerError, naming the axis, if unrolling a loop
    /// would make more copies, or more than 16 * max_statements operators.
    int max_statements = 1 << 16;
  } unroll = {};
  /// Limits of loop partitioning into an unguarded main loop and a tail.
  struct Partition {
    /// Whether to partition loops of constant extent, too.
    bool constant_loops = true;
    /// Maximum factor by which the copied loop bodies may enlarge a large function.
    int max_growth = 8;
  } partition = {};
  int double_buffer_split = 1;
  /// The serial loops that the CPU passes may unroll-and-jam and vectorize. true: all loops that
  /// are provably independent. false: no loop. Nullopt: the loops of unscheduled stages
  /// (StageLine).
  std::optional<bool> autotune_loops = std::nullopt;
  /// The vector registers that the CPU passes assume. Nullopt: the registers of the target.
  std::optional<tir::VectorRegisters> vector_registers = std::nullopt;
  /// Number of threads that can exchange values without shared memory, for device_passes. 0:
  /// threads cannot exchange values.
  int warp_size = 0;
  /// Whether the code generator accepts the intrinsic dp4a.
  bool has_dp4a = false;
  /// Whether the device can copy to shared memory asynchronously, for device_passes.
  bool has_async_copies = false;
  /// `verify`: checks the final result with tir::verify. If this check or a pass fails, all passes
  /// run again with a check after each, to name the first faulty pass. `verify_each_pass`: checks
  /// after each pass from the start, which also detects a violation that a later pass repairs.
  bool verify = true, verify_each_pass = false;

  /// A finished pass: its input, output and duration.
  struct PassReport {
    std::string_view pass;
    const tir::PrimFunc& before;
    const tir::PrimFunc& after;
    double seconds;
  };
  /// Called after each pass, for dumps and timings.
  std::function<void(const PassReport&)> on_pass = {};
};

/// Options that select passes, and the options of the passes.
struct PipelineOptions {
  /// Disables loop partitioning, and nothing else. TVM 0.9 text is printed in this mode.
  bool simple_mode = false;
  /// Checks every access at run time.
  bool instrument_bounds = false;
  PassOptions passes = {};
};

/// A pass in a pipeline table.
struct Pass {
  /// The name in files, flags, dumps and tests: "flatten-storage".
  std::string_view name;
  tir::PrimFunc (*run)(const tir::PrimFunc&, const PassOptions&);
  /// The required form of the input, and the form of the output.
  tir::Form takes, gives;
  /// The reason for the position of the pass in the table. "before NAME" and "after NAME" in this
  /// text are checked against the table.
  std::string_view reason;
  /// Whether the options enable the pass. Null: always.
  bool (*enabled)(const PipelineOptions&) = nullptr;
  /// Whether the function contains anything for the pass to change. If not, the pass is skipped.
  /// Null: the pass always runs.
  bool (*concerns)(const tir::PrimFunc&, const PassOptions&) = nullptr;
};

/// The error if a pass throws an unexpected exception or its output does not verify. This is a
/// compiler bug. The texts are for a bug report.
struct PassFailure : InternalError {
  PassFailure(std::string pass, const std::string& what, std::string before, std::string after = "")
      : InternalError("in pass " + pass + ": " + what),
        pass(std::move(pass)),
        before(std::move(before)),
        after(std::move(after)) {}
  /// The name of the pass, and the printed function before and after the pass. `after` is empty if
  /// the pass threw.
  std::string pass, before, after;
};

}  // namespace tenon::lowering
