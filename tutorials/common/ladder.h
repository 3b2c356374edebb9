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
  /// Too slow to be run more often than needed.
  bool is_slow = false;
};

/// Does with n x n matrices what the command line says; without --emit, --check and --time, all of
/// it.
int climb(const std::vector<Step>& steps, int n, const tenon::CommandLineOptions& options);
