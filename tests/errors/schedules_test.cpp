// Misuse of schedules as it shows from outside: the sentence, the user's line, the same text of the
// same schedule.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "tenon/te/auto_inline.h"
#include "tenon/te/stage_data.h"
#include "tenon/tir/expr.h"
#include "tests/common/refusal.h"
#include "tests/common/ways_to_run.h"
#include "tests/errors/programs.h"

namespace tenon::testing {
namespace {

// ---- primitives ---------------------------------------------------------------------------------

// Misuse of schedules as it shows from outside: the sentence, the user's line, the same text of the
// same schedule.

using te::Expr;

struct ChainTest : Chain {};

TEST_F(ChainTest, RefusedPrimitivesChangeNothing) {
  s[D].split(s[D].axis(0), 4);
  s[B].compute_at(s[C], s[C].axis(0));
  refused([&] { s[C].split(s[C].axis(0), 0); }, {"split", "`i`", "`C`", "0"});
  refused([&] { s[C].split(s[C].axis(0), -4); }, {"split", "`i`", "`C`", "-4"});
  refused([&] { s[C].split_by_nparts(s[C].axis(0), 0); }, {"`i`", "`C`", "0"});
  refused([&] { s[C].tile(s[C].axis(0), k, 4, 0); }, {"tile", "`k`", "`C`"});
  refused([&] { s[C].split(s[D].axis(0), 2); }, {"split", "`i`", "`C`"});
  refused([&] { s[D].split(s[D].axis(0), 2); }, {"already been split"});
  refused([&] { s[C].vectorize(k); }, {"vectorize", "`k`", "`C`", "rfactor"});
  refused([&] { s[C].reorder({k, k}); }, {"reorder", "`k`", "more than once"});
  refused(
      [&] {
        s[D].fuse({s[D].leaf_iter_vars()[0], s[D].leaf_iter_vars()[0]});
      },
      {"fuse", "`i.outer`", "`D`"});
  refused([&] { s[C].compute_inline(); }, {"compute_inline", "`C`", "reduction"});
  refused([&] { s[D].set_scope("local"); }, {"set_scope", "`D`", "output"});
  refused([&] { s[C].set_scope("sharedd"); }, {"`C`", "sharedd", "shared"});
  refused([&] { s.rfactor(C, s[C].axis(0)); }, {"rfactor", "`i`", "`C`"});
  refused([&] { s.rfactor(C, k, 7); }, {"rfactor", "7"});
  refused([&] { s.cache_write(A, "local"); }, {"cache_write", "`A`"});
  refused([&] { s.cache_read(C, "local", {B.op()}); }, {"cache_read", "`C`", "`B`"});
  refused([&] { s[C].pragma(k, "vectorize"); }, {"`k`", "reduction"});
  refused([&] { s[C].storage_align(s[C].axis(0), -1, 0); }, {"storage_align", "`i`", "`C`"});
  refused([&] { s[D].prefetch(B, s[D].leaf_iter_vars()[0], 1); }, {"prefetch", "`B`", "`D`"});
}

TEST_F(ChainTest, AxesOfOtherStagesAndOtherSchedules) {
  te::Schedule other = te::create_schedule(D);
  const te::IterVar elsewhere = other[B].split(other[B].axis(0), 4).inner;
  for (const te::IterVar& axis :
       {s[D].axis(0), elsewhere, te::thread_axis("threadIdx.x"), te::reduce_axis({0, 16}, "k")}) {
    const std::string name = "`" + axis.name() + "`";
    refused([&] { s[C].split(axis, 4); }, {"split", name, "`C`", "`i`, `k`"});
    refused([&] { s[C].split_by_nparts(axis, 4); }, {"split_by_nparts", name, "`C`"});
    refused([&] { s[C].fuse(axis, k); }, {"fuse", name, "`C`"});
    refused([&] { s[C].fuse({axis}); }, {"fuse", name, "`C`"});
    refused([&] { s[C].tile(axis, k, 2, 2); }, {"tile", name, "`C`"});
    refused([&] { s[C].reorder({k, axis}); }, {"reorder", name, "`C`"});
    refused([&] { s[C].vectorize(axis); }, {"vectorize", name, "`C`"});
    refused([&] { s[C].unroll(axis); }, {"unroll", name, "`C`"});
    refused([&] { s[C].parallel(axis); }, {"parallel", name, "`C`"});
    refused([&] { s[C].bind(axis, te::thread_axis("threadIdx.y")); }, {"bind", name, "`C`"});
    refused([&] { s[C].pragma(axis, "key"); }, {"pragma", name, "`C`"});
    refused([&] { s[C].prefetch(B, axis, 1); }, {"prefetch", name, "`C`"});
    refused([&] { s[C].storage_align(axis, 8, 0); }, {"storage_align", name, "`C`"});
    refused([&] { s[B].compute_at(s[C], axis); }, {"compute_at", "`B`", name, "`C`"});
    refused([&] { s.rfactor(C, axis); }, {"rfactor", name, "`C`"});
  }
}

TEST_F(ChainTest, FactorsThatAreNoCounts) {
  const te::IterVar i = s[C].axis(0);
  refused([&] { s[C].split(i, 2.5f); }, {"split", "`i`", "`C`", "integer", "float32"});
  refused([&] { s[C].split(i, Expr(3) < 4); }, {"split", "`i`", "integer", "bool"});
  refused([&] { s[C].split(i, std::int64_t{1} << 40); },
          {"split", "`i`", "`C`", "1099511627776", "int32"});
  refused([&] { s[C].split(i, ~std::uint64_t{0}); },
          {"split", "`i`", "18446744073709551615", "int32"});
  refused([&] { s[C].split_by_nparts(i, std::int64_t{1} << 40); },
          {"split_by_nparts", "`i`", "int32"});
  refused([&] { s[C].split(i, B(0, 0).astype(Int(32))); }, {"split", "`i`", "`B`"});
}

TEST_F(ChainTest, TheGreatestFactorIsTheWholeAxis) {
  s[D].split(s[D].axis(0), std::numeric_limits<int>::max());
  s[C].split_by_nparts(s[C].axis(0), std::numeric_limits<int>::max());
  EXPECT_EQ(compare_with_default(s, args, {.compile = false}), "");
}

TEST_F(ChainTest, LoopsThatAreNotNeighbours) {
  auto [io, ii] = s[B].split(s[B].axis(0), 4);
  refused([&] { s[B].fuse(io, s[B].axis(1)); }, {"fuse", "`i.outer`", "`j`", "`B`", "reorder"});
  s[B].reorder({ii, io});
  refused([&] { s[B].fuse(ii, s[B].axis(1)); }, {"fuse", "`i.inner`", "`j`"});
  refused([&] { s[B].fuse({ii, io, ii}); }, {"fuse", "`i.inner`"});
}

TEST_F(ChainTest, OneAxisForBothOfATile) {
  refused([&] { s[B].tile(s[B].axis(0), s[B].axis(0), 2, 2); },
          {"tile", "`i`", "`B`", "already been split"});
}

TEST_F(ChainTest, OnlyComputesThatHaveLoopsAreTensorized) {
  const te::IterVar j = s[B].axis(1);
  refused([&] { s[A].tensorize(j, add_one(16)); }, {"tensorize", "`j`", "`A`"});
  s[B].compute_inline();
  refused([&] { s[B].tensorize(j, add_one(16)); }, {"tensorize", "`j`", "`B`", "inlined"});
}

TEST_F(ChainTest, ThreadsAndLoops) {
  const te::IterVar tx = te::thread_axis("threadIdx.x"), i = s[C].axis(0);
  refused([&] { s[C].bind(i, k); }, {"bind", "`i`", "`k`", "thread_axis"});
  s[C].bind(i, tx);
  refused([&] { s[C].split(i, 4); }, {"split", "`i`", "`threadIdx.x`"});
  refused([&] { s[C].fuse(i, k); }, {"fuse", "`i`", "`threadIdx.x`"});
  refused([&] { s[C].vectorize(i); }, {"vectorize", "`i`", "`C`", "`threadIdx.x`"});
  refused([&] { s[C].parallel(i); }, {"parallel", "`i`", "`C`", "`threadIdx.x`"});
  refused([&] { s[C].unroll(i); }, {"unroll", "`i`", "`C`", "`threadIdx.x`"});
}

TEST_F(ChainTest, OneThreadForTwoLoopsOfAStage) {
  const te::IterVar tx = te::thread_axis("threadIdx.x");
  s[B].bind(s[B].axis(0), tx);
  s[B].bind(s[B].axis(1), tx);
  ASSERT_EQ(s.warnings().size(), 1u);
  EXPECT_TRUE(refuses<ScheduleError>([&] { build(s, args, Target("llvm")); },
                                     {"`j`", "`B`", "threadIdx.x", "`i`", "diagonal"}));
}

TEST_F(ChainTest, TwoThreadAxesOfOneTagForTwoLoopsOfAStage) {
  s[B].bind(s[B].axis(0), te::thread_axis({0, 8}, "threadIdx.y"));
  s[B].bind(s[B].axis(1), te::thread_axis("threadIdx.y"));
  ASSERT_EQ(s.warnings().size(), 1u);
  EXPECT_NE(s.warnings()[0].find("diagonal"), std::string::npos) << s.warnings()[0];
}

TEST_F(ChainTest, ALoopRunsInOneWay) {
  s[B].vectorize(s[B].axis(1));
  refused([&] { s[B].bind(s[B].axis(1), te::thread_axis("threadIdx.x")); },
          {"bind", "`j`", "`B`", "Vectorized"});
}

TEST_F(ChainTest, Placeholders) {
  refused([&] { s[A].compute_inline(); }, {"compute_inline", "`A`"});
  refused([&] { s[A].double_buffer(); }, {"double_buffer", "`A`", "placeholder"});
  refused([&] { s[A].set_scope("local"); }, {"set_scope", "`A`", "placeholder"});
  refused([&] { s[A].axis(0); }, {"`A`", "0 data axes"});
  refused([&] { s.cache_write(A, "local"); }, {"cache_write", "`A`", "compute"});
  refused([&] { s.rfactor(A, k); }, {"rfactor", "`A`"});
}

TEST_F(ChainTest, NumbersOfAxes) {
  refused([&] { s[B].axis(2); }, {"`B`", "2 data axes", "2"});
  refused([&] { s[B].axis(-1); }, {"`B`", "-1"});
  refused([&] { s[B].reduce_axis(0); }, {"`B`", "0 reduction axes"});
  EXPECT_TRUE(refuses<TypeError>([&] { s[B].scan_axis(); }, {"`B`", "not a scan"}));
}

TEST_F(ChainTest, Caches) {
  te::Tensor stranger = te::placeholder({16}, "X");
  refused([&] { s.cache_read(B, "local", {D.op()}); }, {"cache_read", "`B`", "`D`"});
  refused([&] { s.cache_read(D, "local", {}); }, {"cache_read", "`D`", "no stage reads it"});
  refused([&] { s.cache_read(stranger, "local", {B.op()}); }, {"cache_read", "`X`", "not part"});
  refused([&] { s.cache_read(B, "local", {stranger.op()}); }, {"cache_read", "`X`", "not part"});
  refused([&] { s.cache_read(B, "", {C.op()}); }, {"cache_read", "`B`", "global"});
  refused([&] { s.cache_write(B, "sharedd"); }, {"cache_write", "`B`", "sharedd", "shared"});
  refused([&] { s.cache_write(std::vector<te::Tensor>{}, "local"); }, {"cache_write", "no tensor"});
  refused([&] { s.cache_write({B, C}, "local"); }, {"cache_write", "`C`", "another operation"});
  refused([&] { s.rfactor({C, B}, k); }, {"rfactor", "`C`", "`B`"});
  refused([&] { s.rfactor(std::vector<te::Tensor>{}, k); }, {"rfactor", "no tensor"});
  refused([&] { s[stranger].compute_root(); }, {"`X`", "not part"});
}

TEST_F(ChainTest, Storage) {
  refused([&] { s[B].storage_align(s[B].axis(0), 0, 0); }, {"storage_align", "`i`", "`B`", "0"});
  refused([&] { s[B].storage_align(s[B].axis(0), 8, -1); }, {"storage_align", "`i`", "`B`", "-1"});
  const int most = std::numeric_limits<int>::max();
  refused([&] { s[B].storage_align(s[B].axis(0), most, most); },
          {"storage_align", "`i`", "`B`", "int32"});
  refused([&] { s[B].set_store_predicate(1); }, {"set_store_predicate", "`B`", "Bool", "int32"});
  refused([&] { s[B].env_threads({te::thread_axis("threadIdx.x")}); },
          {"env_threads", "`B`", "scan"});
  refused([&] { s[D].rolling_buffer(); }, {"rolling_buffer", "`D`", "output"});
  refused([&] { s[D].round_up(s[D].axis(0)); }, {"round_up", "`D`", "output"});
  refused([&] { s[A].round_up(s[B].axis(0)); }, {"round_up", "`A`", "placeholder"});
  refused([&] { s[C].round_up(s[B].axis(0)); }, {"round_up", "`i`", "`C`", "`k`"});
  refused([&] { s[D].shift_inwards(s[D].axis(0)); }, {"shift_inwards", "`D`", "output"});
  refused([&] { s[C].shift_inwards(s[C].reduce_axis(0)); }, {"shift_inwards", "`C`", "twice"});
  refused(
      [&] {
        s[B].transform_layout([](Var i, Var j) { return std::vector<Expr>{floordiv(i, 2), j}; });
      },
      {"transform_layout", "`B`", "bijection"});
  refused([&] { s[B].transform_layout([](Var i) { return std::vector<Expr>{i}; }); },
          {"transform_layout", "`B`", "1", "2"});
  refused(
      [&] { s[B].transform_layout([](Var, Var j) {
              return std::vector<Expr>{Expr(0.5f), j};
            }); },
      {"transform_layout", "`B`", "integer", "float32"});
  refused([&] { s[B].pragma(s[B].axis(0), ""); }, {"pragma", "`i`", "`B`", "empty"});
  refused([&] { s[B].prefetch(A, s[B].axis(0), 0.5f); }, {"prefetch", "`i`", "`B`", "float32"});
}

TEST_F(ChainTest, Groups) {
  const te::Stage group = s.create_group(C, A, false);
  refused([&] { s.create_group(D, B, false); }, {"create_group", "intersect"});
  refused([&] { s.create_group(A, D, false); }, {"create_group", "no stage lies between"});
  refused([&] { s.create_group(te::placeholder({16}, "X"), A); },
          {"create_group", "`X`", "not part"});
  refused([&] { s[B].compute_at(s[D], s[D].axis(0)); }, {"compute_at", "`B`", "group", "`D`"});
  refused([&] { s[D].compute_at(group, s[D].axis(0)); }, {"compute_at", "`D`", "group"});
  refused([&] { group.compute_at(s[C], k); }, {"compute_at", "group", "itself"});
  refused([&] { group.split(s[B].axis(0), 2); }, {"split", "group"});
  refused([&] { group.compute_inline(); }, {"compute_inline", "group"});
  refused([&] { group.set_scope("local"); }, {"set_scope", "group"});
  refused([&] { group.axis(0); }, {"group"});
}

TEST_F(ChainTest, AGroupThatHoldsAnOutputStaysAtRoot) {
  te::Tensor E = te::compute(
      {16}, {"i"}, [&](Var i) { return D(i) + 1.0f; }, "E");
  s = te::create_schedule(std::vector<te::Tensor>{D, E});
  args = {A, D, E};
  const te::Stage group = s.create_group(D, B, true);
  refused([&] { group.compute_at(s[E], s[E].axis(0)); }, {"compute_at", "group", "`D`", "output"});
}

TEST_F(ChainTest, OverlappingGroupsAndGroupsInGroups) {
  s.create_group(C, B, false);
  const te::Stage outer = s.create_group(C, A, false);
  refused([&] { s.create_group(D, B, false); }, {"create_group", "intersect", "group of C"});
  refused([&] { s.create_group(std::vector<te::Tensor>{}, A); },
          {"create_group", "no stage lies between"});
  refused([&] { outer.double_buffer(); }, {"double_buffer", "group"});
  refused([&] { s[D].compute_at(outer, k); }, {"compute_at", "`D`", "group"});
  outer.compute_at(s[D], s[D].axis(0));
  s.cache_write(B, "local");
  s.rfactor(C, s[C].split(k, 4).inner);
  EXPECT_EQ(compare_with_default(s, args), "") << "what rewrites add belongs to the group";
}

TEST_F(ChainTest, StagesThatAGroupTakesFromTheirPlaceAreToldOf) {
  s[C].compute_at(s[D], s[D].axis(0));
  s.create_group(C, A, false);
  ASSERT_EQ(s.warnings().size(), 1u);
  for (const char* part : {"create_group", "`C`", "group's root", "schedules_test.cpp"})
    EXPECT_NE(s.warnings().front().find(part), std::string::npos) << s.warnings().front();
  EXPECT_EQ(compare_with_default(s, args, {.compile = false}), "");
}

TEST_F(ChainTest, AnAlignedOutputIsToldOf) {
  s[D].storage_align(s[D].axis(0), 8, 1);
  ASSERT_EQ(s.warnings().size(), 1u);
  for (const char* part :
       {"storage_align", "`i`", "`D`", "output", "no effect", "schedules_test.cpp"})
    EXPECT_NE(s.warnings().front().find(part), std::string::npos) << s.warnings().front();
}

TEST_F(ChainTest, ALayoutThatLeavesARestNamesIt) {
  const auto thirds = [](Var i, Var j) -> std::vector<Expr> {
    return {i, floordiv(j, 3), floormod(j, 3)};
  };
  refused([&] { s[B].transform_layout(thirds); },
          {"bijection", "divides index `j`", "extent 16, by 3", "leaves a remainder",
           "{.pad = "
           "true}"});
}

TEST_F(ChainTest, LayoutsWithoutABijectionOrWithEmptyDimensions) {
  using Indices = std::vector<Expr>;
  const std::vector<std::string> parts = {"transform_layout", "`B`", "bijection"};
  refused([&] { s[B].transform_layout([](Var, Var) { return Indices{}; }); }, parts);
  refused([&] { s[B].transform_layout([](Var i, Var) { return Indices{i, Var("z")}; }); }, parts);
  refused(
      [&] {
        s[B].transform_layout([&](Var i, Var) { return Indices{i, A(i, 0).astype(Int(32))}; });
      },
      parts);
  refused(
      [&] {
        s[B].transform_layout([](Var i, Var j) {
          return Indices{i, te::axis_separator(), te::axis_separator(), j};
        });
      },
      {"transform_layout", "`B`", "separators", "adjacent"});
  s[B].storage_align(s[B].axis(0), 8, 1);
  const auto swapped = [](Var i, Var j) { return Indices{j, i}; };
  refused([&] { s[B].transform_layout(swapped); },
          {"transform_layout", "`i`", "`B`", "aligned", "first"});
}

TEST_F(ChainTest, APlaceholderIsComputedNowhere) {
  s[A].compute_at(s[B], s[B].axis(0)).compute_root();
  EXPECT_EQ(compare_with_default(s, args, {.compile = false}), "");
  refused([&] { s[B].compute_at(s[A], s[B].axis(0)); },
          {"compute_at", "`B`", "`A`", "whose loops are none"});
  refused([&] { s[A].split(s[B].axis(0), 4); }, {"split", "`i`", "`A`"});
}

TEST(ScheduleOfNothingTest, NeedsAnOutput) {
  EXPECT_TRUE(refuses<ScheduleError>([] { te::create_schedule(std::vector<te::Operation>{}); },
                                     {"create_schedule", "at least one output"}));
}

TEST_F(ChainTest, SeveralOutputs) {
  std::vector<te::Tensor> T = te::compute_multi(
      {16}, {"i"},
      [&](Var i) {
        return std::vector<Expr>{D(i), D(i) + 1.0f};
      },
      "T");
  te::Tensor E = te::compute(
      {16}, {"i"}, [&](Var i) { return T[0](i) + T[1](i); }, "E");
  s = te::create_schedule(E);
  args = {A, E};
  refused([&] { s.cache_write(T[0], "local"); }, {"cache_write", "`T`", "2 outputs", "list all"});
  refused([&] { s.cache_write({T[1], T[0]}, "local"); }, {"cache_write", "`T`", "in order"});
}

TEST_F(ChainTest, FactoringAfterItsLoopsHaveChanged) {
  te::IterVar fused = s[C].fuse(s[C].axis(0), k);
  refused([&] { s.rfactor(C, fused); }, {"rfactor", "`i.k.fused`", "`C`", "`i`"});
  s = te::create_schedule(D);
  s[C].split(s[C].axis(0), 4);
  refused([&] { s.rfactor(C, k); }, {"rfactor", "`C`", "`i`", "rfactor first"});
  s = te::create_schedule(D);
  s[C].fuse(std::vector<te::IterVar>{});
  refused([&] { s.rfactor(C, k); }, {"rfactor", "`k`", "`C`", "first"});
  s = te::create_schedule(D);
  for (int position : {2, -3})
    refused([&] { s.rfactor(C, k, position); }, {"rfactor", "`C`", "factor_axis"});
}

// ---- attachments: every way that cannot be ------------------------------------------------------

TEST_F(ChainTest, IllegalAttachmentsAtTheCall) {
  te::Schedule other = te::create_schedule(D);
  refused([&] { s[C].compute_at(s[C], k); }, {"compute_at", "`C`", "itself"});
  refused([&] { s[D].compute_at(s[C], k); }, {"compute_at", "`D`", "output"});
  refused([&] { s[C].compute_at(other[D], D.op().axis(0)); },
          {"compute_at", "`C`", "another schedule"});
  refused([&] { s[C].compute_at(s[D], k); }, {"compute_at", "`k`", "`D`"});
  refused([&] { s[A].compute_inline(); }, {"compute_inline", "`A`"});
  s[B].compute_at(s[C], s[C].axis(0));
  refused([&] { s[C].compute_at(s[B], s[B].axis(0)); }, {"compute_at", "`C`", "`B`"});
}

TEST_F(ChainTest, AProducerAttachedBelowAStageThatDoesNotReadIt) {
  te::Tensor E = te::compute(
      {16}, {"i"}, [&](Var i) { return D(i) + B(i, i); }, "E");
  s = te::create_schedule(E);
  args = {A, E};
  refused([&] { s[B].compute_at(s[C], s[C].axis(0)); }, {"compute_at", "`B`", "`E`", "root"});
  s[B].compute_at(s[E], s[E].axis(0));
  refused_by_lower({"compute_at", "`B`", "`C`", "root"});
}

TEST_F(ChainTest, AttachedToWhatIsInlined) {
  te::Tensor E = te::compute(
      {16}, {"i"}, [&](Var i) { return D(i) + 1.0f; }, "E");
  s = te::create_schedule(E);
  args = {A, E};
  s[C].compute_at(s[D], s[D].axis(0));
  s[D].compute_inline();
  refused_by_lower({"compute_at", "`C`", "`D`", "inlined"});
}

TEST_F(ChainTest, AttachmentsOutliveWhatHappensToTheirLoop) {
  for (int change = 0; change < 4; ++change) {
    s = te::create_schedule(D);
    te::IterVar i = s[C].axis(0);
    s[B].compute_at(s[C], i);
    if (change == 0) s[C].split(i, 5);
    if (change == 1) s[C].fuse(i, k);
    if (change == 2) s[C].reorder({k, i});
    if (change == 3) s[C].split(s[C].split(i, 5).inner, 2);
    EXPECT_EQ(compare_with_default(s, args, {.compile = false}), "") << change;
  }
}

// ---- what lower and build refuse of a whole schedule --------------------------------------------

TEST_F(ChainTest, RacingReductionsAreNotBuilt) {
  s[C].parallel(k);
  EXPECT_FALSE(picture_of(s, args).empty());
  EXPECT_TRUE(refuses<Error>([&] { build(s, args, Target("llvm")); }, {"`k`", "`C`", "rfactor"}));
}

TEST_F(ChainTest, MissingAndDoubleArguments) {
  args = {D};
  refused_by_lower({"`A`", "argument"});
  args = {A, D, A};
  refused_by_lower({"`A`", "twice"});
}

// ---- arguments other than axes ------------------------------------------------------------------

// Checks arguments of primitives other than axes: factors, offsets, conditions, values of pragmas.
// Errors that are known at the call are reported there; errors that depend on the arguments of the
// function are reported when it is called.

struct GivenValueTest : Chain {
  void expect_same(const WaysToRun& ways = {}) {
    EXPECT_EQ(compare_with_default(s, args, ways), "");
  }
};

// ---- factors ------------------------------------------------------------------------------------

TEST_F(GivenValueTest, FactorsAreTheSameAllTheTime) {
  const te::IterVar i = s[C].axis(0);
  refused([&] { s[C].split(k, i); }, {"split", "`k`", "`C`", "factor", "axis `i` of stage `C`"});
  refused([&] { s[C].split(k, s[B].axis(1) + 1); },
          {"split", "`k`", "`C`", "axis `j` of stage `B`"});
  refused([&] { s[C].split_by_nparts(k, i + 1); }, {"split_by_nparts", "`k`", "`C`", "axis `i`"});
  refused([&] { s[B].tile(s[B].axis(0), s[B].axis(1), 4, k); }, {"tile", "`j`", "`B`", "axis `k`"});
  refused([&] { s[C].split(k, call_extern(Int(32), "f")); },
          {"split", "`k`", "`C`", "another value each time"});
  refused([&] { s[C].split(k, tir::make_const(Int(32, 4), 2)); },
          {"split", "`k`", "integer", "int32x4"});
}

TEST_F(GivenValueTest, AFactorOfAnyIntegerTypeIsAFactor) {
  s[B].split(s[B].axis(0), std::int64_t{5});
  s[B].split(s[B].axis(1), make_const(UInt(8), 3));
  expect_same({.compile = false});
}

TEST_F(GivenValueTest, TheGreatestFactorFusesAndSplitsAgain) {
  auto [o, i] = s[B].split(s[B].axis(0), std::numeric_limits<int>::max());
  s[B].split(s[B].fuse(i, s[B].axis(1)), std::numeric_limits<int>::max());
  expect_same({.compile = false});
}

TEST_F(GivenValueTest, AFactorThatTheCallerGives) {
  for (const bool by_parts : {false, true}) {
    s = te::create_schedule(D);
    Var count("count");
    by_parts ? s[B].split_by_nparts(s[B].axis(0), count) : s[B].split(s[B].axis(0), count);
    args = {A, D, count};
    for (std::int64_t value : {1, 3, 16, 100}) expect_same({.compile = false, .symbols = {value}});
    runtime::Module mod = build(s, args, Target("llvm"), {.opt_level = 1});
    const auto a = runtime::NDArray::random({16, 16}, Float(32));
    auto d = runtime::NDArray::full({16}, Float(32), 5);
    for (int value : {0, -3}) {
      try {
        mod["main"](a, d, value);
        ADD_FAILURE() << "accepted " << value;
      } catch (const RuntimeError& error) {
        const std::string text = error.what();
        for (const char* part :
             {by_parts ? "split_by_nparts" : "split", "`i`", "`B`", "`count`", "positive"})
          EXPECT_NE(text.find(part), std::string::npos) << text;
      }
      EXPECT_EQ(d.data<float>()[0], 5) << "nothing is written";
    }
  }
}

TEST_F(GivenValueTest, AFactorThatIsProvedPositiveIsNotChecked) {
  Var n = te::size_var("n");
  s[B].split(s[B].axis(0), n + 1);
  EXPECT_EQ(tir::print_module(lower(s, {A, D, n})).find("assert"), std::string::npos);
}

// ---- offsets ------------------------------------------------------------------------------------

TEST_F(GivenValueTest, OffsetsOfPrefetches) {
  const te::IterVar i = s[B].axis(0), j = s[B].axis(1);
  refused([&] { s[B].prefetch(A, i, A(0, 0).astype(Int(32))); },
          {"prefetch", "`i`", "`B`", "offset", "`A`"});
  refused([&] { s[B].prefetch(A, i, j); }, {"prefetch", "`i`", "`B`", "offset", "axis `j`"});
  refused([&] { s[B].prefetch(A, i, Expr(true)); }, {"prefetch", "`i`", "`B`", "integer", "bool"});
}

TEST_F(GivenValueTest, PrefetchesInLoopsOfAnyKindAndByAnyDistance) {
  const te::IterVar i = s[B].axis(0), j = s[B].axis(1);
  const std::vector<std::function<void()>> ways = {
      [&] { s[B].unroll(i).prefetch(A, i, 1); },
      [&] { s[B].vectorize(j).prefetch(A, j, 1); },
      [&] { s[B].vectorize(j).prefetch(A, i, 2); },
      [&] { s[B].parallel(i).prefetch(A, i, 1); },
      [&] { s[B].bind(i, te::thread_axis("vthread")).prefetch(A, j, 1); },
      [&] { s[C].prefetch(B, k, 1); },
      [&] { s[B].prefetch(A, i, -1); },
      [&] { s[B].prefetch(A, i, std::numeric_limits<int>::max()); },
      [&] { s[B].prefetch(A, i, std::int64_t{1} << 40); },
  };
  for (std::size_t n = 0; n < ways.size(); ++n) {
    s = te::create_schedule(D);
    ways[n]();
    EXPECT_EQ(compare_with_default(s, args), "") << n;
  }
}

// ---- conditions ---------------------------------------------------------------------------------

TEST_F(GivenValueTest, ConditionsOfStoresAreBool) {
  refused([&] { s[B].set_store_predicate(1); }, {"set_store_predicate", "`B`", "Bool", "int32"});
  refused([&] { s[B].set_store_predicate(tir::make_broadcast(Expr(true), 4)); },
          {"`B`", "Bool", "boolx4"});
}

TEST_F(GivenValueTest, ConditionsOfStoresReadPlaceholdersAlone) {
  te::Tensor X = te::placeholder({16}, "X");
  refused([&] { s[D].set_store_predicate(B(0, 0) > 0.0f); },
          {"set_store_predicate", "`D`", "`B`", "if_then_else"});
  refused([&] { s[D].set_store_predicate(D(0) > 0.0f); },
          {"set_store_predicate", "`D`", "tensor `D`"});
  refused([&] { s[D].set_store_predicate(X(0) > 0.0f); }, {"set_store_predicate", "`D`", "`X`"});
  s[D].set_store_predicate(A(0, 0) > -1000.0f);
  expect_same();
}

TEST_F(GivenValueTest, OnlyStoresOfComputesHaveConditions) {
  refused([&] { s[A].set_store_predicate(Expr(true)); }, {"set_store_predicate", "`A`", "compute"});
}

TEST_F(GivenValueTest, ConditionsOfStoresUseTheLoopsAroundThem) {
  s[B].compute_at(s[C], s[C].axis(0));
  s[B].set_store_predicate(s[C].axis(0) >= 0 && s[B].axis(1) >= 0);
  expect_same();
  s[B].set_store_predicate(s[D].axis(0) >= 0);
  try {
    lower(s, args);
    ADD_FAILURE() << "accepted";
  } catch (const ScheduleError& error) {
    const std::string text = error.what();
    for (const char* part :
         {"set_store_predicate", "`B`", "axis `i` of stage `D`", "(at schedules_test.cpp:"})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST_F(GivenValueTest, RewritesDoNotTakeAwayWhatAConditionIsAbout) {
  s[C].set_store_predicate(s[C].axis(0) >= 0);
  refused([&] { s.rfactor(C, k); },
          {"rfactor", "`C`", "store predicate", "`i`", "before set_store_predicate"});
  auto [o, i] = s[B].split(s[B].axis(1), 4);
  s[B].set_store_predicate(i >= 0);
  refused([&] { s.cache_write(B, "local"); },
          {"cache_write", "`B`", "store predicate", "`j.inner`"});
  s[B].set_store_predicate(s[B].axis(1) >= 0);
  s.cache_write(B, "local");
  expect_same();
}

// ---- pragmas ------------------------------------------------------------------------------------

TEST_F(GivenValueTest, PragmasTakeValuesOfTheirKind) {
  const te::IterVar i = s[B].axis(0);
  for (const te::PragmaValue& value :
       std::vector<te::PragmaValue>{-4, 1.5f, "many", Var("z"), A(0, 0)})
    refused([&] { s[B].pragma(i, "auto_unroll_max_step", value); },
            {"pragma", "`i`", "`B`", "auto_unroll_max_step", "constant integer"});
  refused([&] { s[B].pragma(i, "unroll_explicit", "yes"); },
          {"pragma", "`i`", "`B`", "unroll_explicit"});
  refused([&] { s[B].pragma(i, "import_llvm", 3); },
          {"pragma", "`i`", "`B`", "import_llvm", "text"});
  refused([&] { s[B].pragma(i, "import_c"); }, {"pragma", "`i`", "`B`", "import_c", "text"});
}

// ---- threads ------------------------------------------------------------------------------------

// Threads, and reductions on them: what would compute something else is refused, at the call where
// the call can know it.

using te::IterVar;
using te::Tensor;

struct ThreadScheduleTest : Chain {
  IterVar tx = te::thread_axis("threadIdx.x"), vx = te::thread_axis("vthread");

  /// Computes the same where threads are, which is not on this machine.
  void expect_same() { EXPECT_EQ(compare_with_default(s, args, {.compile = false}), ""); }
};

// ---- reductions ---------------------------------------------------------------------------------

TEST_F(ThreadScheduleTest, DataAndReductionFusedAreNotReducedTogether) {
  const IterVar fused = s[C].fuse(s[C].axis(0), k);
  const std::vector<std::string> parts = {"bind", "`C`", "elements", "reduction"};
  refused([&] { s[C].bind(fused, tx); }, parts);
  auto [o, i] = s[C].split(fused, 16);
  refused([&] { s[C].bind(o, tx); }, parts);
  refused([&] { s[C].bind(i, tx); }, parts);
}

TEST_F(ThreadScheduleTest, ReductionAxesFusedAreReducedTogether) {
  auto [ko, ki] = s[C].split(k, 5);
  s[C].bind(s[C].fuse(ko, ki), tx);
  expect_same();
}

TEST_F(ThreadScheduleTest, PartOfAReductionFusedWithDataKeepsTheRestFromThreads) {
  auto [ko, ki] = s[C].split(k, 5);
  const IterVar fused = s[C].fuse(s[C].axis(0), ko);
  refused([&] { s[C].bind(ki, tx); },
          {"bind", "`k.inner`", "`C`", "`i.k.outer.fused`", "one element at a time", "rfactor"});
  s[C].split(fused, 3);
  refused([&] { s[C].bind(ki, tx); }, {"bind", "`k.inner`", "`C`", "`i.k.outer.fused.outer`"});
}

TEST_F(ThreadScheduleTest, ReductionBoundToThreadsKeepsTheRestFromData) {
  auto [ko, ki] = s[C].split(k, 5);
  s[C].bind(ki, tx);
  refused([&] { s[C].fuse(s[C].axis(0), ko); },
          {"fuse", "`i`", "`C`", "`k.outer`", "`k.inner` is bound to `threadIdx.x`", "separately"});
}

TEST_F(ThreadScheduleTest, PartOfAReductionFactoredForThreadsBeforeTheRestIsFusedWithData) {
  auto [ko, ki] = s[C].split(k, 5);
  const Tensor parts = s.rfactor(C, ki);
  s[parts].fuse(s[parts].axis(1), s[parts].reduce_axis(0));
  s[parts].bind(s[parts].axis(0), tx);
  expect_same();
}

TEST_F(ThreadScheduleTest, ReducersThatDependOnTheOrderStayInOrder) {
  auto minus = te::comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) { return std::vector<Expr>{x[0] - y[0]}; },
      [](std::span<const DataType> t) { return std::vector<Expr>{make_const(t[0], 0)}; }, "minus");
  C = te::compute(
      {16}, {"i"}, [&](Var i) { return minus(B(i, k), {k}); }, "C");
  s = te::create_schedule(C);
  args = {A, C};
  refused([&] { s[C].bind(k, tx); }, {"bind", "`k`", "`C`", "`minus`", "order"});
  refused([&] { s.rfactor(C, k); }, {"rfactor", "`k`", "`C`", "`minus`", "order"});
}

TEST_F(ThreadScheduleTest, CopiesOfAVirtualThreadDoNotReduceAcrossThreads) {
  s[C].bind(s[C].axis(0), vx).bind(k, tx);
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] { lower(s, args); }, {"bind", "`k`", "`C`", "axis `i`", "virtual thread `vthread`"}));
  s = te::create_schedule(D);
  s[D].bind(s[D].axis(0), vx);
  s[C].compute_at(s[D], s[D].axis(0)).set_scope("shared").bind(k, tx);
  EXPECT_TRUE(
      refuses<ScheduleError>([&] { lower(s, args); }, {"bind", "`k`", "`C`", "`i` of stage `D`"}));
}

