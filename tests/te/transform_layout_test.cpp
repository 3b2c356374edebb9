// Layouts: maps of indices, their inverses, and the loops that follow them.
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "te/loops/program.h"
#include "te/schedule/transform_layout.h"
#include "tenon/interp/evaluate.h"
#include "tenon/te/freeze.h"
#include "tenon/te/reduce.h"
#include "tenon/te/schedule_ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::te {
namespace {

using tir::floordiv;
using tir::floormod;

std::int64_t value_at(const Expr& e, const std::vector<Var>& vars,
                      const std::vector<std::int64_t>& values) {
  tir::VarMap map;
  for (std::size_t n = 0; n < vars.size(); ++n) set(map, vars[n], Expr(values[n]).astype(Int(32)));
  return *tir::constant_int(tir::substitute_folding(e, map));
}

/// The inverse of the map undoes it at every point, and the map fills its new box.
void is_undone(const Transform::Map& map, const std::vector<std::int64_t>& extents) {
  std::vector<Expr> shape(extents.begin(), extents.end());
  const std::optional<Bijection> found = invert(map, shape);
  ASSERT_TRUE(found.has_value());
  std::int64_t points = 1, new_points = 1;
  for (std::int64_t extent : extents) points *= extent;
  for (const Expr& extent : found->extents) new_points *= *tir::constant_int(extent);
  EXPECT_EQ(points, new_points);
  for (std::int64_t flat = 0; flat < points; ++flat) {
    std::vector<std::int64_t> point(extents.size()), image;
    for (std::size_t n = extents.size(), rest = static_cast<std::size_t>(flat); n-- > 0;) {
      point[n] = static_cast<std::int64_t>(rest) % extents[n];
      rest /= static_cast<std::size_t>(extents[n]);
    }
    for (std::size_t n = 0; n < map.results.size(); ++n) {
      image.push_back(value_at(map.results[n], map.params, point));
      EXPECT_LT(image.back(), *tir::constant_int(found->extents[n]));
    }
    for (std::size_t n = 0; n < extents.size(); ++n)
      EXPECT_EQ(value_at(found->inverse.results[n], found->inverse.params, image), point[n]);
  }
}

TEST(InvertTest, UndoesEveryMapOfDigits) {
  Var i("i"), j("j"), k("k");
  is_undone({{i, j}, {floordiv(j, 8), i, floormod(j, 8)}}, {6, 16});
  is_undone({{i, j}, {j, i}}, {3, 5});
  is_undone({{i, j}, {i * 16 + j}}, {4, 16});
  is_undone({{i, j}, {floordiv(i * 16 + j, 8), floormod(i * 16 + j, 8)}}, {4, 16});
  is_undone(
      {{i, j}, {floordiv(i * 6 + j, 12), floormod(floordiv(i * 6 + j, 3), 4), floormod(j, 3)}},
      {4, 6});
  is_undone({{i, j, k}, {floordiv(k, 4) * 6 + j * 3 + i, floormod(k, 4)}}, {3, 2, 8});
  is_undone({{i, j}, {floormod(floordiv(i, 2), 3), floordiv(i, 6), j * 2 + floormod(i, 2)}},
            {12, 3});
  is_undone({{i, j}, {i, Expr(0), j}}, {4, 1});
}

TEST(InvertTest, KnowsMapsThatAreNoBijections) {
  Var i("i"), j("j");
  const std::vector<Expr> shape = {16, 10};
  EXPECT_FALSE(invert({{i, j}, {floordiv(i, 2), j}}, shape));
  EXPECT_FALSE(invert({{i, j}, {i, i}}, shape));
  EXPECT_FALSE(invert({{i, j}, {i, j, j}}, shape));
  EXPECT_FALSE(invert({{i, j}, {i, floordiv(j, 4), floormod(j, 4)}}, shape));
  EXPECT_FALSE(invert({{i, j}, {i * 2, j}}, shape));
  EXPECT_FALSE(invert({{i, j}, {i + j}}, shape));
  EXPECT_FALSE(invert({{i, j}, {i + 1, j}}, shape));
}

TEST(InvertTest, CutsNoIndexWhereTheDivisorLeavesARest) {
  // 60 points in rows of 4, which begin within the rows of 10.
  Var i("i"), j("j");
  EXPECT_FALSE(invert({{i, j}, {floordiv(i * 10 + j, 4), floormod(i * 10 + j, 4)}}, {6, 10}));
  // 4 and 6 both go to (0, 1), although there are as many places, 4 by 3, as indices.
  EXPECT_FALSE(invert({{i}, {floormod(floormod(i, 6), 4), floordiv(i, 4)}}, {12}));
}

TEST(InvertTest, CarriesWholeSymbolicIndices) {
  Var i("i"), j("j"), n("n");
  const std::optional<Bijection> found =
      invert({{i, j}, {floordiv(j, 8), i, floormod(j, 8)}}, {n, 16});
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->extents[1].same_as(n));
  EXPECT_FALSE(invert({{i, j}, {floordiv(i, 8), floormod(i, 8), j}}, {n, 16}));
}

