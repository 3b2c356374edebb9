// A chain of stages to misuse.
//
//   struct ChainTest : Chain {};
//   TEST_F(ChainTest, Factors) { refused([&] { s[C].split(k, 0); }, {"split", "`k`", "`C`", "0"}); }
#pragma once

#include "tests/common/refusal.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {

/// A -> B = A + 1 -> C = row sums of B -> D = 2 * C, and what is expected of primitives on them.
struct Chain : ::testing::Test {
  te::Tensor A = te::placeholder({16, 16}, "A");
  te::IterVar k = te::reduce_axis({0, 16}, "k");
  te::Tensor B = te::compute(
      {16, 16}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {16}, {"i"}, [&](Var i) { return te::sum(B(i, k), {k}); }, "C");
  te::Tensor D = te::compute(
      {16}, {"i"}, [&](Var i) { return C(i) * 2.0f; }, "D");
  te::Schedule s = te::create_schedule(D);
  std::vector<LowerArgument> args = {A, D};

  /// At the call, with the schedule left as it was.
  void refused(const std::function<void()>& primitive, const std::vector<std::string>& parts,
               SourceLocation where = SourceLocation::current()) {
    EXPECT_TRUE(leaves_alone(s, args, [&] {
      EXPECT_TRUE(refuses<ScheduleError>(primitive, parts, where));
    })) << where.line();
  }
  void refused_by_lower(const std::vector<std::string>& parts,
                        SourceLocation where = SourceLocation::current()) {
    EXPECT_TRUE(refuses<Error>([&] { lower(s, args, {}, where); }, parts, where)) << where.line();
  }
};

}  // namespace tenon::testing