TEST(ThreadMemory, OfOneElementIsNotSeenByThreadsInsideOfItsLoop) {
  const te::Tensor A = te::placeholder({4}, "A");
  const te::Tensor B = te::compute(
      std::vector<Expr>{}, [&](std::span<const Var>) { return A(2) + 1.0f; }, "B");
  const te::Tensor C = te::compute(
      {8, 16}, {"i", "j"}, [&](Var, Var) { return B(); }, "C");
  te::Schedule s = te::create_schedule(C);
  s[C].bind(s[C].axis(0), te::thread_axis("threadIdx.y"));
  s[C].bind(s[C].axis(1), te::thread_axis("threadIdx.x"));
  s[B].set_scope("local").compute_at(s[C], s[C].axis(0));
  EXPECT_TRUE(refuses<BoundError>(
      [&] {
        lower(s, {A, C});
      },
      {"`B`", "local memory", "`threadIdx.x`", "outside of it"}));
  s[B].compute_at(s[C], s[C].axis(1));
  EXPECT_EQ(compare_with_default(s, {A, C}, {.compile = false}), "");
}

/// The result does not depend on which of two producers at one loop is visited first.
TEST(ThreadMemory, OfOneOfTwoProducersThatRunInOtherThreadsIsNotSeen) {
  for (const bool bound_first : {true, false}) {
    const te::Tensor A = te::placeholder({8, 16}, "A");
    const auto copy = [&](const char* name, float added) {
      return te::compute(
          {8, 16}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + added; }, name);
    };
    const te::Tensor P = copy("P", 1.0f), Q = copy("Q", 2.0f);
    const te::Tensor C = te::compute(
        {8, 16}, {"i", "j"},
        [&](Var i, Var j) { return bound_first ? P(i, j) * Q(i, j) : Q(i, j) * P(i, j); }, "C");
    te::Schedule s = te::create_schedule(C);
    const te::IterVar x = te::thread_axis("threadIdx.x");
    s[C].bind(s[C].axis(0), te::thread_axis("blockIdx.x")).bind(s[C].axis(1), x);
    for (const te::Tensor& T : {P, Q}) s[T].set_scope("local").compute_at(s[C], s[C].axis(0));
    s[P].bind(s[P].axis(1), x);
    EXPECT_TRUE(refuses<BoundError>(
        [&] {
          lower(s, {A, C});
        },
        {"`Q`", "local memory", "`threadIdx.x`", "outside of it"}));
    s[Q].bind(s[Q].axis(1), x);
    EXPECT_EQ(compare_with_default(s, {A, C}, {.compile = false}), "");
  }
}