/// The map sends the points of the box to points of a larger one, each to another, from where the
/// inverse brings them back.
void is_undone_with_padding(const Transform::Map& map, std::int64_t rows, std::int64_t columns) {
  EXPECT_FALSE(invert(map, {Expr(rows), Expr(columns)}));
  const std::optional<Bijection> found = invert_padded(map, {Expr(rows), Expr(columns)});
  ASSERT_TRUE(found.has_value());
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      std::vector<std::int64_t> image;
      for (std::size_t n = 0; n < map.results.size(); ++n) {
        image.push_back(value_at(map.results[n], map.params, {i, j}));
        EXPECT_LT(image.back(), *tir::constant_int(found->extents[n]));
      }
      EXPECT_EQ(value_at(found->inverse.results[0], found->inverse.params, image), i);
      EXPECT_EQ(value_at(found->inverse.results[1], found->inverse.params, image), j);
    }
}

TEST(InvertTest, PadsWhatIsDividedWithARest) {
  Var i("i"), j("j");
  is_undone_with_padding({{i, j}, {floordiv(j, 8), i, floormod(j, 8)}}, 3, 13);
  is_undone_with_padding({{i, j}, {floordiv(i, 4), floordiv(j, 6), floormod(i, 4), floormod(j, 6)}},
                         7, 20);
  is_undone_with_padding(
      {{i, j}, {floordiv(floordiv(j, 3), 4), i, floormod(floordiv(j, 3), 4), floormod(j, 3)}}, 2,
      17);
}

TEST(InvertTest, PadsNoMapThatLosesAnIndex) {
  Var i("i"), j("j"), n("n");
  EXPECT_FALSE(invert_padded({{i, j}, {floordiv(i, 2), j}}, {5, 10}));
  EXPECT_FALSE(invert_padded({{i, j}, {i, floordiv(j, 4), floormod(j, 3)}}, {5, 10}));
  EXPECT_FALSE(invert_padded({{i, j}, {floordiv(i, 8), j}}, {n, 10}));
}

TEST(InvertTest, PadsSymbolicExtentsToMultiplesOfTheDivisors) {
  Var i("i"), j("j"), n("n");
  const std::vector<Transform::Map> maps = {
      {{i, j}, {floordiv(i, 8), floormod(i, 8), j}},
      {{i, j}, {floordiv(floordiv(i, 3), 4), floormod(floordiv(i, 3), 4) * 3 + floormod(i, 3), j}},
      {{i, j}, {j, floordiv(i, 4) * 4 + floormod(i, 4)}}};
  for (const Transform::Map& map : maps) {
    const std::optional<Bijection> found = invert_padded(map, {n, 2});
    ASSERT_TRUE(found.has_value());
    for (std::int64_t extent = 1; extent < 30; ++extent)
      for (std::int64_t at = 0; at < extent; ++at) {
        std::vector<std::int64_t> image;
        for (std::size_t r = 0; r < map.results.size(); ++r) {
          image.push_back(value_at(map.results[r], map.params, {at, 1}));
          EXPECT_LT(image.back(), value_at(found->extents[r], {n}, {extent}));
        }
        EXPECT_EQ(value_at(found->inverse.results[0], found->inverse.params, image), at);
      }
  }
}

