// The programs behind the table rows.
#pragma once

#include <tenon/tenon.h>

#include "tests/device_kit/table_rows.h"

namespace tenon::device_kit {

struct TableProgram {
  te::Schedule schedule;
  std::vector<LowerArgument> args;
};

/// Returns the row's program with the library's schedule for the target.
TableProgram table_program(const Row& row, const tir::TargetFacts& target);

}  // namespace tenon::device_kit