TEST_F(ThreadScheduleTest, WhatThreadsReduceIsStoredBehindTheirLoops) {
  auto [ko, ki] = s[C].split(k, 5);
  s[C].bind(ki, tx).set_store_predicate(k.var() < 3);
  EXPECT_TRUE(
      refuses<ScheduleError>([&] { lower(s, args); }, {"set_store_predicate", "`C`", "`k.outer`",
                                                       "store the "
                                                       "result once"}));
  s[C].set_store_predicate(tx.var() == 0);
  EXPECT_NO_THROW(lower(s, args));
}

TEST_F(ThreadScheduleTest, AReductionAcrossTwoThreadsThatDivideNothing) {
  auto [ko, ki] = s[C].split(k, 5);
  s[C].bind(ki, tx).bind(ko, te::thread_axis("threadIdx.y"));
  expect_same();
}

TEST_F(ThreadScheduleTest, OneThreadForTwoPartsOfAReduction) {
  auto [ko, ki] = s[C].split(k, 4);
  s[C].bind(ki, tx).bind(ko, tx);
  ASSERT_EQ(s.warnings().size(), 1u);
  EXPECT_TRUE(refuses<ScheduleError>([&] { build(s, args); },
                                     {"`C`", "`k.inner`", "`k.outer`", "diagonal"}));
}

