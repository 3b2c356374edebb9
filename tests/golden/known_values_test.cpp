// The known programs compute right numbers.

#include <gtest/gtest.h>

#include <map>

#include "known_programs.h"
#include "tenon/driver/checks.h"
#include "tenon/te/freeze.h"
#include "tenon/tir/walk.h"
#include "tests/common/device_ways.h"
#include "tests/common/run_on_device.h"
#include "tests/common/ways_to_run.h"

namespace tenon::known_programs {
namespace {

// ---- random programs ----------------------------------------------------------------------------

// The random programs compute right numbers: the default schedule's loops run by the interpreter
// are the truth. What binds no threads is compiled as well, by LLVM and as C.

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

// ---- schedules of the operator library ----------------------------------------------------------

// The schedules of the operator library compute right numbers: the default schedule's, in the
// interpreter for all, and compiled, by LLVM and as C, for those of processors. Four are too large
// for that:
//   0173, 0177  compiled only; the default schedule, compiled, is the truth;
//   0181        the default schedule is compiled; of the kernel only the form with barriers is run;
//   0185        its threads share nothing, so they are compiled as loops, one after another.

enum class Size { Small, Compiled, OneKernelRun, ThreadsAsLoops };

Size size_of(const Program& program) {
  static const std::map<std::string_view, Size> large = {{"0173", Size::Compiled},
                                                         {"0177", Size::Compiled},
                                                         {"0181", Size::OneKernelRun},
                                                         {"0185", Size::ThreadsAsLoops}};
  const auto found = large.find(program.name.substr(0, 4));
  return found == large.end() ? Size::Small : found->second;
}

bool is_for_processors(const Program& program) {
  const std::string_view target = program.name.substr(5, 4);
  return target == "x86_" || target == "arm_";
}

/// Positions that the programs read from memory lie within what they are positions in.
void set_positions(const Program& program, const std::string& array, std::int32_t* values,
                   std::int64_t count) {
  const bool is_list_of_starts = array == "Q";
  const std::int32_t last = program.name.starts_with("0114") ? 40 : 10;
  const std::int32_t extent = program.name.starts_with("0105") ? 6 : 32;
  for (std::int64_t n = 0; n < count; ++n) {
    const auto k = static_cast<std::int32_t>(n);
    values[n] =
        is_list_of_starts ? k * last / static_cast<std::int32_t>(count - 1) : k * 7 % extent;
  }
}

Arguments arguments_of(const Program& program, const std::vector<LowerArgument>& args) {
  Arguments result = make_arguments(args);
  for (const auto& array : result.arrays)
    if (array->dtype == Int(32) && !array->is_output)
      set_positions(program, array->name, reinterpret_cast<std::int32_t*>(array->data()),
                    array->elements());
  return result;
}

/// One thread after another.
tir::Stmt threads_as_loops(const tir::Stmt& s) {
  if (const tir::Attr* attr = s.as<tir::Attr>(); attr && attr->kind == tir::AttrKind::ThreadExtent)
    return tir::make_stmt(tir::For{std::get<tir::IterVar>(attr->subject).var(), 0, attr->value,
                                   tir::ForKind::Serial, threads_as_loops(attr->body)});
  return tir::map_children(
      s, [](const tir::Expr& e) { return e; },
      [](const tir::Stmt& c) { return threads_as_loops(c); });
}

class TopiValues : public ::testing::TestWithParam<Program> {
 protected:
  TopiValues() : lowered_(lowered_by(GetParam()).at(0)), size_(size_of(GetParam())) {}

  const std::vector<LowerArgument>& args() const { return lowered_.args; }
  Arguments arguments() const { return arguments_of(GetParam(), args()); }

  tir::PrimFunc lowered(bool simple_mode) const {
    return lower(lowered_.schedule, args(),
                 {.simple_mode = simple_mode, .passes = {.verify_each_pass = true}})
        .functions.at("main");
  }

  Arguments truth() const {
    Arguments result = arguments();
    const te::Schedule schedule = testing::default_schedule(args());
    if (size_ == Size::Small) {
      tir::evaluate(lower_to_loops(schedule, args()), result.values, {.check_uninitialized = true});
    } else {
      run_compiled(build(schedule, args(), Target("llvm"), {.opt_level = 2})["main"], result);
    }
    return result;
  }

  std::string interpreted(const Arguments& expected, const tir::PrimFunc& func,
                          bool check_races) const {
    const Arguments actual = arguments();
    tir::evaluate(func, actual.values, {.check_races = check_races});
    return first_difference(expected, actual);
  }

  std::string compiled(const Arguments& expected, const runtime::Module& module) const {
    const Arguments actual = arguments();
    run_compiled(module["main"], actual);
    return first_difference(expected, actual);
  }

  const Lowered lowered_;
  const Size size_;
};

TEST_P(TopiValues, AreThoseOfTheDefaultSchedule) {
  const Arguments expected = truth();
  if (size_ == Size::Small) {
    EXPECT_EQ(interpreted(expected, lowered(true), false), "") << "simple mode";
  }
  if (size_ == Size::Small || size_ == Size::OneKernelRun) {
    std::vector<testing::DeviceWay> ways = testing::ways_on_devices(lowered(false));
    if (size_ != Size::Small) ways.erase(ways.begin(), ways.end() - 1);
    for (const testing::DeviceWay& way : ways)
      EXPECT_EQ(interpreted(expected, way.func, way.has_barriers && size_ == Size::Small), "")
          << way.name;
  }
  EXPECT_EQ(testing::refused_by_nvrtc(lowered_.schedule, args()), "");
  if (const auto function = testing::built_for(opencl(0), lowered_.schedule, args())) {
    const Arguments actual = arguments();
    testing::run_on_device(*function, actual, opencl(0));
    EXPECT_EQ(first_difference(expected, actual), "") << "on OpenCL's device";
  }
  if (is_for_processors(GetParam())) {
    for (const char* target : {"llvm", "c"}) {
      const runtime::Module module =
          build(lowered_.schedule, args(), Target(target), {.opt_level = 2});
      EXPECT_EQ(compiled(expected, module), "") << "compiled for " << target;
    }
  }
  if (size_ == Size::ThreadsAsLoops) {
    tir::PrimFunc func = lowered(false);
    func.body = threads_as_loops(func.body);
    tir::IRModule module;
    module.functions.emplace("main", func);
    EXPECT_EQ(compiled(expected, build(module, Target("llvm"), {.opt_level = 2})), "");
  }
}

INSTANTIATE_TEST_SUITE_P(All, TopiValues, ::testing::ValuesIn(topi_programs()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenon::known_programs
