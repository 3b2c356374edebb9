// A ladder of schedules of one matrix product: prints, checks and times each step, and prints a
// table.
//
//   return climb({naive(n), tiled(n)}, unscheduled(n), n, options);      // the exit status
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tenon/te/schedule.h"
#include "tenon/tooling/command_line.h"

/// C = A B.
struct Matmul {
  tenon::te::Tensor A, B;
  /// The copy of B in panels of several columns, where each row of a panel is contiguous. Absent if
  /// the loops read B itself.
  std::optional<tenon::te::Tensor> packed;
  tenon::te::Tensor C;
};

struct Step {
  std::string name;
  std::string what;
  Matmul matmul;
  tenon::te::Schedule schedule;
  bool is_parallel = false;
  /// BuildOptions::autotune_loops. False: the step runs exactly the loops of its schedule.
  std::optional<bool> autotune_loops = false;
  /// The step is slow and runs only once.
  bool is_slow = false;
};

/// Prints, checks and times the steps on n x n matrices. With --emit, --check or --time, performs
/// only the actions that these options name. `unscheduled` comes after the steps; the last step is
/// compared with libraries.
int climb(const std::vector<Step>& steps, const Step& unscheduled, int n,
          const tenon::CommandLineOptions& options);
