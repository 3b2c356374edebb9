#include "lower/loops/lanes.h"

#include <gtest/gtest.h>

#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"

namespace tenon::lowering {
namespace {

using namespace tir;

const Var i("i");
const Buffer A = decl_buffer({1024}, Float(32), {.name = "A"});

std::string lanes_of(const Expr& e, const LaneOptions& options = {}, int count = 4) {
  const std::optional<Expr> wide = in_lanes(e, {i, Expr(0), count}, options);
  return wide ? print_expr(*wide) : "none";
}

TEST(InLanes, AnIterationVariableIsARamp) {
  EXPECT_EQ(lanes_of(i * 3 + 1), print_expr(make_ramp(1, 3, 4)));
}

TEST(InLanes, AnInvariantValueIsUnchanged) { EXPECT_EQ(lanes_of(make_load(A, {7})), "A[7]"); }

TEST(InLanes, VectorsThatContinueEachOtherAreMerged) {
  const Expr load = make_load(A, {make_ramp(i * 8, 1, 8)});
  EXPECT_EQ(lanes_of(load), print_expr(make_load(A, {make_ramp(0, 1, 32)})));
}

TEST(InLanes, VectorsWithGapsAreRefused) {
  EXPECT_EQ(lanes_of(make_load(A, {make_ramp(i * 9, 1, 8)})), "none");
}

/// A product of int32 that wraps has another value in int64.
TEST(InLanes, AConvertedNumberIsNotARamp) {
  const Expr number = cast(Int(64), i * 100000);
  EXPECT_EQ(lanes_of(number), print_expr(make_cast(Int(64, 4), make_ramp(0, 100000, 4))));
}

TEST(InLanes, AConvertedIndexIsARamp) {
  const Expr at = make_load(A, {cast(Int(64), i * 2)});
  EXPECT_EQ(lanes_of(at),
            print_expr(make_load(A, {make_ramp(make_int(Int(64), 0), make_int(Int(64), 2), 4)})));
}

TEST(InLanes, AConditionOfAnIterationIsNotRepeatedForItsLanes) {
  const Expr choice =
      make_select(i < 2, make_load(A, {make_ramp(0, 1, 4)}), make_load(A, {make_ramp(4, 1, 4)}));
  EXPECT_EQ(lanes_of(choice), "none");
}

TEST(InLanes, AVectorChoiceIsASelectOrKept) {
  const Expr choice = if_then_else(i < 2, make_load(A, {i}), 0.0f);
  EXPECT_TRUE(lanes_of(choice).starts_with("select(")) << lanes_of(choice);
  const std::string kept = lanes_of(choice, {.choice = LaneOptions::Choice::Keep});
  EXPECT_TRUE(kept.starts_with("@tir.if_then_else(")) << kept;
}

TEST(InLanes, AnIndexIsSimplifiedToARampOnlyWhereItIsLinear) {
  const LaneOptions options{.simplifies_indices = true};
  const Expr linear = floordiv(i * 6, 2), other = floordiv(i, 2);
  EXPECT_EQ(lanes_of(make_load(A, {linear}), options),
            print_expr(make_load(A, {make_ramp(0, 3, 4)})));
  EXPECT_EQ(lanes_of(make_load(A, {other}), options),
            print_expr(make_load(A, {floordiv(make_ramp(0, 1, 4), make_broadcast(2, 4))})));
}

TEST(LaneValue, ALaneOfAVectorIsAScalar) {
  const Expr vector = make_load(A, {make_ramp(8, 2, 4)}) * make_broadcast(2.0f, 4);
  EXPECT_EQ(print_expr(*lane_value(vector, i)), print_expr(make_load(A, {8 + i * 2}) * 2.0f));
}

TEST(LaneValue, ALaneOfAShuffleIsNotComputedSeparately) {
  const Expr vector = make_load(A, {make_ramp(0, 1, 4)});
  EXPECT_FALSE(lane_value(make_shuffle({vector}, {Expr(3), Expr(2)}), i));
}

TEST(LaneValue, LanesOfALaneAreTheVectorAgain) {
  const Expr vector = max(make_load(A, {make_ramp(8, 2, 4)}), make_load(A, {make_ramp(0, 1, 4)}));
  EXPECT_EQ(lanes_of(*lane_value(vector, i)), print_expr(vector));
}

}  // namespace
}  // namespace tenon::lowering
