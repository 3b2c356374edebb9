#include "tenon/runtime/timing.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tenon/runtime/module_impl.h"

namespace tenon::runtime {
namespace {

TEST(Timing, StatisticsOfKnownResults) {
  const Timing t = Timing::of({5, 2, 1, 2});
  EXPECT_DOUBLE_EQ(t.mean, 2.5);
  EXPECT_DOUBLE_EQ(t.median, 2);
  EXPECT_DOUBLE_EQ(t.stdev, 1.5);
  EXPECT_DOUBLE_EQ(t.min, 1);
  EXPECT_DOUBLE_EQ(t.max, 5);
  EXPECT_EQ(t.results, (std::vector<double>{5, 2, 1, 2}));
}

TEST(Timing, TheMedianOfAnEvenNumberIsBetweenTheMiddleTwo) {
  EXPECT_DOUBLE_EQ(Timing::of({4, 1, 2, 9}).median, 3);
  EXPECT_DOUBLE_EQ(Timing::of({7, 1, 3}).median, 3);
}

TEST(Timing, OfNothingIsAnError) { EXPECT_THROW(Timing::of({}), RuntimeError); }

struct Counted {
  int calls = 0;
  Function function;

  explicit Counted(int milliseconds = 0, std::int32_t status = kTenonOk)
      : function({.name = "f", .symbol = "f"}, [this, milliseconds, status](auto...) {
          ++calls;
          if (milliseconds > 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
          return status;
        }) {}
};

TEST(TimeEvaluator, WarmsUpOnceAndThenCallsNumberTimesRepeat) {
  Counted once;
  EXPECT_EQ(once.function.time_evaluator(cpu(0), {.number = 1, .repeat = 1})().results.size(), 1u);
  EXPECT_EQ(once.calls, 2);
  Counted several;
  EXPECT_EQ(several.function.time_evaluator(cpu(0), {.number = 7, .repeat = 3})().results.size(),
            3u);
  EXPECT_EQ(several.calls, 1 + 21);
}

TEST(TimeEvaluator, TheNumberGrowsUntilAMeasurementTakesLongEnough) {
  Counted slow(10);
  const Timing t =
      slow.function.time_evaluator(cpu(0), {.number = 1, .repeat = 1, .min_repeat_ms = 100})();
  EXPECT_GT(slow.calls, 10);
  EXPECT_LT(slow.calls, 40);
  EXPECT_NEAR(t.mean, 0.010, 0.008);
}

TEST(TimeEvaluator, AMeasurementThatIsLongEnoughIsKept) {
  Counted slow(10);
  slow.function.time_evaluator(cpu(0), {.number = 2, .repeat = 3, .min_repeat_ms = 5})();
  EXPECT_EQ(slow.calls, 1 + 6);
}

TEST(TimeEvaluator, ResultsAreSecondsOfOneCall) {
  Counted slow(5);
  EXPECT_GE(slow.function.time_evaluator(cpu(0), {.number = 4, .repeat = 1})().min, 0.005);
}

TEST(TimeEvaluator, AFailingFunctionEndsTheMeasurement) {
  Counted failing(0, 3);
  EXPECT_THROW(failing.function.time_evaluator(cpu(0), {.number = 100})(), RuntimeError);
  EXPECT_EQ(failing.calls, 1);
}

TEST(TimeEvaluator, ArgumentsAreCheckedBeforeTheFirstCall) {
  Counted counted;
  EXPECT_THROW(counted.function.time_evaluator(cpu(0))(1), RuntimeError);
  EXPECT_EQ(counted.calls, 0);
}

TEST(TimeEvaluator, RefusesCountsThatAreNotPositiveAndDevicesThatDoNotExist) {
  Counted counted;
  EXPECT_THROW(counted.function.time_evaluator(cpu(0), {.number = 0}), RuntimeError);
  EXPECT_THROW(counted.function.time_evaluator(cpu(0), {.repeat = -1}), RuntimeError);
  EXPECT_THROW(counted.function.time_evaluator(cpu(0), {.min_repeat_ms = -1}), RuntimeError);
  EXPECT_THROW(counted.function.time_evaluator(cpu(1)), RuntimeError);
}

}  // namespace
}  // namespace tenon::runtime
