// Splits, fusions and the elements after the end of an axis.
#include <gtest/gtest.h>

#include <ctime>
#include <string>

#include "tenon/driver/build.h"
#include "tenon/te/reduce.h"
#include "tenon/tir/walk.h"
#include "tests/common/processor_time.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

// ---- splits, fusions and partitions -------------------------------------------------------------

// Splits, fusions and partition of loops: every element is written exactly once, whatever the
// factors.

/// "" if every element of the last argument is written once; else the first that is not.
std::string written_once(const tir::PrimFunc& func, const std::vector<LowerArgument>& args,
                         std::int64_t symbol = 7) {
  const Arguments a = make_arguments(args, {.symbol = symbol});
  const std::string& output = a.arrays.back()->name;
  std::vector<int> writes(static_cast<std::size_t>(a.arrays.back()->elements()), 0);
  tir::EvaluateOptions options;
  options.on_access = [&](const tir::Access& access) {
    if (access.is_write && access.buffer->name == output)
      ++writes[static_cast<std::size_t>(access.indices[0])];
  };
  tir::evaluate(func, a.values, options);
  for (std::size_t n = 0; n < writes.size(); ++n)
    if (writes[n] != 1)
      return "element " + std::to_string(n) + " is written " + std::to_string(writes[n]) + " times";
  return "";
}

TEST(SplitTest, TwiceByAnyFactorsCoversTheAxisOnce) {
  for (int extent = 1; extent <= 40; ++extent) {
    for (int factor : {1, 2, 3, 4, 7, 16, 31, 40}) {
      te::Tensor A = te::placeholder({extent}, "A", Int(32));
      te::Tensor B = te::compute(
          {extent}, {"i"}, [&](Var i) { return A(i) + 1; }, "B");
      te::Schedule s = te::create_schedule(B);
      const auto [outer, inner] = s[B].split(s[B].axis(0), factor);
      s[B].split_by_nparts(inner, 3);
      EXPECT_EQ(written_once(lower(s, {A, B}).functions.at("main"), {A, B}), "")
          << extent << " by " << factor;
    }
  }
}

TEST(SplitTest, OfASymbolicAxisCoversItOnce) {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A", Int(32));
  te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return A(i) + 1; }, "B");
  for (int factor : {1, 3, 8}) {
    te::Schedule s = te::create_schedule(B);
    s[B].split(s[B].split(s[B].axis(0), factor).outer, 2);
    const tir::PrimFunc func = lower(s, {A, B}).functions.at("main");
    for (std::int64_t size = 0; size <= 20; ++size)
      EXPECT_EQ(written_once(func, {A, B}, size), "") << size << " by " << factor;
  }
}

/// A sum over n elements whose loop is split by a variable q.
class SymbolicFactor : public ::testing::Test {
 protected:
  /// Returns what the function reports if q is `factor`; empty if it returns. The sum is of 7
  /// elements.
  std::string message_for(int factor, const std::vector<LowerArgument>& args) {
    runtime::Module module = build(s, args, Target("llvm"), {.name = "f"});
    const std::vector<float> ones(7, 1.0f);
    auto a = runtime::NDArray::from(std::span<const float>(ones), {7});
    auto c = runtime::NDArray::zeros({1}, Float(32), cpu(0));
    try {
      module["f"](a, c, factor);
    } catch (const RuntimeError& error) {
      return error.what();
    }
    EXPECT_EQ(c.data<float>()[0], 7.0f);
    return "";
  }
  void expect_checked(const std::string& message) {
    const std::vector<LowerArgument> args = {A, C, q};
    EXPECT_EQ(message_for(3, args), "");
    for (const int factor : {0, -3})
      EXPECT_NE(message_for(factor, args).find(message), std::string::npos)
          << message_for(factor, args);
  }

  Var n = te::size_var("n"), q = te::var("q");
  te::Tensor A = te::placeholder({n}, "A");
  te::IterVar k = te::reduce_axis({0, n}, "k");
  te::Tensor C = te::compute(
      {1}, {"i"}, [&](Var) { return te::sum(A(k), {k}); }, "C");
  te::Schedule s = te::create_schedule(C);
};