TEST(InvertTest, PadsNoExtentsThatGrowBeyondInt64) {
  Var i("i", Int(64)), j("j");
  const Expr huge = tir::make_int(Int(64), std::int64_t{1} << 62);
  const Expr prime = tir::make_int(Int(64), (std::int64_t{1} << 61) - 1);
  EXPECT_FALSE(invert_padded({{i}, {floordiv(i, huge - 1), floormod(i, huge - 1)}},
                             {tir::make_int(Int(64), std::numeric_limits<std::int64_t>::max())}));
  EXPECT_FALSE(invert_padded({{i},
                              {floordiv(floordiv(i, prime), huge),
                               floormod(floordiv(i, prime), huge), floormod(i, prime)}},
                             {100}));
  // Beyond int32, but not int64.
  const std::optional<Bijection> wide = invert_padded({{j}, {floordiv(j, 1000), floormod(j, 1000)}},
                                                      {std::numeric_limits<std::int32_t>::max()});
  ASSERT_TRUE(wide.has_value());
  EXPECT_EQ(tir::constant_int(wide->extents[0]), 2147484);
}

struct LayoutTest : testing::Test {
  Tensor A = placeholder({16, 64}, "A");
  Tensor B = compute(
      {16, 64}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  Schedule s = create_schedule({B});
};

TEST_F(LayoutTest, LoopsFollowTheLayout) {
  std::vector<IterVar> axes = s[B].transform_layout([](Var i, Var j) -> std::vector<Expr> {
    return {floordiv(j, 8), i, floormod(j, 8)};
  });
  ASSERT_EQ(axes.size(), 3u);
  EXPECT_EQ(tir::print_legacy(axes[1]), "iter_var(axis1, range(min=0, ext=16))");
  EXPECT_TRUE(s[B].leaf_iter_vars()[2].same_as(axes[2]));
  const StageGraph graph = freeze(s);
  const tir::PrimFunc func = schedule_ops(graph, infer_bound(graph), {A, B});
  EXPECT_EQ(tir::constant_int(func.buffers[1].declared.shape()[2]), 8);
  EXPECT_EQ(func.buffers[0].declared.shape().size(), 2u);
}

TEST_F(LayoutTest, LoopsMayHaveChangedPlacesButNotBeParted) {
  s[B].reorder({s[B].axis(1), s[B].axis(0)});
  EXPECT_EQ(s[B].transform_layout([](Var i, Var j) -> std::vector<Expr> {
                  return {j, i};
                })
                .size(),
            2u);
  Schedule other = create_schedule({B});
  other[B].split(B.op().axis(1), 4);
  auto swap = [](Var i, Var j) -> std::vector<Expr> { return {j, i}; };
  EXPECT_THROW(other[B].transform_layout(swap), ScheduleError);
}

TEST_F(LayoutTest, OfAPlaceholderMovesItsMemoryOnly) {
  auto map = [](Var i, Var j) -> std::vector<Expr> { return {j, axis_separator(), i}; };
  EXPECT_TRUE(s[A].transform_layout(map).empty());
  const StageGraph graph = freeze(s);
  const tir::PrimFunc func = schedule_ops(graph, infer_bound(graph), {A, B});
  EXPECT_EQ(func.buffers[0].declared->axis_separators, std::vector<int>{1});
  EXPECT_EQ(tir::constant_int(func.buffers[0].declared.shape()[0]), 64);
}

TEST_F(LayoutTest, AConstantIndexIsOfTheTypeOfItsDimension) {
  const Expr extent = tir::make_const(Int(64), 8);
  const Tensor C = placeholder({extent}, "C");
  const Tensor D = compute(
      {extent}, {"i"}, [&](Var i) { return C(i) + 1.0f; }, "D");
  const Tensor E = compute(
      {extent}, {"i"}, [&](Var i) { return D(i) + D(5); }, "E");
  Schedule wide = create_schedule(E);
  wide[D].transform_layout([](Var i) -> std::vector<Expr> {
    return {floormod(i, 4), floordiv(i, 4)};
  });
  const StageGraph graph = freeze(wide);
  const std::string text = tir::print_function(schedule_ops(graph, infer_bound(graph), {C, E}));
  EXPECT_NE(text.find("D[1i64, 1i64]"), std::string::npos) << text;
}

TEST_F(LayoutTest, ALastPartThatIsNotFullNeedsPadding) {
  auto parts = [](Var i, Var j) -> std::vector<Expr> {
    return {floordiv(j, 24), i, floormod(j, 24)};
  };
  try {
    s[B].transform_layout(parts);
    ADD_FAILURE() << "accepted";
  } catch (const ScheduleError& error) {
    EXPECT_NE(std::string(error.what()).find("{.pad = true}"), std::string::npos) << error.what();
  }
  const std::vector<IterVar> axes = s[B].transform_layout(parts, {.pad = true});
  ASSERT_EQ(axes.size(), 3u);
  EXPECT_EQ(tir::constant_int(axes[0].dom()->extent), 3);
  EXPECT_EQ(tir::constant_int(axes[2].dom()->extent), 24);
}

TEST_F(LayoutTest, OnlyWhatNeedsPaddingIsPadded) {
  const Tensor E = compute(
      {12}, {"i"}, [&](Var i) { return A(i, 0); }, "E");
  Schedule exact = create_schedule(E);
  const std::vector<IterVar> axes = exact[E].transform_layout(
      [](Var i) -> std::vector<Expr> {
        return {floordiv(i, 4), floordiv(floormod(i, 4), 2), floormod(i, 2)};
      },
      {.pad = true});
  EXPECT_EQ(tir::constant_int(axes[0].dom()->extent), 3);
  EXPECT_EQ(tir::constant_int(axes[1].dom()->extent), 2);
}

TEST_F(LayoutTest, AnAxisInAnotherPlaceIsOnlyAsLongAsItIsNeeded) {
  const Tensor D = compute(
      {16, 64}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) * 2.0f; }, "D");
  Schedule tiled = create_schedule(D);
  auto [io, jo, ii, ji] = tiled[D].tile(tiled[D].axis(0), tiled[D].axis(1), 4, 8);
  tiled[B].compute_at(tiled[D], jo);
  const std::vector<IterVar> axes =
      tiled[B].transform_layout([](Var i, Var j) -> std::vector<Expr> {
        return {j, i};
      });
  const StageGraph graph = freeze(tiled);
  const Bounds bounds = infer_bound(graph);
  EXPECT_EQ(tir::print_expr(bounds[axes[0]].extent), "8");
  EXPECT_EQ(tir::print_expr(bounds[axes[1]].extent), "4");
  const std::string text = tir::print_function(schedule_ops(graph, bounds, {A, D}));
  EXPECT_EQ(text.find("likely"), std::string::npos) << text;
}

