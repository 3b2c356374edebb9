// Processors that schedules of the library are tried for, whatever the tests run on.
#pragma once

#include <gtest/gtest.h>

#include "tenon/driver/target.h"
#include "tenon/te/relation.h"
#include "tenon/topi/schedule.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {

/// Narrow vectors on one core, and wide ones on several.
inline std::vector<tir::TargetFacts> cpu_targets() {
  std::vector<tir::TargetFacts> all(2, Target("llvm").facts());
  all[0].vector_registers = {.bits = 128, .count = 16, .for_sums = 8};
  all[0].cores = 1;
  all[1].vector_registers = {.bits = 512, .count = 32, .for_sums = 16};
  all[1].cores = 4;
  return all;
}

/// How programs as topi::schedule arranges them for each target differ from what nothing was done
/// to. Fails where it leaves the result as it was.
inline std::string scheduled_differs(const te::Tensor& out, const std::vector<LowerArgument>& args,
                                     const WaysToRun& ways = {.compile_c = false,
                                                              .symbols = {21},
                                                              .build = {.opt_level = 3}},
                                     const std::vector<tir::TargetFacts>& targets = cpu_targets()) {
  std::string wrong;
  for (const tir::TargetFacts& target : targets) {
    const te::Schedule s = te::create_schedule(out);
    topi::schedule(s, {out}, target);
    EXPECT_GT(s[out].relations().size(), 0u);
    wrong += compare_with_default(s, args, ways);
  }
  return wrong;
}

}  // namespace tenon::testing
