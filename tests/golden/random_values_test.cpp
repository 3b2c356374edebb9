// The random programs compute right numbers: the default schedule's loops run by the interpreter
// are the truth. What binds no threads is compiled as well, by LLVM and as C.
#include <gtest/gtest.h>

#include "known_programs.h"
#include "tenon/driver/checks.h"
#include "tenon/te/freeze.h"
#include "tests/common/device_ways.h"
#include "tests/common/run_on_device.h"
#include "tests/common/ways_to_run.h"

namespace tenon::known_programs {
namespace {

using testing::Arguments;
using testing::first_difference;
using testing::make_arguments;
using testing::run_compiled;

class RandomProgramValues : public ::testing::TestWithParam<Program> {};

TEST_P(RandomProgramValues, AreThoseOfTheDefaultSchedule) {
  const std::vector<Lowered> both = lowered_by(GetParam());
  ASSERT_EQ(both.size(), 2u);
  const std::vector<LowerArgument>& args = both[0].args;
  const Arguments expected = make_arguments(args);
  tir::evaluate(lower_to_loops(both[0].schedule, args), expected.values,
                {.check_uninitialized = true});

  const te::Schedule& schedule = both[1].schedule;
  const Arguments as_loops = make_arguments(args);
  tir::evaluate(lower_to_loops(schedule, args), as_loops.values);
  EXPECT_EQ(first_difference(expected, as_loops), "") << "multi-dimensional loops";

  for (bool simple_mode : {true, false}) {
    const tir::PrimFunc func =
        tenon::lower(schedule, args,
                     {.simple_mode = simple_mode, .passes = {.verify_each_pass = true}})
            .functions.at("main");
    const Arguments lowered = make_arguments(args);
    tir::evaluate(func, lowered.values);
    EXPECT_EQ(first_difference(expected, lowered), "") << "lowered, simple_mode = " << simple_mode;

    for (const testing::DeviceWay& way : testing::ways_on_devices(func)) {
      const Arguments threaded = make_arguments(args);
      tir::evaluate(way.func, threaded.values, {.check_races = way.has_barriers});
      EXPECT_EQ(first_difference(expected, threaded), "")
          << way.name << ", simple_mode = " << simple_mode;
    }
  }

  EXPECT_EQ(testing::refused_by_nvrtc(schedule, args), "");
  if (const auto function = testing::built_for(opencl(0), schedule, args)) {
    const Arguments there = make_arguments(args);
    testing::run_on_device(*function, there, opencl(0));
    EXPECT_EQ(first_difference(expected, there), "") << "on OpenCL's device";
  }
  if (runs_on_device(te::freeze(schedule))) return;
  for (const char* target : {"llvm", "c"}) {
    const Arguments compiled = make_arguments(args);
    run_compiled(build(schedule, args, Target(target), {.opt_level = 1})["main"], compiled);
    EXPECT_EQ(first_difference(expected, compiled), "") << "compiled for " << target;
  }
}

INSTANTIATE_TEST_SUITE_P(All, RandomProgramValues, ::testing::ValuesIn(random_programs()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenon::known_programs
