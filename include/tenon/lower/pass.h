// A lowering pass, its options, and its failure.
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

/// How the passes work, where they run.
struct PassOptions {
  bool disable_vectorize = false;
  bool disable_storage_rewrite = false;
  bool disable_cse = false;
  bool noalias = true;
  /// Stores and allocations of flat memory carry the sizes of buffers. instrument_bounds turns it
  /// on.
  bool keep_buffer_sizes = false;
  /// A seed program's text has the reference's transposed prefetch address; this reproduces it.
  bool legacy_prefetch_index = false;
  /// Which loops are written out.
  struct Unroll {
    /// 0: only loops marked unrolled. Otherwise loops of at most so many steps.
    int auto_max_step = 0;
    int auto_max_depth = 8;
    int auto_max_extent = 0;
    bool explicit_unroll = true;
    /// A LowerError that names the axis, past so many copies of statements, or 16 operators for
    /// each.
    int max_statements = 1 << 16;
  } unroll = {};
  /// Which loops are divided into a part without guards and the rest.
  struct Partition {
    /// Also loops of constant extent.
    bool constant_loops = true;
    /// Copies of loops' bodies may make a large function so many times as large.
    int max_growth = 8;
  } partition = {};
  int double_buffer_split = 1;
  /// Serial loops that a processor's passes may jam and vectorize. true: all that are provably
  /// independent; false: none. Not given: those of stages without a schedule (StageLine).
  std::optional<bool> autotune_loops = std::nullopt;
  /// What passes for a processor count with. Not given: what the target has.
  std::optional<tir::VectorRegisters> vector_registers = std::nullopt;
  /// Threads that exchange values without shared memory (device_passes). 0: none do.
  int warp_size = 0;
  /// Whether code generation takes dp4a, a sum of four products, as it is.
  bool has_dp4a = false;
  /// Run verify() over the result: where it does not hold, or a pass fails, all passes run again,
  /// verified one by one, so that the first that went wrong is named. Or, if that is asked for as
  /// well, run it after each pass from the beginning: also finds what a later pass mends.
  bool verify = true, verify_each_pass = false;

  /// A pass that has run: the function before and after it, and how long it took.
  struct PassReport {
    std::string_view pass;
    const tir::PrimFunc& before;
    const tir::PrimFunc& after;
    double seconds;
  };
  /// Called after each pass (dumps, timings).
  std::function<void(const PassReport&)> on_pass = {};
};

/// What makes passes run or stay out, and how those that run work.
struct PipelineOptions {
  /// Leaves out loop partition (and nothing else), as the known texts do.
  bool simple_mode = false;
  /// Checks every access at run time.
  bool instrument_bounds = false;
  PassOptions passes = {};
};

/// A row of the table.
struct Pass {
  /// "flatten-storage": the name in file, flag, dump and test.
  std::string_view name;
  tir::PrimFunc (*run)(const tir::PrimFunc&, const PassOptions&);
  /// The form that the function must have, and the form that holds afterwards.
  tir::Form takes, gives;
  /// Why it has this place. "before NAME" and "after NAME" are checked against the table.
  std::string_view reason;
  /// Absent: always runs.
  bool (*enabled)(const PipelineOptions&) = nullptr;
  /// Whether there is anything in the function that the pass is about: where there is not, it
  /// leaves the function as it is, and need not run. Absent: it looks for itself.
  bool (*concerns)(const tir::PrimFunc&, const PassOptions&) = nullptr;
};

/// A pass failed, or left something that does not hold. Ours, not the user's; whoever runs the
/// pipeline may keep the texts for a report.
struct PassFailure : InternalError {
  PassFailure(std::string pass, const std::string& what, std::string before, std::string after = "")
      : InternalError("in pass " + pass + ": " + what),
        pass(std::move(pass)),
        before(std::move(before)),
        after(std::move(after)) {}
  /// The function before the pass, and after it where there is one, printed.
  std::string pass, before, after;
};

}  // namespace tenon::lowering