TEST_F(SymbolicFactor, IsCheckedAfterRfactor) {
  s.rfactor(C, s[C].split(k, q).outer);
  expect_checked("split of axis `k` of stage `C`: the factor `q` must be positive");
}

TEST_F(SymbolicFactor, IsCheckedAfterRfactorOfParts) {
  s.rfactor(C, s[C].split_by_nparts(k, q).outer);
  expect_checked(
      "split_by_nparts of axis `k` of stage `C`: the number of parts `q` must be positive");
}

TEST_F(SymbolicFactor, IsCheckedAfterCacheWrite) {
  s[C].split(s[C].axis(0), q);
  s.cache_write(C, "local");
  expect_checked("split of axis `i` of stage `C`: the factor `q` must be positive");
}

TEST_F(SymbolicFactor, IsCheckedIfTheCacheIsInlined) {
  te::Tensor D = te::compute(
      {1}, {"i"}, [&](Var i) { return A(i) * 7.0f; }, "D");
  s = te::create_schedule(D);
  s[D].split(s[D].axis(0), q);
  s[s.cache_write(D, "local")].compute_inline();
  C = D;
  expect_checked("split of axis `i` of stage `D`: the factor `q` must be positive");
}

TEST(SplitTest, FusedAndSplitUnevenly) {
  te::Tensor A = te::placeholder({12, 6}, "A");
  te::Tensor B = te::compute(
      {12, 6}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {12, 6}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) * 2.0f; }, "C");
  for (int factor : {3, 5, 9, 10, 12, 100}) {
    te::Schedule s = te::create_schedule(C);
    const auto [outer, inner] = s[C].split(s[C].fuse(s[C].axis(0), s[C].axis(1)), factor);
    s[B].compute_at(s[C], outer);
    EXPECT_EQ(compare_with_default(s, {A, C}, {.compile = false}), "") << factor;
  }
}

TEST(SplitTest, TwoOfTheSameAxisInDifferentStages) {
  // The tail of one meets that of the other: partition must split both.
  for (int size : {1, 17, 48}) {
    te::Tensor A = te::placeholder({size}, "A", Int(32));
    te::Tensor C = te::compute(
        {size}, {"i"}, [&](Var i) { return A(i) + 1; }, "C");
    te::Tensor D = te::compute(
        {size}, {"i"}, [&](Var i) { return C(i) * 3; }, "D");
    te::Schedule s = te::create_schedule(D);
    s[C].split(s[C].axis(0), 10);
    const auto [outer, inner] = s[D].split(s[D].axis(0), 32);
    s[C].compute_at(s[D], outer);
    EXPECT_EQ(compare_with_default(s, {A, D}), "") << size;
  }
}

TEST(SplitTest, VectorizedTailOfEverySize) {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A");
  te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return A(i) * 2.0f; }, "B");
  te::Schedule s = te::create_schedule(B);
  const auto [outer, inner] = s[B].split(s[B].axis(0), 8);
  s[B].vectorize(inner);
  EXPECT_EQ(compare_with_default(s, {A, B}, {.symbols = {0, 1, 7, 8, 9, 15, 16, 17, 40}}), "");
}

TEST(SplitTest, ExtentsOfOneAndZero) {
  for (int size : {0, 1}) {
    te::Tensor A = te::placeholder({size, 5}, "A");
    te::IterVar k = te::reduce_axis({0, size}, "k");
    te::Tensor B = te::compute(
        {size, 5}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
    te::Tensor C = te::compute(
        {5}, {"j"}, [&](Var j) { return te::sum(B(k, j), {k}); }, "C");
    te::Schedule s = te::create_schedule(std::vector<te::Tensor>{B, C});
    const auto tiles = s[B].tile(s[B].axis(0), s[B].axis(1), 2, 2);
    s[B].vectorize(tiles.y_inner).parallel(tiles.x_outer);
    s[C].split(k, 3);
    EXPECT_EQ(compare_with_default(s, {A, B, C}), "") << size;
  }
}

TEST(SplitTest, TwoSymbolicSizes) {
  Var n = te::size_var("n"), m = te::size_var("m");
  te::Tensor A = te::placeholder({n, m}, "A");
  te::Tensor B = te::compute(
      {n, m}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f; }, "B");
  te::Tensor C = te::compute(
      {n, m}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) + 1.0f; }, "C");
  te::Schedule s = te::create_schedule(C);
  const auto tiles = s[C].tile(s[C].axis(0), s[C].axis(1), 10, 5);
  s[B].compute_at(s[C], tiles.y_outer);
  EXPECT_EQ(compare_with_default(s, {A, C}, {.symbols = {0, 1, 5, 10, 23}}), "");
}

