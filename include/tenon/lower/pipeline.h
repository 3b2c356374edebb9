// The lowering pipeline: one table of passes, and the runner that verifies, dumps, times and adds
// error context around each of them, so that no pass does.
//
//   tir::PrimFunc flat = run_pipeline(func, {.simple_mode = true});
//
// (The namespace is `lowering`, because `tenon::lower` is the function that users call.)
//
// A pass is a free function `PrimFunc verb_object(const PrimFunc&, const LowerOptions&)` in
// lower/passes/verb_object.{h,cpp}; its name in flags and dumps is "verb-object".
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string_view>

#include "tenon/tir/function.h"
#include "tenon/tir/verify.h"

namespace tenon::lowering {

struct LowerOptions {
  /// Leaves out loop partition, as the reference's simple_mode does.
  bool simple_mode = false;
  bool instrument_bounds = false;
  bool disable_vectorize = false;
  bool disable_storage_rewrite = false;
  bool disable_cse = false;
  bool noalias = true;
  /// A seed program's text has the reference's transposed prefetch address; this reproduces it.
  bool legacy_prefetch_index = false;
  struct Unroll {
    /// 0: only loops marked unrolled. Otherwise loops of at most so many steps.
    int auto_max_step = 0;
    int auto_max_depth = 8;
    int auto_max_extent = 0;
    bool explicit_unroll = true;
    /// A LowerError that names the axis, past so many copies of statements.
    int max_statements = 1 << 16;
  } unroll = {};
  struct Partition {
    /// Also loops of constant extent.
    bool constant_loops = true;
    /// Copies of loops' bodies may make a large function so many times as large.
    int max_growth = 8;
  } partition = {};
  int double_buffer_split = 1;
  /// The vector registers that passes for a processor count with. No bits: vectors keep the lanes
  /// that they have; no registers: loops are not jammed and sums stay in memory.
  struct VectorRegisters {
    int bits = 0;
    /// How many of them sums may occupy.
    int for_sums = 0;
  } vector_registers = {};
  /// Run verify() after each pass.
  bool verify = true;

  struct PassReport {
    std::string_view pass;
    const tir::PrimFunc& before;
    const tir::PrimFunc& after;
    std::chrono::nanoseconds time;
  };
  /// Called after each pass (dumps, timings).
  std::function<void(const PassReport&)> on_pass = {};
};

struct Pass {
  /// "flatten-storage": the name in file, flag, dump and test.
  std::string_view name;
  tir::PrimFunc (*run)(const tir::PrimFunc&, const LowerOptions&);
  /// The form that holds afterwards.
  tir::Form form;
  /// Why it stands where it stands.
  std::string_view reason;
  /// Absent: always runs.
  bool (*enabled)(const LowerOptions&) = nullptr;
};

/// A pass failed, or left something that does not hold. Ours, not the user's; whoever runs the
/// pipeline may keep the texts for a report.
struct PassFailure : InternalError {
  PassFailure(std::string pass, const std::string& what, std::string before, std::string after = "")
      : InternalError("in pass " + pass + ": " + what),
        pass(std::move(pass)),
        before(std::move(before)),
        after(std::move(after)) {}
  std::string pass;
  /// The function before the pass, and after it where there is one, printed.
  std::string before, after;
};

/// The passes before the text is printed, in order.
std::span<const Pass> lowering_passes();
/// The passes between the printed text and code for a CPU.
std::span<const Pass> host_passes();

/// Runs the passes that are enabled. A mistake of the user's (LowerError and the like) passes
/// through as it is; any other failure, and a function that does not verify, is a PassFailure. What
/// was wrong with the function from the start is not held against a pass.
tir::PrimFunc run_passes(std::span<const Pass> passes, tir::PrimFunc func,
                         const LowerOptions& options);
/// lowering_passes over a multi-dimensional function.
tir::PrimFunc run_pipeline(tir::PrimFunc func, const LowerOptions& options);

}  // namespace tenon::lowering
