// Functions: as values, and timed.

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <stdexcept>
#include <thread>

#include "tenon/runtime/module_impl.h"
#include "tenon/runtime/spec.h"
#include "tenon/runtime/timing.h"
#include "tests/runtime/errors.h"

namespace tenon::runtime {
namespace {

// ---- functions as values ------------------------------------------------------------------------

// Functions as values: kept, copied, handed to other functions, made by them; and what is thrown
// inside.

const ParamSpec kNumber = {"x", ScalarSpec{Int(64)}};
const ParamSpec kCell = {"cell",
                         ArraySpec{.dtype = Int(64), .shape = {}, .access = Access::ReadWrite}};

/// cell += amount * x.
Function adder(std::int64_t amount) {
  return Function(
      {.name = "add_" + std::to_string(amount), .symbol = "f", .params = {kCell, kNumber}},
      [amount](const TenonValue* args, auto...) -> std::int32_t {
        auto* cell = static_cast<std::int64_t*>(static_cast<DLTensor*>(args[0].p)->data);
        *cell += amount * args[1].i;
        return kTenonOk;
      });
}

/// Calls `inner` twice.
Function twice(Function inner) {
  return Function({.name = "twice", .symbol = "f", .params = {kCell, kNumber}},
                  [inner = std::move(inner)](const TenonValue* args, auto...) -> std::int32_t {
                    for (int n = 0; n < 2; ++n)
                      inner(static_cast<const DLTensor*>(args[0].p), args[1].i);
                    return kTenonOk;
                  });
}

struct FunctionValue : ::testing::Test {
  NDArray cell = NDArray::zeros({}, Int(64));
  std::int64_t value() const { return *cell.data<std::int64_t>(); }
};

TEST_F(FunctionValue, IsKeptCopiedAndReplaced) {
  std::map<std::string, Function> functions = {{"one", adder(1)}, {"ten", adder(10)}};
  const Function ten = functions.at("ten");
  functions.at("ten") = functions.at("one");
  ten(cell, 3);
  functions.at("ten")(cell, 3);
  EXPECT_EQ(value(), 33);
  EXPECT_EQ(ten.name(), "add_10");
}

TEST_F(FunctionValue, CallsOthersWhichCallOthers) {
  twice(twice(twice(adder(5))))(cell, 2);
  EXPECT_EQ(value(), 8 * 10);
}

TEST_F(FunctionValue, ChecksArgumentsAtEveryLevel) {
  // The outer one passes on what the inner one does not take.
  const Function wants_small =
      Function({.name = "small", .symbol = "f", .params = {kCell, {"x", ScalarSpec{Int(8)}}}},
               [](auto...) -> std::int32_t { return kTenonOk; });
  const std::string message = message_of([&] { twice(wants_small)(cell, 1000); });
  EXPECT_NE(message.find("`small`"), std::string::npos) << message;
  EXPECT_NE(message.find("1000"), std::string::npos) << message;
}

TEST_F(FunctionValue, LetsWhatIsThrownInsideThrough) {
  struct Payload : std::runtime_error {
    explicit Payload(int code) : std::runtime_error("payload"), code(code) {}
    int code;
  };
  const Function thrower({.name = "thrower", .symbol = "f", .params = {kCell, kNumber}},
                         [](const TenonValue* args, auto...) -> std::int32_t {
                           throw Payload(static_cast<int>(args[1].i));
                         });
  try {
    twice(twice(thrower))(cell, 42);
    FAIL() << "nothing arrived";
  } catch (const Payload& payload) {
    EXPECT_EQ(payload.code, 42);
  }
}

TEST_F(FunctionValue, PassesFailuresOnWithTheirMessage) {
  const Function failing({.name = "failing", .symbol = "f", .params = {kCell, kNumber}},
                         [](auto...) -> std::int32_t {
                           tenon_set_last_error("no more numbers");
                           return kTenonError;
                         });
  const std::string message = message_of([&] { twice(failing)(cell, 1); });
  EXPECT_NE(message.find("no more numbers"), std::string::npos) << message;
}

// ---- time_evaluator -----------------------------------------------------------------------------

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
