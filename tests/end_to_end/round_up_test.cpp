// Elements behind the end of an axis that are computed like others: Stage::round_up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/tir/walk.h"
#include "tests/common/processor_time.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

/// A product of 17 x 100 by 100 x 70 in tiles of 6 x 48, of a copy of B in panels of 48 columns.
struct RoundUp : ::testing::Test {
  te::Tensor A = te::placeholder({17, 100}, "A"), B = te::placeholder({100, 70}, "B");
  te::IterVar k = te::reduce_axis({0, 100}, "k");
  te::Tensor C = te::compute(
      {17, 70}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); }, "C");
  te::Schedule s = te::create_schedule(C);
  te::Tensor tile = s.cache_write(C, "local"), panel = s.cache_read(B, "global", {tile});
  RoundUp() {
    const auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 6, 48);
    s[C].reorder({jo, io, ii, ji});
    s[tile].compute_at(s[C], io);
    s[panel].compute_at(s[C], jo);
    const auto axes = s[panel].transform_layout(
        [](Var row, Var column) -> std::vector<Expr> {
          return {floordiv(column, 48), row, floormod(column, 48)};
        },
        {.pad = true});
    s[panel].vectorize(s[panel].split(axes[2], 16).inner);
    const auto [vector, lane] = s[tile].split(s[tile].axis(1), 16);
    s[tile].reorder({s[tile].reduce_axis(0), s[tile].axis(0), vector, lane}).vectorize(lane);
  }
  void round_up_panel() { s[panel].round_up(panel.op().axis(1)); }
  void round_up_tile() { s[tile].round_up(tile.op().axis(1)); }

  /// Conditions around what the tile adds up.
  int conditions_in_tile(Bounds bounds = Bounds::Default) {
    int count = 0;
    const tir::PrimFunc loops = lower_to_loops(s, {A, B, C}, {.bounds = bounds});
    tir::walk(loops.body, [&](const tir::If& n) {
      tir::walk(n.then_case, [&](const tir::Store& store) {
        const tir::Binary* sum = tir::as_binary(store.value, tir::BinaryOp::Add);
        count += sum && store.buffer.name() == "C.local";
      });
    });
    return count;
  }
};

TEST_F(RoundUp, ComputesWholeTilesOfAPackedCopy) {
  EXPECT_EQ(conditions_in_tile(), 2);  // rows and columns
  round_up_panel();
  round_up_tile();
  EXPECT_EQ(conditions_in_tile(), 1);  // A is read: it has no more rows
  EXPECT_EQ(compare_with_default(s, {A, B, C}), "");
}

TEST_F(RoundUp, ComputesWholeTilesOfACopyOfAllPanels) {
  s[panel].compute_root();
  round_up_panel();
  round_up_tile();
  EXPECT_EQ(conditions_in_tile(), 1);
  EXPECT_EQ(compare_with_default(s, {A, B, C}), "");
}

TEST_F(RoundUp, LetsABoundEndBeyondTheAxis) {
  const te::IterVar column = tile.op().axis(1);
  EXPECT_THROW(s[tile].bound(column, Range(0, 96)), ScheduleError);
  round_up_panel();
  round_up_tile();
  s[tile].bound(column, Range(0, 96));
  EXPECT_EQ(conditions_in_tile(), 1);  // rows
  EXPECT_EQ(compare_with_default(s, {A, B, C}), "");
}

TEST_F(RoundUp, StaysWithinWhatExists) {
  round_up_tile();
  EXPECT_EQ(conditions_in_tile(), 2);  // also columns that the panel does not have
  s[tile].round_up(tile.op().axis(0));
  EXPECT_EQ(compare_with_default(s, {A, B, C}), "");
}

TEST_F(RoundUp, GoesAsFarWithExactBounds) {
  s[panel].compute_root();
  EXPECT_EQ(conditions_in_tile(Bounds::Exact), 2);
  round_up_panel();
  round_up_tile();
  EXPECT_EQ(conditions_in_tile(Bounds::Exact), 1);
  EXPECT_EQ(compare_with_default(s, {A, B, C}, {.build = {.bounds = Bounds::Exact}}), "");
}

/// Tiles of four of the last five elements of `size`, which are 2147483642 to 2147483646.
struct LastTiles {
  explicit LastTiles(const Expr& size)
      : A(te::placeholder({8}, "A")),
        B(te::compute(
            {size}, {"i"}, [&](Var i) { return A(max(min(i - 2147483642, 7), 0)); }, "B")),
        C(te::compute(
            {5}, {"i"}, [&](Var i) { return B(cast(size.dtype(), i) + 2147483642); }, "C")),
        s(te::create_schedule(C)) {
    s[B].compute_at(s[C], s[C].split(s[C].axis(0), 4).outer).round_up(B.op().axis(0));
  }
  te::Tensor A, B, C;
  te::Schedule s;
};

TEST(RoundUpToTheLastIndex, IsRefusedWhereTheTileLeavesTheTypeOfTheAxis) {
  const LastTiles tiles(2147483647);
  try {
    lower_to_loops(tiles.s, {tiles.A, tiles.C});
    FAIL() << "not refused";
  } catch (const BoundError& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("reaches index 2147483649"));
  }
}

TEST(RoundUpToTheLastIndex, ComputesTheTileWhereTheAxisHas64Bits) {
  const LastTiles tiles(tir::make_int(Int(64), 2147483647));
  EXPECT_EQ(compare_with_default(tiles.s, {tiles.A, tiles.C}), "");
}

/// Each stage of a long chain examines the stages that it reads, and no further ones.
TEST(RoundUpOfChains, TakesNoLongerThanTheyAre) {
  te::Tensor last = te::placeholder({10, 10}, "A");
  std::vector<te::Tensor> parts;
  for (int n = 0; n < 60; ++n) {
    last = te::compute(
        {10, 10}, {"i", "j"}, [&](Var i, Var j) { return last(i, j) + last(j, i); },
        "T" + std::to_string(n));
    parts.push_back(last);
  }
  const te::Schedule s = te::create_schedule(last);
  parts.pop_back();
  for (const te::Tensor& part : parts)
    for (const te::IterVar& axis : part.op().axis()) s[part].round_up(axis);
  constexpr double kLimit = 2;
  EXPECT_LT(least_seconds(kLimit,
                          [&] {
                            const double start = processor_seconds();
                            lower_to_loops(s, {parts.front().op().inputs()[0], last});
                            return processor_seconds() - start;
                          }),
            kLimit);
}

TEST(RoundUpOfQuotients, DividesByNoneOfTheZerosThere) {
  const te::Tensor A = te::placeholder({10}, "A", Int(32));
  const te::Tensor B = te::compute(
      {10}, {"i"}, [&](Var i) { return tir::abs(A(i)) + 1; }, "B");
  const te::Tensor C = te::compute(
      {10}, {"i"}, [&](Var i) { return tir::floordiv(100, B(i)); }, "C");
  const te::Tensor D = te::compute(
      {10}, {"i"}, [&](Var i) { return C(i) * 2; }, "D");
  const te::Schedule s = te::create_schedule(D);
  const te::IterVar outer = s[D].split(s[D].axis(0), 4).outer;
  for (const te::Tensor& T : {B, C}) s[T].compute_at(s[D], outer).round_up(T.op().axis(0));
  EXPECT_EQ(compare_with_default(s, {A, D}), "");
}

}  // namespace
}  // namespace tenon::testing
