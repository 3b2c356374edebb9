// The pipeline passes by what a pass does not concern. Here such passes are run all the same, on
// every known program, and leave it as it is.
#include <gtest/gtest.h>

#include "known_programs.h"
#include "tenon/driver/lower.h"
#include "tenon/lower/pipeline.h"
#include "tenon/tir/print.h"

namespace tenon::known_programs {
namespace {

using lowering::Pass;

const Pass& pass_of(std::string_view name) {
  for (const Pass& pass : lowering::lowering_passes())
    if (pass.name == name) return pass;
  internal_error("no such pass");
}

class PassConcerns : public testing::TestWithParam<Program> {};

TEST_P(PassConcerns, WhatAPassDoesNotConcernItLeavesAlone) {
  for (const bool is_simple : {true, false})
    for (const Lowered& lowered : lowered_by(GetParam())) {
      LowerOptions options = {.simple_mode = is_simple};
      int skipped = 0;
      options.passes.on_pass = [&](const lowering::PassOptions::PassReport& report) {
        const Pass& pass = pass_of(report.pass);
        if (!pass.concerns || pass.concerns(report.before, options.passes)) return;
        ++skipped;
        EXPECT_EQ(tir::print_function(pass.run(report.before, options.passes)),
                  tir::print_function(report.before))
            << pass.name;
      };
      tenon::lower(lowered.schedule, lowered.args, options);
      EXPECT_GT(skipped, 0);
    }
}

const auto kName = [](const auto& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(Random, PassConcerns, testing::ValuesIn(random_programs()), kName);
INSTANTIATE_TEST_SUITE_P(Topi, PassConcerns, testing::ValuesIn(topi_programs()), kName);

}  // namespace
}  // namespace tenon::known_programs