// ---- virtual threads ----------------------------------------------------------------------------

TEST_F(ThreadScheduleTest, OneVirtualThreadForTwoLoops) {
  s[B].bind(s[B].axis(0), vx).bind(s[B].axis(1), vx);
  ASSERT_EQ(s.warnings().size(), 1u);
  EXPECT_TRUE(refuses<ScheduleError>([&] { build(s, args); },
                                     {"`B`", "`i`", "`j`", "vthread", "diagonal"}));
}

TEST_F(ThreadScheduleTest, TwoVirtualThreadsOfOneTagAreTwo) {
  s[B].bind(s[B].axis(0), vx).bind(s[B].axis(1), te::thread_axis("vthread"));
  EXPECT_TRUE(s.warnings().empty());
  EXPECT_EQ(compare_with_default(s, args), "");
}

TEST_F(ThreadScheduleTest, AVirtualThreadWhoseAxisStartsElsewhereIsShifted) {
  Tensor late = te::compute(
      {4, 16}, {"y", "x"}, [&](Var y, Var x) { return B(y + 7, x) * 2.0f; }, "late");
  s = te::create_schedule(late);
  args = {A, late};
  s[B].bind(s[B].axis(0), vx);
  EXPECT_EQ(compare_with_default(s, args), "");
}

