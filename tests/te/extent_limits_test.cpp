// Axes that count beyond int32 have 64 bits, and those that do not keep 32.
#include "te/schedule/extent_limits.h"

#include <gtest/gtest.h>

#include "tenon/te/reduce.h"
#include "tenon/te/schedule_ops.h"
#include "tenon/tir/print.h"

namespace tenon::te {
namespace {

struct WideAxesTest : ::testing::Test {
  static Tensor box(std::vector<Expr> shape, const std::string& name = "B") {
    return compute(
        shape, [&](std::span<const Var>) { return tir::make_int(Int(8), 1); }, name);
  }
  static std::string extent(const Schedule& s, const IterVar& axis) {
    return tir::print_expr(infer_bound(s)[axis].extent);
  }
};

TEST_F(WideAxesTest, AFusionOfMoreIterationsThanInt32HasAnAxisOf64Bits) {
  Tensor B = box({65536, 65536});
  Schedule s = create_schedule(B);
  const IterVar fused = s[B].fuse(s[B].axis(0), s[B].axis(1));
  EXPECT_EQ(fused.var().dtype(), Int(64));
  EXPECT_EQ(tir::constant_int(infer_bound(s)[fused].extent), 4294967296);
}

TEST_F(WideAxesTest, TheGreatestExtentOfInt32StaysNarrow) {
  Tensor B = box({2147483647, 1}), C = box({1073741824, 2});
  Schedule s = create_schedule({B, C});
  EXPECT_EQ(s[B].fuse(s[B].axis(0), s[B].axis(1)).var().dtype(), Int(32));
  EXPECT_EQ(s[C].fuse(s[C].axis(0), s[C].axis(1)).var().dtype(), Int(64));
}

TEST_F(WideAxesTest, ASplitThatRoundsUpBeyondInt32HasAxesOf64Bits) {
  Tensor B = box({2147483647}), C = box({2147483000});
  Schedule s = create_schedule({B, C});
  const auto [bo, bi] = s[B].split(s[B].axis(0), 1000);
  const auto [co, ci] = s[C].split(s[C].axis(0), 1000);
  EXPECT_EQ(bo.var().dtype(), Int(64));
  EXPECT_EQ(tir::constant_int(infer_bound(s)[bo].extent), 2147484);
  EXPECT_EQ(co.var().dtype(), Int(32));
}

TEST_F(WideAxesTest, PartsOfASplitMultiplyToTheirParentsLimit) {
  Tensor B = box({10});
  Schedule s = create_schedule(B);
  const auto [o, i] = s[B].split(s[B].axis(0), 4);
  const auto [p, q] = s[B].split_by_nparts(o, 2);
  const Schedule copy = s;
  StageData stage = StageData::make(B.op());
  stage.relations = copy[B].relations();
  EXPECT_EQ(greatest_extent(stage, o), 3);
  EXPECT_EQ(greatest_extent(stage, i), 4);
  EXPECT_EQ(greatest_extent(stage, q), 2);
}

TEST_F(WideAxesTest, OfASymbolicAxisNoLimitIsKnown) {
  Tensor B = box({var("n"), 8});
  Schedule s = create_schedule(B);
  const IterVar fused = s[B].fuse(s[B].axis(0), s[B].axis(1));
  EXPECT_EQ(fused.var().dtype(), Int(32));
}

TEST_F(WideAxesTest, MoreIterationsThanInt64AreRefused) {
  const IterVar p = reduce_axis({0, 2147483647}, "p"), q = reduce_axis({0, 2147483647}, "q"),
                r = reduce_axis({0, 2147483647}, "r");
  Tensor A = placeholder({1}, "A");
  Tensor B = compute(
      {1}, {"i"},
      [&](Var i) {
        return sum(A(i), {p, q, r});
      },
      "B");
  Schedule s = create_schedule(B);
  try {
    s[B].fuse({p, q, r});
    FAIL() << "fused";
  } catch (const ScheduleError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("fuse"), std::string::npos) << text;
    EXPECT_NE(text.find("4611686014132420609 * 2147483647 iterations"), std::string::npos) << text;
  }
  EXPECT_EQ(s[B].leaf_iter_vars().size(), 4u);
}

TEST_F(WideAxesTest, ALayoutBeyondInt32HasIndicesOf64Bits) {
  Tensor B = box({65536, 65536});
  Schedule s = create_schedule(B);
  const std::vector<IterVar> axes =
      s[B].transform_layout([](Var i, Var j) -> std::vector<Expr> { return {j * 65536 + i}; });
  ASSERT_EQ(axes.size(), 1u);
  EXPECT_EQ(axes[0].var().dtype(), Int(64));
  EXPECT_EQ(tir::constant_int(infer_bound(s)[axes[0]].extent), 4294967296);
}

}  // namespace
}  // namespace tenon::te