TEST_F(LayoutTest, ABlockThatAloneIsNeededAloneIsComputed) {
  // 70 columns in panels of 24, of which a reader's tile is one.
  const Tensor P = compute(
      {16, 70}, {"i", "j"}, [&](Var i, Var j) { return A(i, floormod(j, 64)) + 1.0f; }, "P");
  const Tensor D = compute(
      {16, 70}, {"i", "j"}, [&](Var i, Var j) { return P(i, j) * 2.0f; }, "D");
  Schedule tiled = create_schedule(D);
  auto [jo, ji] = tiled[D].split(tiled[D].axis(1), 24);
  tiled[D].reorder({jo, tiled[D].axis(0), ji});
  tiled[P].compute_at(tiled[D], jo);
  const std::vector<IterVar> axes = tiled[P].transform_layout(
      [](Var i, Var j) -> std::vector<Expr> {
        return {floordiv(j, 24), i, floormod(j, 24)};
      },
      {.pad = true});
  const StageGraph graph = freeze(tiled);
  const Bounds bounds = infer_bound(graph);
  EXPECT_EQ(tir::print_expr(bounds[axes[0]].extent), "1");
  EXPECT_EQ(tir::print_expr(bounds[axes[2]].extent), "24");
  const tir::PrimFunc func = schedule_ops(graph, bounds, {A, D});
  std::vector<float> in(16 * 64), out(16 * 70, std::numeric_limits<float>::quiet_NaN());
  std::iota(in.begin(), in.end(), 0.0f);
  tir::evaluate(func, std::vector<tir::HostValue>{tir::HostArray{in.data(), Float(32), {16, 64}},
                                                  tir::HostArray{out.data(), Float(32), {16, 70}}});
  for (std::size_t n = 0; n < out.size(); ++n)
    ASSERT_EQ(out[n], (in[n / 70 * 64 + n % 70 % 64] + 1) * 2) << n;
}