// ---- threads around what is done otherwise ------------------------------------------------------

TEST_F(ThreadScheduleTest, ALayoutIsChangedBeforeItsLoopsAreBound) {
  s[B].bind(s[B].axis(1), tx);
  refused([&] { s[B].transform_layout([](Var i, Var j) {
                  return std::vector<Expr>{j, i};
                }); },
          {"transform_layout", "`j`", "`B`", "`threadIdx.x`", "before bind"});
}

TEST_F(ThreadScheduleTest, ADoubleBufferNeedsALoopThatIsNoThread) {
  for (const IterVar& thread : {tx, vx}) {
    s = te::create_schedule(D);
    s[D].bind(s[D].axis(0), thread);
    s[C].compute_at(s[D], s[D].axis(0)).double_buffer();
    EXPECT_TRUE(
        refuses<ScheduleError>([&] { lower(s, args); }, {"double_buffer", "`C`", "no loop"}));
  }
}

TEST_F(ThreadScheduleTest, ProducersInsideOfReductionsAcrossThreads) {
  s[C].bind(k, tx);
  s[B].compute_at(s[C], k);
  expect_same();
}

// ---- scans --------------------------------------------------------------------------------------

struct ScanScheduleTest : ::testing::Test {
  Tensor X = te::placeholder({8, 16}, "X"), state = te::placeholder({8, 16}, "state");
  Tensor init = te::compute(
      {1, 16}, {"t", "i"}, [&](Var, Var i) { return X(0, i); }, "init");
  Tensor update = te::compute(
      {8, 16}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + X(t, i); }, "update");
  Tensor sums = te::scan(init, update, state, {X}, "sums");
  Tensor twice = te::compute(
      {8, 16}, {"y", "x"}, [&](Var y, Var x) { return sums(y, x) * 2.0f; }, "twice");
  te::Schedule s = te::create_schedule(twice);
  std::vector<LowerArgument> args = {X, twice};
  IterVar tx = te::thread_axis({0, 16}, "threadIdx.x");

  void refused(const std::function<void()>& primitive, const std::vector<std::string>& parts,
               SourceLocation where = SourceLocation::current()) {
    EXPECT_TRUE(leaves_alone(s, args, [&] {
      EXPECT_TRUE(refuses<ScheduleError>(primitive, parts, where));
    })) << where.line();
  }
};

