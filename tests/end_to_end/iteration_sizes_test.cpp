// Memory of two physical dimensions whose rows are as long as an iteration of a loop around needs,
// whatever that loop becomes.
#include <gtest/gtest.h>

#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

TEST(IterationSizes, FollowALoopThatIsVectorized) {
  const te::Tensor A = te::placeholder({6, 4, 6}, "A", Int(32));
  const te::Tensor B = te::compute(
      {6, 4, 6}, {"i", "j", "l"}, [&](Var i, Var j, Var l) { return A(i, j, l) + 1; }, "B");
  const te::IterVar k = te::reduce_axis({0, 6}, "k");
  const te::Tensor C = te::compute(
      {},
      [&](std::span<const Var>) {
        return te::sum(B(k, floordiv(k, 3), 5 - k) * B(k, floormod(k, 2), floordiv(k, 4)), {k});
      },
      "C");
  const te::Schedule s = te::create_schedule(C);
  const te::Tensor parts = s.rfactor(C, s[C].split(k, 4).outer, 0);
  const te::IterVar part = s[parts].op().axis()[0];
  s[parts].vectorize(part);
  s[B].transform_layout([](Var i, Var j, Var l) -> std::vector<Expr> {
    return {i, te::axis_separator(), j, l};
  });
  s[B].compute_at(s[parts], part);
  EXPECT_EQ(compare_with_default(
                s, {A, C}, {.build = {.bounds = Bounds::Exact, .passes = {.disable_cse = true}}}),
            "");
}

TEST(IterationSizes, FollowALoopThatIsNarrowed) {
  const auto wide = [](std::int64_t value) { return tir::make_int(Int(64), value); };
  const te::Tensor A = te::placeholder({wide(17), wide(33)}, "A");
  const te::Tensor B = te::compute(
      {wide(17), wide(33)}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  const te::IterVar k = te::reduce_axis({0, 6}, "k");
  const te::Tensor C = te::compute(
      {wide(16)}, {"i"},
      [&](Var i) { return te::sum(B(i, i + wide(10)) * B(i + wide(1), k), {k}); }, "C");
  const te::Schedule s = te::create_schedule(C);
  s[B].transform_layout([](Var i, Var j) -> std::vector<Expr> {
    return {i, te::axis_separator(), j};
  });
  s[B].compute_at(s[C], k);
  EXPECT_EQ(compare_with_default(s, {A, C}), "");
}

TEST(IterationSizes, FollowALoopThatIsWidened) {
  const te::Var n = te::size_var("n");
  const te::Tensor A = te::placeholder({4}, "A");
  const te::Tensor B = te::compute(
      {7, 4, n * 2}, {"i", "j", "l"}, [&](Var, Var j, Var) { return A(j); }, "B");
  const te::Tensor C = te::compute(
      {6, n + 3}, {"i", "j"},
      [&](Var i, Var j) {
        return tir::if_then_else(j * 3 >= 1 && j * 3 - 1 < 7, B(j * 3 - 1, min(j, 3), 0), 0.0f) +
               B(floormod(j, 7), floormod(i, 4), floormod(j, n * 2));
      },
      "C");
  const te::Schedule s = te::create_schedule(C);
  s[B].transform_layout([](Var i, Var j, Var l) -> std::vector<Expr> {
    return {i, te::axis_separator(), j, l};
  });
  s[B].compute_at(s[C], s[C].axis(1));
  EXPECT_EQ(compare_with_default(s, {A, C, n}, {.build = {.instrument_bounds = true}}), "");
}

}  // namespace
}  // namespace tenon::testing
