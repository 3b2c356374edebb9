// Misuse of schedules as it shows from outside: the sentence, the user's line, the same text of the
// same schedule.
#include <gtest/gtest.h>

#include <limits>

#include "tests/common/ways_to_run.h"
#include "tests/errors/add_one.h"
#include "tests/errors/chain.h"

namespace tenon::testing {
namespace {

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
  refused([&] { s[C].round_up(k); }, {"round_up", "`k`", "`C`", "`i`"});
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

}  // namespace
}  // namespace tenon::testing