TEST_F(ScanScheduleTest, ItsThreads) {
  const IterVar open = te::thread_axis("threadIdx.y"),
                other = te::thread_axis({0, 2}, "threadIdx.x");
  refused([&] { s[sums].env_threads({open}); },
          {"env_threads", "`threadIdx.y`", "`sums`", "{0, n}"});
  refused([&] { s[sums].env_threads({s[sums].scan_axis()}); },
          {"env_threads", "`sums`", "thread_axis"});
  refused(
      [&] {
        s[sums].env_threads({tx, tx});
      },
      {"env_threads", "`threadIdx.x`", "`sums`", "more than once"});
  refused(
      [&] {
        s[sums].env_threads({tx, other});
      },
      {"env_threads", "`threadIdx.x`", "`sums`", "another axis"});
  refused(
      [&] {
        s[sums].env_threads({te::thread_axis({0, 4}, "vthread")});
      },
      {"env_threads", "`vthread`", "`sums`", "in sequence"});
  refused([&] { s[update].env_threads({tx}); }, {"env_threads", "`update`", "only a scan"});
  s[sums].env_threads({tx});
  refused([&] { s[sums].env_threads({other}); },
          {"env_threads", "`sums`", "already set", "`threadIdx.x`"});
}

TEST_F(ScanScheduleTest, ItsThreadsAreNoLoops) {
  s[sums].env_threads({tx});
  refused([&] { s[sums].split(tx, 4); }, {"split", "`threadIdx.x`", "`sums`"});
  refused([&] { s[sums].vectorize(tx); }, {"vectorize", "`threadIdx.x`", "`sums`"});
  refused([&] { s[sums].unroll(tx); }, {"unroll", "`threadIdx.x`", "`sums`"});
  refused([&] { s[sums].parallel(tx); }, {"parallel", "`threadIdx.x`", "`sums`"});
  refused([&] { s[sums].pragma(tx, "tensor_core"); }, {"pragma", "`threadIdx.x`", "`sums`"});
  refused([&] { s[sums].bind(tx, te::thread_axis("threadIdx.y")); },
          {"bind", "`threadIdx.x`", "`sums`"});
}

TEST_F(ScanScheduleTest, ItsThreadsShareItsState) {
  s[sums].env_threads({tx});
  s[init].bind(s[init].axis(1), tx);
  s[update].bind(s[update].axis(1), tx);
  EXPECT_EQ(compare_with_default(s, args, {.compile = false}), "");
}

TEST_F(ScanScheduleTest, ItsTimeGoesInOrder) {
  const IterVar t = s[sums].scan_axis();
  refused([&] { s[sums].vectorize(t); }, {"vectorize", "`sums`", "Ordered"});
  refused([&] { s[sums].parallel(t); }, {"parallel", "`sums`", "Ordered"});
  refused([&] { s[sums].bind(t, tx); }, {"bind", "`sums`", "Ordered"});
  refused([&] { s.rfactor(sums, t); }, {"rfactor", "`sums`", "not a reduction"});
  auto [o, i] = s[sums].split(t, 3);
  refused([&] { s[sums].reorder({i, o}); }, {"reorder", "`sums`", "must stay in its place"});
  s[sums].unroll(i);
  EXPECT_EQ(compare_with_default(s, args), "");
}

TEST_F(ScanScheduleTest, ItsUpdateStaysInItsTimeLoop) {
  refused([&] { s[update].compute_at(s[sums], s[sums].scan_axis()); },
          {"compute_at", "`update`", "`sums.update`"});
  refused([&] { s[sums].compute_inline(); }, {"compute_inline", "`sums`", "compute"});
  refused([&] { s.cache_write(sums, "local"); }, {"cache_write", "`sums`", "compute"});
  refused([&] { s[sums].set_store_predicate(Expr(true)); },
          {"set_store_predicate", "`sums`", "compute"});
  s[update].compute_inline();
  s[init].compute_inline();
  EXPECT_EQ(compare_with_default(s, args), "")
      << "a scan reads them as tensors, so they are not inlined";
}

TEST_F(ScanScheduleTest, ItsUpdateIsNotAnOutput) {
  const te::Schedule both = te::create_schedule({twice, update});
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lower(both, {X, twice, update});
      },
      {"`update`", "steps of stage `sums`", "make the scan"}, sums.op().where()));
}

TEST_F(ScanScheduleTest, ItsUpdateIsReadByItsStepsOnly) {
  const Tensor outside = te::compute(
      {8, 16}, {"y", "x"}, [&](Var y, Var x) { return update(y, x) + sums(y, x); }, "outside");
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lower(te::create_schedule(outside), {X, outside});
      },
      {"`update`", "stage `outside` reads it", "read the scan instead"}, sums.op().where()));
}

TEST_F(ScanScheduleTest, PartsOfItsStateAreNotArguments) {
  for (const Tensor& part : {init, update})
    EXPECT_TRUE(refuses<ScheduleError>(
        [&] {
          lower(s, {X, part, twice});
        },
        {"`" + part.name() + "`", "state of a scan"}));
}

