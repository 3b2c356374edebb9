// Loops and relations after primitives.
#include <gtest/gtest.h>

#include "matmul_schedule.h"
#include "tenon/te/freeze.h"
#include "tenon/te/graph.h"
#include "tenon/te/reduce.h"
#include "tenon/tir/walk.h"

namespace tenon::te {
namespace {

TEST_F(MatmulTest, StagesStandInTheOrderInWhichReadsMeetThem) { EXPECT_EQ(order(s), "A B C D"); }

TEST_F(MatmulTest, SplitPutsOuterAndInnerInPlaceOfTheAxis) {
  auto [jo, ji] = s[C].split(s[C].axis(1), 8);
  EXPECT_EQ(loops(s[C]), "i j.outer j.inner k");
  ASSERT_EQ(s[C].relations().size(), 1u);
  const Split& split = std::get<Split>(s[C].relations()[0]);
  EXPECT_TRUE(split.parent.same_as(s[C].axis(1)) && split.outer.same_as(jo) &&
              split.inner.same_as(ji));
  EXPECT_TRUE(tir::is_constant_int(std::get<Split::ByFactor>(split.size).factor, 8));
}

TEST_F(MatmulTest, SplitOfAReductionAxisGivesReductionAxes) {
  auto [ko, ki] = s[C].split_by_nparts(s[C].reduce_axis(0), 4);
  EXPECT_EQ(ko.kind(), IterKind::Reduce);
  EXPECT_EQ(ki.kind(), IterKind::Reduce);
  EXPECT_TRUE(std::holds_alternative<Split::ByParts>(std::get<Split>(s[C].relations()[0]).size));
}

TEST_F(MatmulTest, TileSplitsTwiceAndReorders) {
  auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 32, 16);
  EXPECT_EQ(loops(s[C]), "i.outer j.outer i.inner j.inner k");
  EXPECT_EQ(jo.name() + ji.name(), "j.outerj.inner");
  EXPECT_TRUE(s[C].leaf_iter_vars()[0].same_as(io) && s[C].leaf_iter_vars()[2].same_as(ii));
}

TEST_F(MatmulTest, ReorderMovesOnlyTheListedLoops) {
  s[C].reorder({s[C].reduce_axis(0), s[C].axis(0)});
  EXPECT_EQ(loops(s[C]), "k j i");
}

TEST_F(MatmulTest, FuseIsALeftFold) {
  s[C].fuse({s[C].axis(0), s[C].axis(1), s[C].reduce_axis(0)});
  EXPECT_EQ(loops(s[C]), "i.j.fused.k.fused");
  EXPECT_EQ(s[C].relations().size(), 2u);
  EXPECT_EQ(s[C].leaf_iter_vars()[0].kind(), IterKind::Reduce);
}

TEST_F(MatmulTest, FuseTakesNeighboursInEitherOrderWithTheOuterLoopFirst) {
  s[C].fuse(s[C].axis(1), s[C].axis(0));
  EXPECT_EQ(loops(s[C]), "j.i.fused k");
  EXPECT_TRUE(std::get<Fuse>(s[C].relations()[0]).outer.same_as(s[C].axis(0)));
}

TEST_F(MatmulTest, FuseOfNothingIsALoopOutsideOfAll) {
  s[C].fuse({});
  EXPECT_EQ(loops(s[C]), "singleton i j k");
  EXPECT_TRUE(std::holds_alternative<Singleton>(s[C].relations()[0]));
}

TEST_F(MatmulTest, FuseOfOneIsItself) {
  EXPECT_TRUE(s[C].fuse({s[C].axis(0)}).same_as(s[C].axis(0)));
  EXPECT_TRUE(s[C].relations().empty());
}

TEST(FuseTest, OfTwoTypesHasTheWider) {
  Tensor W = compute(
      {Expr(4), tir::make_int(Int(64), 5)}, {"i", "j"}, [](Var i, Var j) { return j + i; }, "W");
  Schedule s = create_schedule(W);
  EXPECT_EQ(s[W].fuse(s[W].axis(0), s[W].axis(1)).var().dtype(), Int(64));
}

TEST_F(MatmulTest, CopiesDoNotFollow) {
  Schedule other = s.copy();
  s[C].split(s[C].axis(0), 4);
  EXPECT_EQ(loops(other[C]), "i j k");
  EXPECT_EQ(loops(s[C]), "i.outer i.inner j k");
}

TEST_F(MatmulTest, NormalizedAxesAreFoundThroughTheOldHandles) {
  Schedule n = s.normalize();
  n[C].split(C.op().axis(0), 4);
  EXPECT_EQ(loops(n[C]), "i.outer i.inner j k");
  EXPECT_EQ(loops(s[C]), "i j k");
}

}  // namespace
}  // namespace tenon::te
