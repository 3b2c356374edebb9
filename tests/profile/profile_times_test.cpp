// The times of profiles: true, and cheap to take. What else runs on the machine may disturb a
// measurement, but not a dozen of them one like the other: tests take the best of so many.
#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include <chrono>
#include <cmath>
#include <stdexcept>

#include "tenon/driver/profile.h"
#include "tests/common/sanitized.h"

namespace tenon {
namespace {

constexpr int kAttempts = 40;

const StageProfile& stage_of(const Profile& profile, const std::string& name) {
  for (const StageProfile& each : profile.stages)
    if (each.name == name) return each;
  throw std::runtime_error("the profile has no stage " + name);
}

runtime::NDArray random(std::int64_t count) { return runtime::NDArray::random({count}, Float(32)); }
runtime::NDArray empty(std::int64_t count) {
  return runtime::NDArray::empty({count}, Float(32), cpu(0));
}

/// Two stages of very different length, one after the other, or each alone.
struct TwoStages {
  static constexpr int kCount = 1 << 14;
  te::Tensor A = te::placeholder({kCount}, "A");
  te::Tensor slow = te::compute(
      {kCount}, {"i"}, [&](Var i) { return exp(exp(exp(A(i) * 0.1f) * 0.1f) * 0.1f); }, "slow");
  te::Tensor fast = te::compute(
      {kCount}, {"i"}, [&](Var i) { return exp(slow(i)); }, "fast");
};

double seconds_of(const runtime::Module& module, const std::vector<runtime::Argument>& call) {
  return module["main"].time_evaluator(cpu(0), {.number = 20, .repeat = 5}).evaluate(call).min;
}

TEST(ProfileTimes, SharesAgreeWithSeparateTimings) {
  const TwoStages two;
  const runtime::Module both = build(te::create_schedule({two.fast}), {two.A, two.slow, two.fast},
                                     Target("llvm"), {.profile = true});
  const runtime::Module slow =
      build(te::create_schedule({two.slow}), {two.A, two.slow}, Target("llvm"));
  te::Tensor given = te::placeholder({TwoStages::kCount}, "slow");
  te::Tensor last = te::compute(
      {TwoStages::kCount}, {"i"}, [&](Var i) { return exp(given(i)); }, "fast");
  const runtime::Module fast = build(te::create_schedule({last}), {given, last}, Target("llvm"));
  const runtime::NDArray a = random(TwoStages::kCount);
  runtime::NDArray b = empty(TwoStages::kCount), c = empty(TwoStages::kCount);
  double difference = 1;
  for (int attempt = 0; attempt < kAttempts && difference > 0.05; ++attempt) {
    const double alone_slow = seconds_of(slow, {a, b}), alone_fast = seconds_of(fast, {b, c});
    reset_profile(both);
    for (int n = 0; n < 100; ++n) both["main"](a, b, c);
    const double share = stage_of(profile_of(both), "slow").share;
    difference = std::abs(share - alone_slow / (alone_slow + alone_fast));
  }
  EXPECT_LE(difference, 0.05);
}

/// Seconds that one reading of the clock takes.
double seconds_of_a_reading() {
  constexpr int kReadings = 1000;
  const auto start = std::chrono::steady_clock::now();
  auto end = start;
  for (int n = 0; n < kReadings; ++n) end = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(end - start).count() / kReadings;
}

TEST(ProfileTimes, AProfiledStageCostsAtMostTwoReadingsOfTheClock) {
  constexpr int kCount = 4096, kStages = 64;
  te::Tensor A = te::placeholder({kCount}, "A");
  te::Tensor last = A;
  for (int n = 0; n < kStages; ++n)
    last = te::compute(
        {kCount}, {"i"}, [&, before = last](Var i) { return before(i) * 0.5f + 1.0f; },
        "S" + std::to_string(n));
  const te::Schedule s = te::create_schedule({last});
  const runtime::Module plain = build(s, {A, last}, Target("llvm"));
  const runtime::Module profiled = build(s, {A, last}, Target("llvm"), {.profile = true});
  const runtime::NDArray a = random(kCount);
  runtime::NDArray b = empty(kCount);
  if (testing::kIsSanitized)
    GTEST_SKIP() << "the runtime's functions are instrumented, the stages are not";
  double readings = 100;
  for (int attempt = 0; attempt < kAttempts && readings > 2; ++attempt) {
    const double added = seconds_of(profiled, {a, b}) - seconds_of(plain, {a, b});
    readings = std::min(readings, added / kStages / seconds_of_a_reading());
  }
  EXPECT_LE(readings, 2);
  const Profile profile = profile_of(profiled);
  EXPECT_EQ(stage_of(profile, "S63").calls, profile.functions[0].calls);
}

TEST(ProfileTimes, AreSeconds) {
  if (testing::kIsSanitized) GTEST_SKIP() << "checks of arguments are instrumented";
  const TwoStages two;
  const runtime::Module module = build(te::create_schedule({two.fast}), {two.A, two.slow, two.fast},
                                       Target("llvm"), {.profile = true});
  const runtime::NDArray a = random(TwoStages::kCount);
  runtime::NDArray b = empty(TwoStages::kCount), c = empty(TwoStages::kCount);
  double share = 0;
  for (int attempt = 0; attempt < kAttempts && share < 0.9; ++attempt) {
    reset_profile(module);
    const auto start = std::chrono::steady_clock::now();
    for (int n = 0; n < 20; ++n) module["main"](a, b, c);
    const std::chrono::duration<double> around = std::chrono::steady_clock::now() - start;
    const double elapsed = profile_of(module).functions[0].elapsed;
    ASSERT_LE(elapsed, around.count() * 1.001);
    share = elapsed / around.count();
  }
  // Beside the function there are only the checks of its arguments.
  EXPECT_GE(share, 0.9);
}

}  // namespace
}  // namespace tenon