TEST_F(ScanScheduleTest, TheMemoryOfItsStateIsItsOwn) {
  for (const Tensor& part : {init, update}) {
    const std::string name = "`" + part.name() + "`";
    refused([&] { s[part].set_scope("local"); }, {"set_scope", name, "`sums`"});
    refused([&] { s[part].double_buffer(); }, {"double_buffer", name, "`sums`"});
    refused([&] { s[part].rolling_buffer(); }, {"rolling_buffer", name, "`sums`"});
    refused([&] { s[part].storage_align(s[part].axis(0), 8, 1); },
            {"storage_align", name, "`sums`"});
    refused([&] { s[part].transform_layout([](Var t, Var i) {
                    return std::vector<Expr>{i, t};
                  }); },
            {"transform_layout", name, "`sums`"});
  }
  s[sums].compute_at(s[twice], s[twice].axis(0)).storage_align(s[sums].scan_axis(), 8, 1);
  EXPECT_EQ(compare_with_default(s, args), "");
}

// ---- extern operations --------------------------------------------------------------------------

struct ExternScheduleTest : ::testing::Test {
  Tensor X = te::placeholder({8}, "X");
  Tensor before = te::compute(
      {8}, {"i"}, [&](Var i) { return X(i) + 1.0f; }, "before");
  Tensor extern_one = te::extern_op(
      {8}, {before},
      [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) {
        tir::IRBuilder ib;
        auto in = ib.buffer_ptr(ins[0]), out = ib.buffer_ptr(outs[0]);
        ib.for_range(0, 8, "i", [&](Var i) { out[i] = in[i] * 2.0f; });
        return ib.get();
      },
      "extern");
  Tensor after = te::compute(
      {8}, {"i"}, [&](Var i) { return extern_one(i) + 1.0f; }, "after");
  te::Schedule s = te::create_schedule(after);
  std::vector<LowerArgument> args = {X, after};

  void refused(const std::function<void()>& primitive, const std::vector<std::string>& parts,
               SourceLocation where = SourceLocation::current()) {
    EXPECT_TRUE(leaves_alone(s, args, [&] {
      EXPECT_TRUE(refuses<ScheduleError>(primitive, parts, where));
    })) << where.line();
  }
};

TEST_F(ExternScheduleTest, ItHasNoLoopsAndNoExpression) {
  refused([&] { s[extern_one].axis(0); }, {"`extern`", "0 data axes"});
  refused([&] { s[extern_one].compute_inline(); }, {"compute_inline", "`extern`", "compute"});
  refused([&] { s.cache_write(extern_one, "local"); }, {"cache_write", "`extern`", "compute"});
  refused([&] { s[extern_one].set_store_predicate(Expr(true)); },
          {"set_store_predicate", "`extern`"});
  refused([&] { s[extern_one].transform_layout([](Var i) { return std::vector<Expr>{i}; }); },
          {"transform_layout", "`extern`"});
}

TEST_F(ExternScheduleTest, WhatItReadsIsATensorThatIsThere) {
  const std::vector<std::function<void()>> ways = {
      [&] { s[before].compute_inline(); },
      [&] { s.cache_read(before, "local", {extern_one.op()}); },
      [&] { s.cache_read(extern_one, "local", {after.op()}); },
      [&] { s[extern_one].compute_at(s[after], s[after].axis(0)).double_buffer(); },
      [&] { s[before].rolling_buffer(); },
  };
  for (std::size_t n = 0; n < ways.size(); ++n) {
    s = te::create_schedule(after);
    ways[n]();
    EXPECT_EQ(compare_with_default(s, args), "") << n;
  }
  s = te::create_schedule(after);
  s[before].compute_at(s[after], s[after].axis(0));
  EXPECT_TRUE(refuses<ScheduleError>([&] { lower(s, args); },
                                     {"compute_at", "`before`", "`extern`", "root"}));
}

TEST_F(ExternScheduleTest, ItSeesMemoryAsABlock) {
  s[before].transform_layout([](Var i) {
    return std::vector<Expr>{floormod(i, 4), floordiv(i, 4)};
  });
  EXPECT_TRUE(
      refuses<ScheduleError>([&] { lower(s, args); }, {"transform_layout", "`before`", "block"}));
  s = te::create_schedule(after);
  s[before].storage_align(s[before].axis(0), 16, 3);
  EXPECT_TRUE(refuses<Error>([&] { lower(s, args); }, {"`before`", "strides"}));
}

// ---- random arguments ---------------------------------------------------------------------------

// Primitives with arguments drawn at random, most of them wrong: each call either works, or throws
// an Error and leaves the schedule as it was; and whatever comes of it, lower gives an Error, or a
// program that computes what the default schedule computes.

using te::Stage;

