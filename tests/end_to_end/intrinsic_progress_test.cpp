// Intrinsics without a reset compute the first step of a reduction: loops that are fused of data
// and reduction must come to it first.
#include <gtest/gtest.h>

#include "tenon/te/freeze.h"
#include "tenon/tenon.h"
#include "tests/common/declared_part.h"
#include "tests/common/loop_intrinsics.h"
#include "tests/common/ways_to_run.h"

namespace tenon {
namespace {

enum class Order { OfTheIterations, PartsExchanged };

/// Sums of eight times eleven elements; the outer loop of the second axis is fused with the data
/// and split in two. The intrinsic takes three steps of the first one.
struct FusedSums {
  te::Tensor A = te::placeholder({5, 33}, "A", Int(32));
  te::IterVar k0 = te::reduce_axis({0, 8}, "k0"), k1 = te::reduce_axis({0, 11}, "k1");
  te::Tensor T = te::compute(
      {13}, {"i"},
      [&](Var) {
        return te::sum(A(floordiv(k1, 3), k1 + 8), {k0, k1});
      },
      "T");
  te::Schedule s = te::create_schedule({T});

  void schedule(Order order, bool has_reset) {
    te::Stage t = s[T];
    auto [ko, ki] = t.split(k1, 3);
    auto [k0o, k0i] = t.split(k0, 3);
    t.reorder({k0o, ki, ko, t.axis(0), k0i});
    const te::IterVar fused = t.fuse(ko, t.axis(0));
    auto [fo, fi] = t.split(fused, 2);
    if (order == Order::PartsExchanged) t.reorder({fi, fo});
    const te::StageGraph graph = te::freeze(s);
    const auto part = testing::declared_part(graph.stage(*graph.find(t.op())).op, {1, 3, 1},
                                             [](int) { return true; });
    testing::LoopIntrinsicOptions options{.strides = testing::LoopIntrinsicOptions::Strides::Any};
    options.reset = has_reset;
    t.tensorize(k0i, testing::loop_intrinsic(part->front(), options));
  }
};

TEST(IntrinsicProgress, IsThatOfTheAxesWhereLoopsAreFused) {
  FusedSums sums;
  sums.schedule(Order::OfTheIterations, false);
  EXPECT_EQ(testing::compare_with_default(sums.s, {sums.A, sums.T}, {.compile = true}), "");
}

TEST(IntrinsicProgress, AFirstStepThatComesLateIsRefused) {
  FusedSums sums;
  sums.schedule(Order::PartsExchanged, false);
  try {
    lower(sums.s, {sums.A, sums.T});
    FAIL() << "element 1 comes to its step 14 before its step 1";
  } catch (const ScheduleError& error) {
    EXPECT_NE(std::string(error.what()).find("reach later steps of some elements"),
              std::string::npos)
        << error.what();
  }
}

TEST(IntrinsicProgress, AResetDoesNotMindTheOrder) {
  FusedSums sums;
  sums.schedule(Order::PartsExchanged, true);
  EXPECT_EQ(testing::compare_with_default(sums.s, {sums.A, sums.T}, {.compile = true}), "");
}

/// Extents of int64, and an intrinsic whose own are int32.
TEST(IntrinsicProgress, OfAReductionThatCountsIn64Bits) {
  const Expr rows = make_const(Int(64), 12), columns = make_const(Int(64), 16);
  te::Tensor A = te::placeholder({rows, columns}, "A"), x = te::placeholder({columns}, "x");
  const te::IterVar k =
      te::reduce_axis(Range::from_min_extent(make_const(Int(64), 0), columns), "k");
  te::Tensor y = te::compute(
      {rows}, {"i"}, [&](Var i) { return te::sum(A(i, k) * x(k), {k}); }, "y");
  te::Tensor a = te::placeholder({4}, "a"), b = te::placeholder({4}, "b");
  const te::IterVar l = te::reduce_axis({0, 4}, "l");
  te::Tensor c = te::compute(
      {1}, {"i"}, [&](Var) { return te::sum(a(l) * b(l), {l}); }, "c");
  te::Schedule s = te::create_schedule(y);
  s[y].tensorize(s[y].split(s[y].reduce_axis(0), 4).inner, testing::loop_intrinsic(c));
  EXPECT_EQ(testing::compare_with_default(s, {A, x, y}), "");
}

}  // namespace
}  // namespace tenon
