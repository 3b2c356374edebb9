// A ladder of schedules of one matrix product: prints, checks and times each, and puts them into a
// table.
//
//   return climb({naive(n), tiled(n)}, n, options);      // the exit status
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tenon/te/schedule.h"
#include "tenon/tooling/command_line.h"

/// C = A B.
struct Matmul {
  tenon::te::Tensor A, B;
  /// B as the loops read it: panels of some columns, each row of a panel contiguous. Absent: B
  /// itself is read.
  std::optional<tenon::te::Tensor> packed;
  tenon::te::Tensor C;
};

struct Step {
  std::string name;
  std::string what;
  Matmul matmul;
  tenon::te::Schedule schedule;
  bool is_parallel = false;
  /// As BuildOptions has it: the steps that show what a schedule does run just its loops.
  std::optional<bool> autotune_loops = false;
  /// Too slow to be run more often than needed.
  bool is_slow = false;
};

/// Prints, checks and times the steps on n x n matrices, or does what of it the command line asks
/// for. `unscheduled` is shown after them; their last step is compared with libraries.
int climb(const std::vector<Step>& steps, const Step& unscheduled, int n,
          const tenon::CommandLineOptions& options);