class Misuser {
 public:
  explicit Misuser(std::uint32_t seed) : random_(seed) {
    Tensor A = te::placeholder({6, 8}, "A");
    IterVar k = te::reduce_axis({0, 8}, "k");
    Tensor B = te::compute(
        {6, 8}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
    Tensor C = te::compute(
        {6}, {"i"}, [&](Var i) { return te::sum(B(i, k) * A(i, k), {k}); }, "C");
    std::vector<Tensor> T = te::compute_multi(
        {6}, {"i"},
        [&](Var i) {
          return std::vector<Expr>{C(i) + B(i, 0), C(i) * 2.0f};
        },
        "T");
    Tensor S = running_sums(T[0]), E = doubled(T[1]);
    Tensor D = te::compute(
        {6}, {"i"}, [&](Var i) { return S(i) + E(5 - i); }, "D");
    tensors_.insert(tensors_.end(), {A, B, C, T[0], T[1], S, E, D, te::placeholder({6, 8}, "X")});
    args_ = {A, D, n_};
    schedule_ = te::create_schedule(D);
    threads_ = {te::thread_axis("threadIdx.x"), te::thread_axis({0, 4}, "blockIdx.x"),
                te::thread_axis({0, 2}, "vthread"), te::thread_axis("vthread")};
  }

  /// One call. What it says, if it is refused and has changed nothing; else what is wrong.
  std::string step() {
    const std::string before = picture();
    try {
      call();
      return "";
    } catch (const InternalError& error) {
      return std::string("a fault of the compiler: ") + error.what();
    } catch (const Error& error) {
      if (!error.where()) return std::string("no line: ") + error.what();
      return picture() == before ? "" : std::string("changed by what was refused: ") + error.what();
    } catch (const std::exception& error) {
      return std::string("another exception: ") + error.what();
    }
  }

  /// The text of the program, or of the Error if it is refused.
  std::string lowered() const {
    try {
      std::ostringstream out;
      out << lower(*schedule_, args_, {.simple_mode = true});
      return out.str();
    } catch (const InternalError&) {
      throw;
    } catch (const Error& error) {
      return error.what();
    }
  }

  /// The difference of the schedule's results from those of the default one; "" if there is no
  /// difference or no program.
  std::string difference() const {
    try {
      lower(*schedule_, args_, {.simple_mode = true});
    } catch (const Error&) {
      return "";
    }
    if (is_refused_by_build()) return "";
    try {
      return compare_with_default(*schedule_, args_, {.compile = false, .symbols = {9}});
    } catch (const std::exception& error) {
      // Memory of a block that is filled outside of it: the interpreter says so, and no code is
      // made for threads.
      const std::string text = error.what();
      return text.starts_with("a race") ? "" : text;
    }
  }

  const std::string& last() const { return last_; }

 private:
  Tensor running_sums(const Tensor& terms) {
    Tensor state = te::placeholder({6}, "state");
    Tensor init = te::compute(
        {1}, {"t"}, [&](Var) { return terms(0); }, "init");
    Tensor update = te::compute(
        {6}, {"t"}, [&](Var t) { return state(t - 1) + terms(t); }, "update");
    tensors_.insert(tensors_.end(), {state, init, update});
    return te::scan(init, update, state, {terms}, "S");
  }

  static Tensor doubled(const Tensor& x) {
    auto body = [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) {
      tir::IRBuilder ib;
      auto in = ib.buffer_ptr(ins[0]), out = ib.buffer_ptr(outs[0]);
      ib.for_range(0, 6, "i", [&](Var i) { out[i] = in[i] * 2.0f; });
      return ib.get();
    };
    return te::extern_op({6}, {x}, body, "E");
  }

  /// Whether build refuses a schedule that lowers and prints, or its arguments have another layout.
  bool is_refused_by_build() const {
    const std::vector<std::string>& warnings = schedule_->warnings();
    const bool is_diagonal = std::any_of(
        warnings.begin(), warnings.end(),
        [](const std::string& warning) { return warning.find("diagonal") != std::string::npos; });
    const bool has_other_arguments =
        std::any_of(args_.begin(), args_.end(), [&](const LowerArgument& arg) {
          const Tensor* tensor = std::get_if<Tensor>(&arg);
          return tensor && (*schedule_)[*tensor].data().layout;
        });
    return is_diagonal || has_other_arguments || uses_stray_;
  }

  int pick(int count) { return static_cast<int>(random_() % static_cast<std::uint32_t>(count)); }
  template <class T>
  const T& one_of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(pick(static_cast<int>(list.size())))];
  }

  const Tensor& tensor() { return one_of(tensors_); }
  Stage stage() { return (*schedule_)[tensor()]; }

  /// Mostly a loop of the stage; else one of another, one that is gone, or a thread.
  IterVar axis(const Stage& stage) {
    const int kind = pick(8);
    if (kind == 0) return one_of(threads_);
    if (kind == 1) return te::reduce_axis({0, 8}, "stray");
    const Stage source = kind == 2 ? this->stage() : stage;
    const std::vector<IterVar>& axes = kind == 3 ? source.all_iter_vars() : source.leaf_iter_vars();
    return axes.empty() ? one_of(threads_) : one_of(axes);
  }

  Expr count() {
    const std::vector<Expr> counts = {-3, 0,     1, 2, 3, 5, 8, 100, 2.5f, std::int64_t{1} << 40,
                                      n_, n_ - 7};
    if (pick(20) != 0) return one_of(counts);
    // A loop is refused; the variable of a thread may be anything until the function is lowered.
    uses_stray_ = true;
    return axis(stage());
  }

  std::string scope() {
    static const std::vector<std::string> kScopes = {"global",  "shared", "local",
                                                     "sharedd", "",       "warp"};
    return one_of(kScopes);
  }

  std::string pragma_key() {
    static const std::vector<std::string> kKeys = {
        "key", "", "unroll", "vectorize", "unroll_explicit", "auto_unroll_max_step"};
    return one_of(kKeys);
  }

  void buffer(const te::Stage& stage, const IterVar& axis) {
    pick(2) == 0 ? stage.round_up(axis) : stage.rolling_buffer();
  }

  void call() {
    te::Schedule& s = *schedule_;
    switch (pick(32)) {
      case 0:
      case 1:
        return on_loop("split", [](Stage t, IterVar a, Expr n) { t.split(a, n); });
      case 2:
        return on_loop("split_by_nparts",
                       [](Stage t, IterVar a, Expr n) { t.split_by_nparts(a, n); });
      case 3:
        return on_loop("vectorize", [](Stage t, IterVar a, Expr) { t.vectorize(a); });
      case 4:
        return on_loop("unroll", [](Stage t, IterVar a, Expr) { t.unroll(a); });
      case 5:
        return on_loop("parallel", [](Stage t, IterVar a, Expr) { t.parallel(a); });
      case 6:
        return on_loop("pragma",
                       [this](Stage t, IterVar a, Expr n) { t.pragma(a, pragma_key(), n); });
      case 7:
        return on_loop("storage_align", [this](Stage t, IterVar a, Expr) {
          t.storage_align(a, pick(4) - 1, pick(3) - 1);
        });
      case 8:
        return on_loop("prefetch",
                       [this](Stage t, IterVar a, Expr n) { t.prefetch(tensor(), a, n); });
      case 9:
        return on_loop("bind", [this](Stage t, IterVar a, Expr) { t.bind(a, axis(t)); });
      case 10:
        return on_loop("fuse", [this](Stage t, IterVar a, Expr) { t.fuse(a, axis(t)); });
      case 11:
        return on_loop("reorder", [this](Stage t, IterVar a, Expr) {
          t.reorder({a, axis(t), axis(t)});
        });
      case 12:
        return on_loop("tile",
                       [this](Stage t, IterVar a, Expr n) { t.tile(a, axis(t), n, count()); });
      case 13:
      case 14:
        return on_loop("compute_at",
                       [this](Stage t, IterVar a, Expr) { stage().compute_at(t, a); });
      case 15:
        return on_loop("rfactor", [this, &s](Stage, IterVar a, Expr) {
          keep({s.rfactor(tensor(), a, pick(4) - 1)});
        });
      case 16:
        return on_loop("cache_read", [this, &s](Stage t, IterVar, Expr) {
          keep({s.cache_read(tensor(), scope(), {t.op()})});
        });
      case 17:
        return on_loop("cache_write", [this, &s](Stage, IterVar, Expr) {
          keep({s.cache_write(tensor(), scope())});
        });
      case 18:
        return on_loop("compute_inline", [](Stage t, IterVar, Expr) { t.compute_inline(); });
      case 19:
        return on_loop("set_scope", [this](Stage t, IterVar, Expr) { t.set_scope(scope()); });
      case 20:
        return on_loop("create_group", [this, &s](Stage, IterVar, Expr) {
          s.create_group(tensor(), tensor(), pick(2) == 0);
        });
      case 21:
        return on_loop("transform_layout", [this](Stage t, IterVar, Expr) {
          t.transform_layout([this](std::span<const Var> v) {
            std::vector<Expr> result(v.begin(), v.end());
            if (pick(2) == 0) std::reverse(result.begin(), result.end());
            if (pick(3) == 0) result.push_back(0);
            return result;
          });
        });
      case 22:
        return on_loop("double_buffer", [](Stage t, IterVar, Expr) { t.double_buffer(); });
      case 23:
        return on_loop("a buffer", [this](Stage t, IterVar a, Expr) { buffer(t, a); });
      case 24:
        return on_loop("set_store_predicate", [this](Stage t, IterVar a, Expr n) {
          t.set_store_predicate(a >= 0 && n > -10);
          uses_stray_ = uses_stray_ || !t.data().has_axis(a);
        });
      case 25:
        return on_loop("env_threads",
                       [this](Stage t, IterVar, Expr) { t.env_threads({one_of(threads_)}); });
      case 26:
      case 27:
        return on_loop("tensorize", [](Stage t, IterVar a, Expr) { t.tensorize(a, add_one(8)); });
      case 28:
        return on_loop("compute_root", [](Stage t, IterVar, Expr) { t.compute_root(); });
      case 29:
        return on_loop("fuse of nothing",
                       [](Stage t, IterVar, Expr) { t.fuse(std::vector<IterVar>{}); });
      case 30:
        return on_loop("bind", [this](Stage t, IterVar a, Expr) { t.bind(a, one_of(threads_)); });
      default:
        return on_loop("normalize", [this](Stage, IterVar, Expr) {
          if (pick(3) == 0) schedule_ = pick(2) == 0 ? schedule_->normalize() : schedule_->copy();
        });
    }
  }

  template <class F>
  void on_loop(const char* primitive, F f) {
    const Stage chosen = stage();
    const IterVar loop = axis(chosen);
    last_ = std::string(primitive) + " of " + loop.name() + " of " + chosen.name();
    f(chosen, loop, count());
  }

  void keep(std::vector<Tensor> made) { tensors_.insert(tensors_.end(), made.begin(), made.end()); }

  std::string picture() const {
    std::ostringstream out;
    for (const Stage& stage : schedule_->stages()) {
      out << stage.op() << stage.data().attach.index() << ' ' << stage.relations().size() << ' '
          << te::is_untouched(stage);
      for (const IterVar& axis : stage.leaf_iter_vars()) out << ' ' << axis;
      out << '\n';
    }
    for (const std::string& warning : schedule_->warnings()) out << warning << '\n';
    return out.str() + lowered();
  }

  std::mt19937 random_;
  /// Something is said of a variable that need not be there.
  bool uses_stray_ = false;
  /// A factor that the caller of the function gives.
  Var n_{"n"};
  std::vector<Tensor> tensors_;
  std::vector<LowerArgument> args_;
  std::vector<IterVar> threads_;
  std::optional<te::Schedule> schedule_;
  std::string last_;
};

TEST(RandomMisuseTest, WorksOrIsRefused) {
  for (std::uint32_t seed = 0; seed < 80; ++seed) {
    Misuser misuser(seed);
    for (int n = 0; n < 10; ++n) {
      EXPECT_EQ(misuser.step(), "") << "seed " << seed << ", step " << n << ", " << misuser.last();
      if (HasFailure()) return;
    }
    EXPECT_EQ(misuser.difference(), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace tenon::testing