TEST(PartitionTest, ALowerAndAnUpperConditionNested) {
  te::Tensor A = te::placeholder({16}, "A", Int(32));
  te::Tensor B = te::compute(
      {16}, {"i"},
      [&](Var i) {
        return if_then_else(i > 4 && i < 20, A(i), if_then_else(i * 8 + 7 < 30, 1, 2));
      },
      "B");
  te::Schedule s = te::create_schedule(B);
  s[B].split(s[B].axis(0), 5);
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

TEST(PartitionTest, AConcatenationWithAPointInIt) {
  te::Tensor A = te::placeholder({128}, "A", Int(32));
  te::Tensor B = te::compute(
      {128}, {"i"},
      [&](Var i) { return if_then_else(i < 64, A(i), if_then_else(i == 64, A(0), A(i - 1) * 2)); },
      "B");
  te::Schedule s = te::create_schedule(B);
  const auto [outer, inner] = s[B].split(s[B].axis(0), 24);
  s[B].vectorize(inner);
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

// ---- producers at tiles -------------------------------------------------------------------------

TEST(ProducerAtTileTest, AStencilComputesItsHaloWithEachTile) {
  te::Tensor A = te::placeholder({66}, "A", Int(32));
  te::Tensor B = te::compute(
      {66}, {"i"}, [&](Var i) { return A(i) * A(i); }, "B");
  te::Tensor C = te::compute(
      {64}, {"i"}, [&](Var i) { return B(i) + B(i + 1) * 2 - B(i + 2); }, "C");
  for (int tile : {8, 10, 64}) {
    te::Schedule s = te::create_schedule(C);
    const auto [outer, inner] = s[C].split(s[C].axis(0), tile);
    s[B].compute_at(s[C], outer);
    EXPECT_TRUE(arith::can_prove_equal(te::infer_bound(s)[s[B].axis(0)].extent, tile + 2)) << tile;
    EXPECT_EQ(compare_with_default(s, {A, C}), "") << tile;
  }
}

TEST(ProducerAtTileTest, AMatrixTimesAVectorOfWhichEachTileComputesItsPart) {
  te::Tensor A = te::placeholder({30, 20}, "A", Int(32)), x = te::placeholder({20}, "x", Int(32));
  te::Tensor twice = te::compute(
      {20}, {"i"}, [&](Var i) { return x(i) * 2; }, "twice");
  te::IterVar k = te::reduce_axis({0, 20}, "k");
  te::Tensor y = te::compute(
      {30}, {"i"}, [&](Var i) { return te::sum(A(i, k) * twice(k), {k}); }, "y");
  te::Schedule s = te::create_schedule(y);
  const auto [io, ii] = s[y].split(s[y].axis(0), 7);
  const auto [ko, ki] = s[y].split(k, 6);
  s[y].reorder({io, ko, ki, ii});
  s[twice].compute_at(s[y], ko);
  s[y].parallel(io);
  EXPECT_EQ(compare_with_default(s, {A, x, y}), "");
}

/// LLVM makes one row of 1,122 stores of the nest that sets the least values so far.
TEST(SplitTest, ANestThatIsUnrolledIntoOneRowOfStoresIsBuiltInSeconds) {
  te::Tensor B = te::placeholder({10}, "B", UInt(64));
  te::IterVar k = te::reduce_axis(Range(2, 3), "k");
  te::Tensor T = te::compute(
      {6, 11, 17, 2}, {"x", "y", "z", "j"},
      [&](Var x, Var, Var, Var) {
        const Expr zero = make_const(UInt(64), 0), three = make_const(UInt(64), 3);
        return te::min(if_then_else(x >= 1, B(x - 1), zero) + three, {k});
      },
      "T");
  te::Schedule s = te::create_schedule(T);
  const te::IterVar x = s[T].axis(0), y = s[T].axis(1), z = s[T].axis(2);
  auto [outer, inner] = s[T].split(s[T].axis(3), 6);
  s[T].reorder({s[T].reduce_axis(0), y, inner, x, z, outer});
  auto [rows, pair] = s[T].split(s[T].fuse({z, outer}), 2);
  s[T].vectorize(pair);
  s[T].reorder({x, s[T].reduce_axis(0), inner, y, rows, pair});
  s[T].tile(inner, x, 5, 16);
  const std::clock_t start = std::clock();
  build(s, {B, T}, Target("llvm"), {.fast_math = true});
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 20);
}

/// Rounds of split, reorder and fuse of one axis, of a stage that may have another one inside.
struct Rounds {
  te::Tensor A, B, producer;
  te::Schedule s;

  Rounds(int count, bool has_producer)
      : A(te::placeholder({100}, "A")), B(A), producer(A), s(of(has_producer)) {
    te::IterVar axis = s[B].axis(0);
    for (int k = 0; k < count; ++k) {
      const auto [outer, inner] = s[B].split(axis, 2 + k % 5);
      s[B].reorder({inner, outer});
      axis = s[B].fuse(inner, outer);
    }
    if (has_producer) s[producer].compute_at(s[B], axis);
  }

 private:
  te::Schedule of(bool has_producer) {
    producer = te::compute(
        {100}, {"i"}, [&](Var i) { return A(i) * 2.0F; }, "P");
    const te::Tensor& read = has_producer ? producer : A;
    B = te::compute(
        {100}, {"i"}, [&](Var i) { return read(i) + 1.0F; }, "B");
    return te::create_schedule(B);
  }
};

TEST(SplitTest, RoundsOfSplitAndFuseDoNotDoubleWithEach) {
  for (const bool has_producer : {false, true}) {
    const auto size_of = [&](int count) {
      const Rounds rounds(count, has_producer);
      return tir::print_module(lower(rounds.s, {rounds.A, rounds.B})).size();
    };
    const std::clock_t start = std::clock();
    EXPECT_LT(size_of(20), 3 * size_of(10));
    EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 5);
  }
}

