// Tags: what a scope reaches, where it ends, and what becomes of tags and attributes under
// primitives.
#include "tenon/te/operation.h"

#include <gtest/gtest.h>

#include <thread>

#include "tenon/te/intrin.h"
#include "tenon/te/reduce.h"
#include "tenon/te/schedule.h"
#include "tenon/tir/builder.h"

namespace tenon::te {
namespace {

const Tensor kA = placeholder({8, 16}, "A");

Tensor plus_one(ComputeOptions options = {}) {
  return compute(
      {8, 16}, {"i", "j"}, [](Var i, Var j) { return kA(i, j) + 1.0f; }, "B", options);
}

ExternResult store_zero(std::span<const tir::Buffer>, std::span<const tir::Buffer> outs) {
  tir::IRBuilder ib;
  auto out = ib.buffer_ptr(outs[0]);
  out[0] = 0.0f;
  return ib.get();
}

Tensor running_sum() {
  Tensor state = placeholder({4, 8}, "state"), input = placeholder({4, 8}, "X");
  Tensor init = compute(
      {1, 8}, {"t", "i"}, [&](Var, Var i) { return input(0, i); }, "init");
  Tensor update = compute(
      {4, 8}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + input(t, i); }, "update");
  return scan(init, update, state);
}

TensorIntrin copy_16() {
  Tensor a = placeholder({16}, "a");
  Tensor b = compute(
      {16}, {"i"}, [&](Var i) { return a(i) + 0.0f; }, "b");
  return decl_tensor_intrin(b.op(),
                            [](std::span<const tir::Buffer>, std::span<const tir::Buffer> outs) {
                              return TensorIntrinBody{.body = store_zero({}, outs).body()};
                            },
                            {.name = "copy_16"});
}

Tensor copied(std::string tag = "") {
  return tensor_compute(
      {8, 16}, {"i"},
      [](Var i) {
        return copy_16()({kA.region({i, Range(0, 16)})});
      },
      "C", tag);
}

// ---- what a scope reaches -----------------------------------------------------------------------

TEST(TagScopeTest, ReachesEveryKindOfOperationThatIsDeclared) {
  TagScope scope("library");
  EXPECT_EQ(plus_one().op().tag(), "library");
  EXPECT_EQ(compute({2}, [](Var i) { return i + 1; }).op().tag(), "library");
  const std::vector<Tensor> pair = compute_multi({2}, {"i"}, [](Var i) {
    return std::vector<Expr>{i, i};
  });
  EXPECT_EQ(pair[0].op().tag(), "library");
  EXPECT_EQ(extern_op({4}, {}, store_zero, "E", {.dtype = Float(32)}).op().tag(), "library");
  EXPECT_EQ(running_sum().op().tag(), "library");
  EXPECT_EQ(copied().op().tag(), "library");
}

TEST(TagScopeTest, PlaceholdersHaveNoTag) {
  TagScope scope("library");
  EXPECT_EQ(placeholder({4}, "P").op().tag(), "");
}

TEST(TagScopeTest, AnOperationsOwnTagWins) {
  TagScope scope("library");
  EXPECT_EQ(plus_one({.tag = "mine"}).op().tag(), "mine");
  EXPECT_EQ(extern_op({4}, {}, store_zero, "E", {.dtype = Float(32), .tag = "mine"}).op().tag(),
            "mine");
  EXPECT_EQ(copied("mine").op().tag(), "mine");
}

TEST(TagScopeTest, EndsWithTheScope) {
  { TagScope scope("library"); }
  EXPECT_EQ(plus_one().op().tag(), "");
  TagScope next("next");
  EXPECT_EQ(plus_one().op().tag(), "next");
}

TEST(TagScopeTest, EndsWhenAnErrorLeavesIt) {
  EXPECT_THROW(
      {
        TagScope scope("library");
        placeholder({-1}, "P");
      },
      TypeError);
  EXPECT_EQ(plus_one().op().tag(), "");
}

TEST(TagScopeTest, ANestedScopeIsRefusedAndTheOuterOneGoesOn) {
  TagScope outer("outer");
  try {
    TagScope inner("inner");
    FAIL() << "accepted";
  } catch (const ScheduleError& error) {
    const std::string text = error.what();
    for (const char* part : {"`inner`", "`outer`", "tag_scope_test.cpp:"})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  EXPECT_EQ(plus_one().op().tag(), "outer");
}

TEST(TagScopeTest, ServesItsOwnThread) {
  TagScope scope("library");
  std::string elsewhere = "none";
  std::thread([&] { elsewhere = plus_one().op().tag(); }).join();
  EXPECT_EQ(elsewhere, "");
}

TEST(TagScopeTest, EndsWhereverItIsDestroyed) {
  auto scope = std::make_unique<TagScope>("library");
  std::thread([&] {
    TagScope own("own");
    scope.reset();
    EXPECT_EQ(plus_one().op().tag(), "own");
  }).join();
  EXPECT_EQ(plus_one().op().tag(), "");
}

// ---- tags and attributes under primitives -------------------------------------------------------

struct TaggedTest : ::testing::Test {
  IterVar k = reduce_axis({0, 16}, "k");
  ComputeOptions options{.tag = "sum_of_rows", .attrs = {{"layout", "NHWC"}}};
  Tensor R = compute(
      {8}, {"i"}, [&](Var i) { return sum(kA(i, k), {k}); }, "R", options);

  void expect_tagged(const Operation& op) {
    EXPECT_EQ(op.tag(), "sum_of_rows") << op.name();
    EXPECT_EQ(op.attrs(), options.attrs) << op.name();
  }
};

TEST_F(TaggedTest, AttributesAreThoseOfTheDeclaration) {
  EXPECT_EQ(R.op().attrs().at("layout"), "NHWC");
}

TEST_F(TaggedTest, BothStepsOfACacheWriteKeepThem) {
  Schedule s = create_schedule(R);
  const Tensor cache = s.cache_write(R, "local");
  expect_tagged(cache.op());
  expect_tagged(s[R].op());
}

TEST_F(TaggedTest, BothStepsOfAnRfactorKeepThem) {
  Schedule s = create_schedule(R);
  const Tensor partial = s.rfactor(R, s[R].split(s[R].reduce_axis(0), 4).inner);
  expect_tagged(partial.op());
  expect_tagged(s[R].op());
}

TEST_F(TaggedTest, AReaderOfACacheKeepsThemAndTheCopyHasNone) {
  Schedule s = create_schedule(R);
  const Tensor cache = s.cache_read(kA, "local", {R.op()});
  expect_tagged(s[R].op());
  EXPECT_EQ(cache.op().tag(), "");
  EXPECT_TRUE(cache.op().attrs().empty());
}

TEST_F(TaggedTest, AReaderOfAnInlinedOperationKeepsThem) {
  Tensor B = plus_one();
  Tensor S = compute(
      {8}, {"i"}, [&](Var i) { return sum(B(i, k), {k}); }, "S", options);
  Schedule s = create_schedule(S);
  s[B].compute_inline();
  expect_tagged(s.normalize()[S].op());
}

TEST_F(TaggedTest, PrimitivesDoNotTakeTheTagOfAnOpenScope) {
  Schedule s = create_schedule(R);
  TagScope scope("library");
  EXPECT_EQ(s.cache_read(kA, "local", {R.op()}).op().tag(), "");
  const Tensor partial = s.rfactor(R, s[R].reduce_axis(0));
  expect_tagged(partial.op());
  expect_tagged(s.cache_write(R, "local").op());
}

TEST(TagsTest, CachesOfATensorComputeKeepItsTag) {
  const Tensor C = copied("intrinsic");
  Schedule s = create_schedule(C);
  EXPECT_EQ(s.cache_write(C, "local").op().tag(), "intrinsic");
  EXPECT_EQ(s[C].op().tag(), "intrinsic");
}

}  // namespace
}  // namespace tenon::te