/// Elements that are read before the stage's first are not computed, and those inside are computed
/// once.
TEST_F(LayoutTest, AnAxisInAnotherPlaceMayBeNeededFromBeforeItsBegin) {
  for (const int rows : {1, 3}) {
    const Tensor P = compute(
        {rows, 4}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "P");
    const Tensor D = compute(
        {2, 4}, {"i", "j"},
        [&](Var i, Var j) {
          return tir::if_then_else(i >= 1, P(i - 1, j), tir::make_const(Float(32), 0));
        },
        "D");
    Schedule s = create_schedule(D);
    const Tensor local = s.cache_write(P, "local");
    s[local].compute_at(s[P], s[P].axis(1));
    s[P].transform_layout([](Var i, Var j) -> std::vector<Expr> { return {j, i}; });
    const StageGraph graph = freeze(s);
    const tir::PrimFunc func = schedule_ops(graph, infer_bound(graph), {A, D});
    std::vector<float> in(16 * 64), out(8);
    std::iota(in.begin(), in.end(), 0.0f);
    tir::evaluate(func, std::vector<tir::HostValue>{tir::HostArray{in.data(), Float(32), {16, 64}},
                                                    tir::HostArray{out.data(), Float(32), {2, 4}}});
    for (std::size_t j = 0; j < 4; ++j) {
      EXPECT_EQ(out[j], 0) << j;
      EXPECT_EQ(out[4 + j], in[j] + 1) << j;
    }
  }
}

/// Reads of the overrunning iterations are outside of the condition's tensor, too.
TEST_F(LayoutTest, ACacheOfLoopsWithARestAsksWhereItIsFirst) {
  const Tensor D = placeholder({5, 3}, "D");
  const IterVar k = reduce_axis({0, 3}, "k");
  const Tensor E = compute(
      {5}, {"i"}, [&](Var i) { return sum(D(i, k), {k}, {.where = D(4 - i, k) > 2.0f}); }, "E");
  Schedule s = create_schedule(E);
  s[E].split(s[E].op().axis()[0], 2);
  s.cache_write(E, "global");
  const StageGraph graph = freeze(s);
  const tir::PrimFunc func = schedule_ops(graph, infer_bound(graph), {D, E});
  std::vector<float> in(15), out(5);
  std::iota(in.begin(), in.end(), 0.0f);
  tir::evaluate(func, std::vector<tir::HostValue>{tir::HostArray{in.data(), Float(32), {5, 3}},
                                                  tir::HostArray{out.data(), Float(32), {5}}});
  for (std::size_t i = 0; i < 5; ++i) {
    float sum = 0;
    for (std::size_t n = 0; n < 3; ++n)
      if (in[(4 - i) * 3 + n] > 2) sum += in[i * 3 + n];
    EXPECT_EQ(out[i], sum) << i;
  }
}