TEST(SplitTest, RoundsOfSplitAndFuseWriteEveryElementOnce) {
  for (const bool has_producer : {false, true})
    for (int count = 1; count <= 9; ++count) {
      const Rounds rounds(count, has_producer);
      EXPECT_EQ(written_once(lower(rounds.s, {rounds.A, rounds.B}).functions.at("main"),
                             {rounds.A, rounds.B}),
                "")
          << count << " rounds";
    }
}

// ---- Stage::round_up ----------------------------------------------------------------------------

// Elements behind the end of an axis that are computed like others: Stage::round_up.

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

TEST_F(RoundUp, ShiftedTilesNeedNoGuards) {
  round_up_panel();
  round_up_tile();
  s[tile].shift_inwards(tile.op().axis(0));
  EXPECT_EQ(conditions_in_tile(), 0);
  EXPECT_EQ(compare_with_default(s, {A, B, C}), "");
  EXPECT_EQ(compare_with_default(s, {A, B, C}, {.build = {.bounds = Bounds::Exact}}), "");
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

/// A reduction of ten steps that is padded to twelve, of the products of two copies.
struct RoundUpOfReductions : ::testing::Test {
  te::Tensor A = te::placeholder({6, 10}, "A"), B = te::placeholder({10, 7}, "B");
  te::IterVar k = te::reduce_axis({0, 10}, "k");
  te::Tensor C = te::compute(
      {6, 7}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); }, "C");
  te::Tensor D = te::compute(
      {6, 7}, {"i", "j"}, [&](Var i, Var j) { return te::max(A(i, k) * B(k, j), {k}); }, "D");
  /// Beyond the end of the axis, P would not be 0, but it is not computed there.
  te::Tensor P = te::compute(
      {6, 10}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "P");
  te::Tensor E = te::compute(
      {6, 7}, {"i", "j"}, [&](Var i, Var j) { return te::sum(P(i, k) * B(k, j), {k}); }, "E");

  /// Returns the number of conditions around the reduction's steps.
  int conditions(const te::Tensor& out, bool reads_copies) const {
    const te::Schedule s = te::create_schedule(out);
    const te::Tensor sums = s.cache_write(out, "local");
    if (reads_copies)
      for (const te::Tensor& factor : out.op().inputs()) {
        const te::Tensor copy = s.cache_read(factor, "global", {sums});
        for (int d : {0, 1}) s[copy].round_up(s[copy].axis(d));
      }
    const te::IterVar steps = s[sums].reduce_axis(0);
    s[sums].round_up(steps).bound(steps, Range(0, 12));
    s[sums].unroll(s[sums].split(steps, 4).inner);
    EXPECT_EQ(compare_with_default(s, {A, B, out}), "");
    int count = 0;
    tir::walk(lower_to_loops(s, {A, B, out}).body, [&](const tir::If& n) {
      tir::walk(n.then_case, [&](const tir::Store& store) {
        count += store.buffer.name() == sums.name() && !tir::is_constant(store.value);
      });
    });
    return count;
  }
};

