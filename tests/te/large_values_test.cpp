// The values of fused axes double with each round of split and fuse. Large ones are named, where
// the loops that they depend on are open.
#include <gtest/gtest.h>

#include "tenon/te/reduce.h"
#include "tenon/tir/walk.h"
#include "tests/common/run_schedule.h"

namespace tenon::te {
namespace {

/// Splits the axis, exchanges the parts and fuses them again, several times.
IterVar mixed(Stage stage, IterVar axis, int rounds) {
  for (int n = 0; n < rounds; ++n) {
    auto [outer, inner] = stage.split(axis, 2 + n % 3);
    stage.reorder({inner, outer});
    axis = stage.fuse(inner, outer);
  }
  return axis;
}

void expect_same_values(const Schedule& s, const std::vector<Tensor>& tensors) {
  EXPECT_EQ(testing::run(s, tensors), testing::run(create_schedule(tensors.back()), tensors));
}

struct RowSums {
  Tensor A = placeholder({6, 16}, "A");
  IterVar k = reduce_axis({0, 16}, "k");
  Tensor B = compute(
      {6}, {"i"}, [&](Var i) { return sum(A(i, k), {k}); }, "B");
};

TEST(LargeValues, OfAReductionAcrossThreadsAreNamedInsideTheLoopsOfEachThread) {
  RowSums rows;
  Schedule s = create_schedule(rows.B);
  auto [outer, inner] = s[rows.B].split(mixed(s[rows.B], rows.k, 6), 3);
  s[rows.B].bind(inner, thread_axis("threadIdx.x"));
  expect_same_values(s, {rows.A, rows.B});
}

TEST(LargeValues, OfAReductionAreNotNamedWhereItIsInitialised) {
  RowSums rows;
  Schedule s = create_schedule(rows.B);
  mixed(s[rows.B], rows.k, 6);
  expect_same_values(s, {rows.A, rows.B});
}

TEST(LargeValues, OfLoopsAroundAReductionAreNamedWhereItIsInitialised) {
  RowSums rows;
  Schedule s = create_schedule(rows.B);
  const IterVar i = mixed(s[rows.B], s[rows.B].axis(0), 6);
  auto [outer, inner] = s[rows.B].split(i, 2);
  s[rows.B].reorder({outer, rows.k, inner});
  expect_same_values(s, {rows.A, rows.B});
}

TEST(LargeValues, OfLoopsWithAProducerInsideAreNamedAroundIt) {
  const Tensor A = placeholder({24}, "A");
  const Tensor B = compute(
      {24}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  const Tensor C = compute(
      {24}, {"i"}, [&](Var i) { return B(i) * 2.0f; }, "C");
  Schedule s = create_schedule(C);
  s[B].compute_at(s[C], mixed(s[C], s[C].axis(0), 6));
  expect_same_values(s, {A, C});
}

TEST(LargeValues, GrowLinearlyWithTheRounds) {
  const auto size_after = [](int rounds) {
    const Tensor A = placeholder({100}, "A");
    const Tensor C = compute(
        {100}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "C");
    Schedule s = create_schedule(C);
    mixed(s[C], s[C].axis(0), rounds);
    const StageGraph graph = freeze(s);
    return tir::node_count(schedule_ops(graph, infer_bound(graph)));
  };
  EXPECT_LT(size_after(32), 3 * size_after(16));
}

}  // namespace
}  // namespace tenon::te