/// The cache goes over the layout, and so over what is left of its last part.
TEST_F(LayoutTest, ACacheOfAPaddedLayoutReadsNothingOutside) {
  const Tensor D = placeholder({5}, "D");
  const Tensor E = compute(
      {5}, {"i"}, [&](Var i) { return D(4 - i) * 2.0f; }, "E");
  Schedule padded = create_schedule(E);
  padded[E].transform_layout(
      [](Var i) -> std::vector<Expr> {
        return {floordiv(i, 3), floormod(i, 3)};
      },
      {.pad = true});
  padded.cache_write(E, "global");
  const StageGraph graph = freeze(padded);
  const tir::PrimFunc func = schedule_ops(graph, infer_bound(graph), {D, E});
  std::vector<float> in = {1, 2, 3, 4, 5}, out(6);
  // Refuses reads outside of D.
  tir::evaluate(func, std::vector<tir::HostValue>{tir::HostArray{in.data(), Float(32), {5}},
                                                  tir::HostArray{out.data(), Float(32), {2, 3}}});
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(out[i], in[4 - i] * 2) << i;
}

TEST_F(LayoutTest, TheRangeOfALoopHasTheTypeOfItsVariable) {
  const Var n = size_var("n", Int(64));
  const Tensor A = placeholder({3, n}, "A");
  const Tensor B = compute(
      {3, n}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f; }, "B");
  const Tensor C = compute(
      {n}, {"j"}, [&](Var j) { return B(0, j) + B(2, j); }, "C");
  const Schedule s = create_schedule(C);
  const std::vector<IterVar> loops = s[B].transform_layout(
      [](Var i, Var j) {
        return std::vector<Expr>{floordiv(j, 4), i, floormod(j, 4)};
      },
      {.pad = true});
  const Range range = infer_bound(s)[loops[2]];
  EXPECT_EQ(range.extent.dtype(), loops[2].var().dtype());
}

TEST(ImageOf, ARegionThatBeginsAtTheResultOfACallHasAnImage) {
  const Var p("p"), k("k");
  const Transform::Map tiles{{p}, {floordiv(p, 4), floormod(p, 4)}};
  const Expr begin = tir::make_call(Int(32), tir::Intrin::shift_right, {k, Expr(1)});
  const std::vector<Range> image = image_of(tiles, {Range::from_min_extent(begin, 6)});
  // begin is 9 for k = 18, so the elements 9 to 14 are in tiles 2 and 3.
  const auto at_18 = [&](const Expr& e) {
    tir::VarMap value;
    tir::set(value, k, Expr(18));
    return std::get<std::int64_t>(tir::evaluate(tir::substitute(e, value)));
  };
  EXPECT_EQ(at_18(image[0].min), 2);
  EXPECT_EQ(at_18(image[0].extent), 2);
  EXPECT_LE(at_18(image[1].min), 0);
  EXPECT_GE(at_18(image[1].min) + at_18(image[1].extent), 4);
}

TEST_F(LayoutTest, WrongMapsAreRefused) {
  auto lossy = [](Var i, Var j) -> std::vector<Expr> { return {floordiv(i, 2), j}; };
  EXPECT_THROW(s[B].transform_layout(lossy), ScheduleError);
  EXPECT_THROW(s[B].transform_layout([](Var i) -> std::vector<Expr> { return {i}; }),
               ScheduleError);
  EXPECT_EQ(s[B].relations().size(), 0u);
}

}  // namespace
}  // namespace tenon::te
