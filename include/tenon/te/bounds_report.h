// What a schedule makes of its stages: how much of each is needed at a time, and by whom; how much
// memory it has; how much of that is used; how often its elements are computed.
//
//   std::cout << te::bounds_report(s);
//
//   stage  scope   computed at     required                   allocated      bytes  used  computed
//   B      global  C, at i.outer   [10 by C, 64 by C] = 640   [10, 64]       2560   1.00  1.25
//   C      global  root            [64, 64] = 4096            [64, 64]       16384  1.00  1.00
//
// Required and allocated boxes are inferred; the last two columns are counted, by running the loops
// in the interpreter.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "tenon/te/schedule.h"

namespace tenon::te {

/// What the report counts.
struct BoundsReportOptions {
  /// The values of symbolic sizes, without which nothing is counted.
  std::vector<std::pair<Var, std::int64_t>> sizes = {};
  /// Statements that the interpreter runs before it gives up; 0: nothing is counted.
  std::int64_t most_steps = 5'000'000;
  /// Of the bounds that infer_exact_bound gives.
  bool exact = false;
};

/// A row for every tensor that has memory.
struct BoundsReport {
  /// What is needed and kept along one axis.
  struct Dimension {
    /// What the readers read while one iteration of the loops around the stage runs: the box hull.
    Range required;
    /// The readers that the hull is not smaller for: one, or one for each end. Of an output, which
    /// is required whole, none.
    std::vector<std::string> decided_by;
    /// The part of the tensor that the memory has room for.
    Range allocated;
  };
  /// Counted in a run.
  struct Counts {
    /// Per dimension the greatest extent of what readers touched of one piece of memory, and of the
    /// pieces.
    std::vector<std::int64_t> touched, allocated;
    /// How often an element was computed (of a reduction: in how many pieces of memory), and how
    /// many different ones.
    std::int64_t evaluations = 0, points = 0;
    /// Touched elements for each that there is room for: 1 where nothing is allocated in vain.
    double used() const;
    /// Evaluations for each point: 1 where nothing is computed twice.
    double computed() const;
  };
  /// A stage, or one output of a stage of several.
  struct Row {
    std::string stage;
    tir::StorageScope scope;
    /// "root", or "C, at i.outer"
    std::string place;
    std::vector<Dimension> dimensions;
    /// Of the allocated box; storage_align, double buffers and virtual threads need more.
    Expr bytes;
    /// Absent where the report says why, and for what intrinsics and extern operations access.
    std::optional<Counts> counts;
  };

  /// Every tensor that the program computes and has memory for, producers first. The parts of a
  /// scan are kept in its memory and have no rows.
  std::vector<Row> rows;
  /// Why nothing was counted; "" if it was.
  std::string not_counted;
};

/// Throws what freeze, infer_bound and schedule_ops throw. The inputs of the run hold ones.
BoundsReport bounds_report(const Schedule& schedule, const BoundsReportOptions& options = {},
                           SourceLocation where = SourceLocation::current());

/// A table, and a line with the reason if nothing was counted.
std::ostream& operator<<(std::ostream& out, const BoundsReport& report);

}  // namespace tenon::te