TEST_F(RoundUpOfReductions, AddsZerosOfPaddedCopies) { EXPECT_EQ(conditions(C, true), 0); }

TEST_F(RoundUpOfReductions, AddsZerosOfPaddedCopiesOfAStage) { EXPECT_EQ(conditions(E, true), 0); }

TEST_F(RoundUpOfReductions, DoesNotReadBeyondArguments) { EXPECT_EQ(conditions(C, false), 1); }

TEST_F(RoundUpOfReductions, DoesNotReadBeyondAStage) { EXPECT_EQ(conditions(E, false), 1); }

TEST_F(RoundUpOfReductions, KeepsTheConditionIfZeroIsNotTheIdentity) {
  EXPECT_EQ(conditions(D, true), 1);
}

/// Returns the number of conditions around the steps of a reduction in blocks of four.
int conditions_of_blocks(const te::Tensor& out, bool reads_copies,
                         const std::vector<LowerArgument>& args) {
  const te::Schedule s = te::create_schedule(out);
  const te::Tensor sums = s.rfactor(out, s[out].split(s[out].reduce_axis(0), 4).outer);
  if (reads_copies)
    for (const te::Tensor& factor : out.op().inputs()) {
      const te::Tensor copy = s.cache_read(factor, "global", {sums});
      for (int d : {0, 1}) s[copy].round_up(s[copy].axis(d));
    }
  s[sums].round_up(s[sums].reduce_axis(0));
  EXPECT_EQ(compare_with_default(s, args), "");
  int count = 0;
  tir::walk(lower_to_loops(s, args).body, [&](const tir::If& n) {
    tir::walk(n.then_case, [&](const tir::Store& store) {
      count += store.buffer.name() == sums.name() && !tir::is_constant(store.value);
    });
  });
  return count;
}

TEST_F(RoundUpOfReductions, AddsZerosOfPaddedCopiesInTheLastBlock) {
  EXPECT_EQ(conditions_of_blocks(C, true, {A, B, C}), 0);
}

TEST_F(RoundUpOfReductions, KeepsTheConditionOfTheLastBlockOfArguments) {
  EXPECT_EQ(conditions_of_blocks(C, false, {A, B, C}), 1);
}

TEST_F(RoundUpOfReductions, KeepsTheConditionOfTheLastBlockIfZeroIsNotTheIdentity) {
  EXPECT_EQ(conditions_of_blocks(D, true, {A, B, D}), 1);
}

TEST_F(RoundUpOfReductions, DoesNotLeaveOutSteps) {
  const te::Schedule s = te::create_schedule(C);
  const te::Tensor sums = s.cache_write(C, "local");
  const te::IterVar steps = s[sums].reduce_axis(0);
  EXPECT_THROW(s[sums].bound(steps, Range(0, 12)), ScheduleError);
  s[sums].round_up(steps);
  EXPECT_THROW(s[sums].bound(steps, Range(0, 8)), ScheduleError);
  EXPECT_THROW(s[sums].bound(steps, Range(1, 11)), ScheduleError);
}

TEST(RoundUpToTheLastIndex, IsRefusedWhereTheTileLeavesTheTypeOfTheAxis) {
  const LastTiles tiles(2147483647);
  try {
    lower_to_loops(tiles.s, {tiles.A, tiles.C});
    FAIL() << "not refused";
  } catch (const BoundError& e) {
    EXPECT_NE(std::string(e.what()).find("reaches index 2147483649"), std::string::npos)
        << e.what();
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
