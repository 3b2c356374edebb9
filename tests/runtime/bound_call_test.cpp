// Calls whose arguments are bound once.
#include "tenon/runtime/bound_call.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/runtime/declared.h"
#include "tests/runtime/errors.h"

namespace tenon::runtime {
namespace {

/// Adds 1 to the first element of its array.
std::int32_t increment(const TenonValue* values, const std::int32_t*, std::int32_t) {
  const auto* given = static_cast<const DLTensor*>(values[0].p);
  static_cast<float*>(given->data)[0] += 1;
  return kTenonOk;
}

TEST(BoundCall, RunsWithItsArgumentsEachTime) {
  const NDArray a = array({4});
  const BoundCall call(make("f", {{"A", floats({4}, Access::Write)}}, increment), a);
  call();
  call();
  EXPECT_EQ(a.to_vector<float>()[0], 2);
}

TEST(BoundCall, ChecksItsArgumentsWhereItIsBound) {
  const Function f = make("f", {{"A", floats({4})}});
  EXPECT_EQ(message_of([&] { BoundCall(f, array({3})); }),
            "argument 1 `A` of `f`: expected float32[4], got float32[3]");
  EXPECT_EQ(message_of([&] { BoundCall call(f); }),
            "`f`: expected 1 argument (A: float32[4]), got 0");
}

TEST(BoundCall, KeepsItsArraysAndTheFunction) {
  float memory[4] = {};
  bool freed = false;
  auto owner = std::make_shared<int>(0);
  const std::weak_ptr<int> function_lives = owner;
  std::optional<BoundCall> call;
  {
    const Function f({.name = "f", .symbol = "f", .params = {{"A", floats({4}, Access::Write)}}},
                     increment, std::move(owner));
    call.emplace(f, NDArray::wrap(memory, {4}, {.deleter = [&](void*) { freed = true; }}));
  }
  (*call)();
  EXPECT_FALSE(freed);
  EXPECT_FALSE(function_lives.expired());
  EXPECT_EQ(memory[0], 1);
  call.reset();
  EXPECT_TRUE(freed);
  EXPECT_TRUE(function_lives.expired());
}

TEST(BoundCall, TensorsWithoutStridesHaveThemInEachCall) {
  const NDArray memory = array({3, 4});
  DLTensor tensor = memory.dl_tensor();
  tensor.strides = nullptr;
  std::vector<std::int64_t> strides;
  const BoundCall call(make("f", {{"A", floats({3, 4})}}, keep_strides(strides)), &tensor);
  for (int n = 0; n < 2; ++n) {
    strides.clear();
    call();
    EXPECT_EQ(strides, (std::vector<std::int64_t>{4, 1}));
  }
}

TEST(BoundCall, SaysWhichFunctionFailed) {
  const BoundCall call(make("f", {{"n", ScalarSpec{Int(32)}}},
                            [](const TenonValue*, const std::int32_t*, std::int32_t) {
                              return std::int32_t{kTenonError};
                            }),
                       3);
  EXPECT_EQ(message_of([&] { call(); }),
            "`f` failed: status " + std::to_string(kTenonError) + " without a message");
}

}  // namespace
}  // namespace tenon::runtime
