// A report on the bounds and the cost of each stage of a schedule: the region required at a time
// and the consumer that determines it, the memory allocated and the fraction used, and the
// recomputation.
//
//   std::cout << te::bounds_report(s);
//
//   stage  scope   computed at     required                   allocated      bytes  used  computed
//   B      global  C, at i.outer   [10 by C, 64 by C] = 640   [10, 64]       2560   1.00  1.25
//   C      global  root            [64, 64] = 4096            [64, 64]       16384  1.00  1.00
//
// The required and allocated regions are inferred. The last two columns are measured by running the
// loops in the interpreter.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "tenon/te/schedule.h"

namespace tenon::te {

/// Options of the measurement.
struct BoundsReportOptions {
  /// Values of symbolic sizes. A size without a value disables the measurement.
  std::vector<std::pair<Var, std::int64_t>> sizes = {};
  /// Maximum number of statements to interpret. 0 disables the measurement.
  std::int64_t most_steps = 5'000'000;
  /// Whether to report the bounds of infer_exact_bound.
  bool exact = false;
};

/// The report: one row per tensor that has memory.
struct BoundsReport {
  /// One dimension of a tensor.
  struct Dimension {
    /// Hull of the elements read during one iteration of the loops around the stage.
    Range required;
    /// The consumers that determine the ends of the hull: one consumer for both ends, or one for
    /// each end. Empty for an output, all of which is required.
    std::vector<std::string> decided_by;
    /// The range that is allocated.
    Range allocated;
  };
  /// The measurements of one run.
  struct Counts {
    /// Extents per dimension: `touched` of the hull of the elements read, `allocated` of the
    /// memory. If the tensor is allocated several times, each extent is the maximum.
    std::vector<std::int64_t> touched, allocated;
    /// `evaluations`: number of times that an element is computed. `points`: number of distinct
    /// elements. A reduction counts one evaluation per element and allocation, not one per update.
    std::int64_t evaluations = 0, points = 0;
    /// Returns the elements read as a fraction of the elements allocated. 1: nothing is wasted.
    double used() const;
    /// Returns the number of evaluations per element. 1: no recomputation.
    double computed() const;
  };
  /// A tensor: the output of a stage, or one of its outputs if it has several.
  struct Row {
    std::string stage;
    tir::StorageScope scope;
    /// The attach point: "root", or "C, at i.outer".
    std::string place;
    std::vector<Dimension> dimensions;
    /// Bytes of the allocated region, without the overhead of storage_align, double buffers and
    /// virtual threads.
    Expr bytes;
    /// Absent if nothing was measured, and for tensors that intrinsics or extern operations access.
    std::optional<Counts> counts;
  };

  /// All computed tensors that have memory, producers first. The parts of a scan share the scan's
  /// memory and have no rows.
  std::vector<Row> rows;
  /// The reason why nothing was measured; "" otherwise.
  std::string not_counted;
};

/// Makes the report. Throws the errors of freeze, infer_bound and schedule_ops. All inputs of the
/// measured run are filled with ones.
BoundsReport bounds_report(const Schedule& schedule, const BoundsReportOptions& options = {},
                           SourceLocation where = SourceLocation::current());

/// Prints the table, followed by the reason if nothing was measured.
std::ostream& operator<<(std::ostream& out, const BoundsReport& report);

}  // namespace tenon::te
