// Misuse of tensor intrinsics: what differs, what is missing, and where the user wrote it.
#include <gtest/gtest.h>

#include "tenon/tir/stmt.h"
#include "tests/common/refusal.h"

namespace tenon::testing {
namespace {

// ---- stages -------------------------------------------------------------------------------------

using Buffers = std::span<const tir::Buffer>;

te::TensorIntrinBody call_f(Buffers ins, Buffers outs) {
  return {.body = tir::make_evaluate(
              call_extern(Int(32), "f", ins[0].access_ptr("r"), outs[0].access_ptr("w")))};
}

/// C[i, j] of A[i, j] and the like, 8 x 16, tensorized at j.
struct IntrinsicTest : ::testing::Test {
  te::Tensor A = te::placeholder({8, 16}, "A"), B = te::placeholder({8, 16}, "B");

  using Body = std::function<Expr(Expr, Expr)>;
  te::Tensor stage(const Body& body) {
    return te::compute(
        {8, 16}, {"i", "j"}, [&](Var i, Var j) { return body(A(i, j), B(i, j)); }, "C");
  }
  static te::TensorIntrin intrin(const Body& body, int n = 16,
                                 te::TensorIntrinOptions options = {}) {
    te::Tensor a = te::placeholder({n}, "a"), b = te::placeholder({n}, "b");
    te::Tensor c = te::compute(
        {n}, {"x"}, [&](Var x) { return body(a(x), b(x)); }, "c");
    options.name = "op";
    return te::decl_tensor_intrin(c.op(), call_f, options);
  }
  void differ(const Body& own, const Body& theirs, const std::vector<std::string>& parts,
              SourceLocation where = SourceLocation::current()) {
    te::Tensor C = stage(own);
    te::Schedule s = te::create_schedule(C);
    s[C].tensorize(s[C].axis(1), intrin(theirs), where);
    std::vector<std::string> all = {"tensorize", "`j", "`C`", "`op`"};
    all.insert(all.end(), parts.begin(), parts.end());
    EXPECT_TRUE(refuses<ScheduleError>([&] { lower(s, {A, B, C}); }, all, where)) << where.line();
  }
};

// ---- near misses: the first node that differs ---------------------------------------------------

TEST_F(IntrinsicTest, TheFirstNodeThatDiffersIsNamed) {
  auto plain = [](Expr a, Expr b) { return a * 2.0f + b; };
  differ(plain, [](Expr a, Expr b) { return a * 3.0f + b; }, {"they differ in `2f32` and `3f32`"});
  differ(plain, [](Expr a, Expr b) { return a * 2.0f - b; }, {"+ B[", "- b[x]"});
  differ(plain, [](Expr a, Expr b) { return b + a * 2.5f; }, {"`2f32` and `2.5f32`"});
  differ(plain, [](Expr a, Expr b) { return a * 2.0f + exp(b); }, {"`B[i, x]` and `", "exp(b[x]"});
  differ(plain, [](Expr a, Expr b) { return max(a * 2.0f, b); }, {"max"});
  differ([](Expr a, Expr b) { return if_then_else(a > 0.0f, a, b); },
         [](Expr a, Expr b) { return if_then_else(a >= 0.0f, a, b); }, {"<="});
  differ([](Expr a, Expr b) { return select(a > b, a, b); },
         [](Expr a, Expr b) { return select(a > b, b, a); }, {"`A[i, x]`", "`b[x]`", "`B`"});
}

TEST_F(IntrinsicTest, WhatDependsOnTheAxisItselfDiffersToo) {
  te::Tensor C = te::compute(
      {8, 16}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + B(i, 15 - j); }, "C");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].axis(1), intrin([](Expr a, Expr b) { return a + b; }));
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lower(s, {A, B, C});
      },
      {"`C`", "`B[i, (15 - x)]` and `b[x]`"}));
}

/// An input of the intrinsic is one tensor, though one tensor may be several inputs.
TEST_F(IntrinsicTest, OneInputIsNoTwoTensors) {
  differ([](Expr a, Expr b) { return a * 2.0f + (a + b); },
         [](Expr a, Expr b) { return a * 2.0f + (b + b); },
         {"reads `B[i, x]`", "reads `b[x]`", "already matched with `A`"});
}

TEST_F(IntrinsicTest, TheFirstNodeThatDiffersIsNamedUnderOperandsThatTradePlaces) {
  differ([](Expr a, Expr b) { return (a * 2.0f + exp(b)) * b; },
         [](Expr a, Expr b) { return a * (exp(a) + b * 3.0f); }, {"`2f32` and `3f32`"});
}

/// The product of one product with itself, 64 times.
TEST_F(IntrinsicTest, TheReadThatDiffersIsNamedUnderManyLikeOperands) {
  auto power = [](Expr product) {
    for (int n = 0; n < 6; ++n) product = product * product;
    return product;
  };
  te::Tensor C = stage([&](Expr a, Expr b) { return power(a * b); });
  te::Tensor a = te::placeholder({16}, "a"), b = te::placeholder({16}, "b");
  te::Tensor c = te::compute(
      {16}, {"x"}, [&](Var x) { return power(a(x) * b(15 - x)); }, "c");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].axis(1), te::decl_tensor_intrin(c.op(), call_f, {.name = "op"}));
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lower(s, {A, B, C});
      },
      {"`C`", "`op`", "they differ in `B[i, x]` and `b[(15 - x)]`"}));
}

TEST_F(IntrinsicTest, ReadsOfOtherElementsAreRefused) {
  using Read = std::function<Expr(const te::Tensor&, Expr, Expr)>;
  te::Tensor D = te::placeholder({20, 20}, "D"), d = te::placeholder({6, 6}, "d");
  auto refused = [&](const Read& own, const Read& theirs,
                     SourceLocation where = SourceLocation::current()) {
    te::Tensor C = te::compute(
        {8, 8}, {"i", "j"}, [&](Var i, Var j) { return own(D, i, j); }, "C");
    te::Tensor c = te::compute(
        {4, 4}, {"x", "y"}, [&](Var x, Var y) { return theirs(d, x, y); }, "c");
    te::Schedule s = te::create_schedule(C);
    auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 4, 4);
    s[C].tensorize(ii, te::decl_tensor_intrin(c.op(), call_f, {.name = "op"}), where);
    EXPECT_TRUE(refuses<ScheduleError>(
        [&] {
          lower(s, {D, C});
        },
        {"`C`", "`op`"}, where))
        << where.line();
  };
  const Read corners = [](const te::Tensor& t, Expr i, Expr j) {
    return t(i, j) + t(i + 2, j + 2);
  };
  refused([](const te::Tensor& t, Expr i, Expr j) { return t(j, i) + t(j + 2, i + 2); }, corners);
  refused([](const te::Tensor& t, Expr i, Expr j) { return t(i, j + 2) + t(i + 2, j); }, corners);
  refused([](const te::Tensor& t, Expr i, Expr j) { return t(i, j) + t(i + 2, j + 1); }, corners);
  refused([](const te::Tensor& t, Expr i, Expr j) { return t(i * 2, j) + t(i * 2 + 2, j); },
          corners);
  refused([](const te::Tensor& t, Expr i, Expr j) { return t(i, j) * t(i + 2, j + 2); }, corners);
}

TEST_F(IntrinsicTest, TheValueOfAnAxisCountsFromTheWholeStage) {
  te::Tensor C = te::compute(
      {8, 16}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + j.astype(Float(32)); }, "C");
  te::Tensor a = te::placeholder({8}, "a");
  te::Tensor c = te::compute(
      {8}, {"x"}, [&](Var x) { return a(x) + x.astype(Float(32)); }, "c");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].split(s[C].axis(1), 8).inner,
                 te::decl_tensor_intrin(c.op(), call_f, {.name = "op"}));
  EXPECT_TRUE(refuses<ScheduleError>([&] { lower(s, {A, C}); }, {"`C`", "`op`", "j.outer", "x"}));
}

TEST_F(IntrinsicTest, OneInputIsOneTensorInAllProducts) {
  te::Tensor c0 = te::placeholder({16}, "p"), c1 = te::placeholder({16}, "q");
  te::Tensor c = te::compute(
      {16}, {"x"}, [&](Var x) { return c0(x) * c1(x) + c0(x) * exp(c1(x)); }, "c");
  te::Tensor C = stage([](Expr a, Expr b) { return a * b + exp(a) * a; });
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].axis(1), te::decl_tensor_intrin(c.op(), call_f, {.name = "op"}));
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lower(s, {A, B, C});
      },
      {"`C`", "`op`", "already matched with"}));
}

/// The orders of seven reads are more than are tried.
TEST_F(IntrinsicTest, AnIncompleteSearchIsReported) {
  auto sum = [](const std::vector<int>& shifts, const std::function<Expr(int)>& read) {
    Expr total = read(0);
    for (int shift : shifts) total = total + read(shift);
    return total;
  };
  te::Tensor D = te::placeholder({8, 32}, "D", Int(32)), d = te::placeholder({32}, "d", Int(32));
  te::Tensor C = te::compute(
      {8, 16}, {"i", "j"},
      [&](Var i, Var j) {
        return sum({1, 2, 3, 5, 6, 16}, [&](int shift) { return D(i, j + shift); });
      },
      "C");
  te::Tensor c = te::compute(
      {16}, {"x"},
      [&](Var x) {
        return sum({1, 2, 4, 5, 6, 16}, [&](int shift) { return d(x + shift); });
      },
      "c");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].axis(1), te::decl_tensor_intrin(c.op(), call_f, {.name = "op"}));
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lower(s, {D, C});
      },
      {"`C`", "`op`", "reads `D[i,", "reads `d[", "not every order"}));
}

TEST_F(IntrinsicTest, NumbersOfTensorsAndOutputsDiffer) {
  differ([](Expr a, Expr) { return a + 1.0f; }, [](Expr a, Expr b) { return a + b; },
         {"`1f32` and `b[x]`"});
  differ([](Expr a, Expr b) { return a + b; }, [](Expr a, Expr) { return a + 1.0f; },
         {"`B[i, x]` and `1f32`"});
}

TEST_F(IntrinsicTest, TypesDiffer) {
  te::Tensor D = te::placeholder({8, 16}, "D", Int(32));
  te::Tensor C = te::compute(
      {8, 16}, {"i", "j"}, [&](Var i, Var j) { return D(i, j) + D(i, j); }, "C");
  te::Tensor a = te::placeholder({16}, "a");
  te::Tensor c = te::compute(
      {16}, {"x"}, [&](Var x) { return a(x) + a(x); }, "c");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].axis(1), te::decl_tensor_intrin(c.op(), call_f));
  EXPECT_TRUE(refuses<ScheduleError>([&] { lower(s, {D, C}); }, {"D[i, x]", "int32", "float32"}));
}

TEST_F(IntrinsicTest, ExtentsDiffer) {
  te::Tensor C = stage([](Expr a, Expr b) { return a + b; });
  auto sum = [](Expr a, Expr b) { return a + b; };
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].split(s[C].axis(1), 4).inner, intrin(sum, 8));
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lower(s, {A, B, C});
      },
      {"`j.inner`", "[i, j]", "[1, 4]", "[x]", "[8]"}));
  te::Schedule rows = te::create_schedule(C);
  rows[C].tensorize(rows[C].axis(0), intrin(sum));
  EXPECT_TRUE(refuses<ScheduleError>([&] { lower(rows, {A, B, C}); }, {"`i`", "[8, 16]", "[16]"}));
}

// ---- reductions ---------------------------------------------------------------------------------

struct ReductionTest : ::testing::Test {
  struct Parts {
    bool body = true, reset = true, update = true;
  };
  te::Tensor A = te::placeholder({8, 64}, "A");
  te::IterVar k = te::reduce_axis({0, 64}, "k");
  te::Tensor C = te::compute(
      {8}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "C");
  te::Schedule s = te::create_schedule(C);

  using Reducer = std::function<Expr(Expr, te::IterVar)>;
  static te::TensorIntrin intrin(
      Parts parts, const Reducer& reducer = [](Expr e, te::IterVar k) { return te::sum(e, {k}); }) {
    te::Tensor a = te::placeholder({16}, "a");
    te::IterVar r = te::reduce_axis({0, 16}, "r");
    te::Tensor c = te::compute(
        {1}, {"x"}, [&](Var) { return reducer(a(r), r); }, "c");
    auto code = [&](Buffers ins, Buffers outs) {
      const Stmt call = *call_f(ins, outs).body;
      te::TensorIntrinBody all;
      if (parts.body) all.body = call;
      if (parts.reset) all.reset = call;
      if (parts.update) all.update = call;
      return all;
    };
    return te::decl_tensor_intrin(c.op(), code, {.name = "row"});
  }
  void refused(const te::TensorIntrin& row, const std::vector<std::string>& parts,
               SourceLocation where = SourceLocation::current()) {
    auto [ko, ki] = s[C].split(s[C].reduce_axis(0), 16);
    s[C].tensorize(ki, row, where);
    EXPECT_TRUE(refuses<ScheduleError>([&] { lower(s, {A, C}); }, parts, where)) << where.line();
  }
};

TEST_F(ReductionTest, ASplitOneNeedsAnUpdate) {
  refused(intrin({.update = false}), {"tensorize", "`k.inner`", "`C`", "`row`", "no update"});
}

TEST_F(ReductionTest, ASplitOneNeedsAResetOrABody) {
  refused(intrin({.body = false, .reset = false}),
          {"`k.inner`", "`C`", "`row`", "no reset", "no body"});
}

TEST_F(ReductionTest, TheReducerMustBeTheSame) {
  refused(intrin({}, [](Expr e, te::IterVar r) { return te::max(e, {r}); }),
          {"`C`", "`row`", "reducer"});
}

TEST(ReductionAxes, OfAReducerThatIsNotCommutativeKeepTheirOrder) {
  using Args = std::span<const Var>;
  const te::Reducer last = te::comm_reducer(
      [](Args x, Args y) { return std::vector{tir::select(y[0] != 0, y[0], x[0])}; },
      [](std::span<const DataType> types) { return std::vector{tir::make_const(types[0], 0)}; },
      "last");
  const te::IterVar k = te::reduce_axis({0, 4}, "k"), l = te::reduce_axis({0, 3}, "l");
  const auto stage = [&](const te::Tensor& from, const std::vector<te::IterVar>& order) {
    return te::compute(
        {from.shape()[0]}, {"i"}, [&](Var i) { return last(from(i, k, l), order); }, "C");
  };
  te::Tensor A = te::placeholder({8, 4, 3}, "A", Int(32)),
             a = te::placeholder({2, 4, 3}, "a", Int(32));
  const te::Tensor C = stage(A, {k, l});
  const auto lowered_with = [&](const te::Tensor& c) {
    te::Schedule s = te::create_schedule(C);
    s[C].tensorize(s[C].split(s[C].axis(0), 2).inner,
                   te::decl_tensor_intrin(c.op(), call_f, {.name = "op"}));
    return lower(s, {A, C});
  };
  EXPECT_NO_THROW(lowered_with(stage(a, {k, l})));
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lowered_with(stage(a, {l, k}));
      },
      {"`C`", "`op`", "another order", "`last` depends on the order"}));
}

TEST_F(ReductionTest, TheConditionMustBeTheSame) {
  refused(intrin({}, [](Expr e, te::IterVar r) { return te::sum(e, {r}, {.where = r < 9}); }),
          {"`C`", "`row`", "condition"});
}

TEST_F(ReductionTest, TheStartMustBeTheSame) {
  refused(intrin({}, [](Expr e, te::IterVar r) { return te::sum(e, {r}, {.init = {Expr(1.0f)}}); }),
          {"`C`", "`row`", "start value"});
}

TEST_F(ReductionTest, ThreadsCannotSumUpWhatItComputes) {
  auto [ko, ki] = s[C].split(s[C].reduce_axis(0), 16);
  s[C].bind(ko, te::thread_axis("threadIdx.x")).tensorize(ki, intrin({}));
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lower(s, {A, C});
      },
      {"`k.outer`", "`C`", "threadIdx.x", "rfactor"}));
}

/// The part would be taken for the 49 elements between the first and the last.
TEST_F(ReductionTest, IterationsThatLieApartAreNoPart) {
  auto [ko, ki] = s[C].split(s[C].reduce_axis(0), 16);
  te::Tensor a = te::placeholder({49}, "a");
  te::IterVar r = te::reduce_axis({0, 49}, "r");
  te::Tensor c = te::compute(
      {1}, {"x"}, [&](Var) { return te::sum(a(r), {r}); }, "c");
  s[C].reorder({ki, ko}).tensorize(ko, te::decl_tensor_intrin(c.op(), call_f, {.name = "row"}));
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lower(s, {A, C});
      },
      {"tensorize", "`k.outer`", "`C`", "`row`", "4 iterations", "49"}));
}

TEST_F(IntrinsicTest, LoopsThatAlwaysRunOverTheEndLeaveNothingToIt) {
  te::Tensor C = stage([](Expr a, Expr b) { return a + b; });
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].split(s[C].axis(1), 5).outer, intrin([](Expr a, Expr b) { return a + b; }));
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lower(s, {A, B, C});
      },
      {"`j.outer`", "`C`", "`op`", "nowhere", "over the end"}));
}

TEST_F(ReductionTest, AResetSeesNoPartThatChangesWithTheSteps) {
  te::Tensor a = te::placeholder({16}, "a");
  te::IterVar r = te::reduce_axis({0, 16}, "r");
  te::Tensor c = te::compute(
      {1}, {"x"}, [&](Var) { return te::sum(a(r), {r}); }, "c");
  auto code = [&](Buffers ins, Buffers outs) {
    const Stmt call = *call_f(ins, outs).body;
    return te::TensorIntrinBody{.reset = call, .update = call};
  };
  auto [ko, ki] = s[C].split(s[C].reduce_axis(0), 16);
  s[C].tensorize(ki, te::decl_tensor_intrin(c.op(), code, {.name = "row"}));
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lower(s, {A, C});
      },
      {"`k.inner`", "`C`", "`row`", "reset", "`a`", "`A`", "`k.outer`"}));
}

TEST_F(ReductionTest, WholeOnesNeedABodyOrBothOthers) {
  te::IterVar r = te::reduce_axis({0, 16}, "r");
  te::Tensor D = te::compute(
      {8}, {"i"}, [&](Var i) { return te::sum(A(i, r), {r}); }, "D");
  te::Schedule whole = te::create_schedule(D);
  whole[D].tensorize(r, intrin({.body = false, .reset = false}));
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lower(whole, {A, D});
      },
      {"`r`", "`D`", "no body", "reset"}));
}

// ---- buffers ------------------------------------------------------------------------------------

struct BufferTest : ::testing::Test {
  te::Tensor A = te::placeholder({16, 64}, "A");
  te::Tensor C = te::compute(
      {16, 64}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "C");
  te::Schedule s = te::create_schedule(C);

  /// A tile of 4 x 8, whose input buffer is declared so.
  void refused(const tir::BufferOptions& input, const std::vector<std::string>& parts,
               SourceLocation where = SourceLocation::current()) {
    te::Tensor a = te::placeholder({4, 8}, "a");
    te::Tensor c = te::compute(
        {4, 8}, {"x", "y"}, [&](Var x, Var y) { return a(x, y) + 1.0f; }, "c");
    tir::Buffer Ab = tir::decl_buffer(a.shape(), a.dtype(), input);
    tir::Buffer Cb = tir::decl_buffer(
        c.shape(), c.dtype(), {.name = "Cb", .strides = {te::var("s"), 1}, .offset_factor = 1});
    auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 4, 8);
    s[C].tensorize(
        ii, te::decl_tensor_intrin(c.op(), call_f, {.binds = {{a, Ab}, {c, Cb}}, .name = "tile"}),
        where);
    std::vector<std::string> all = {"tensorize", "`i.inner`", "`C`", "`tile`", "`Ab`", "`A`"};
    all.insert(all.end(), parts.begin(), parts.end());
    EXPECT_TRUE(refuses<ScheduleError>([&] { lower(s, {A, C}); }, all, where)) << where.line();
  }
};

TEST_F(BufferTest, OfAnOffsetOrAStrideThatIsNoVariableAloneCannotBeTold) {
  te::Tensor a = te::placeholder({4, 8}, "a");
  te::Tensor c = te::compute(
      {4, 8}, {"x", "y"}, [&](Var x, Var y) { return a(x, y) + 1.0f; }, "c");
  auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 4, 8);
  auto refused_for = [&](const tir::BufferOptions& input, const std::vector<std::string>& parts) {
    te::Schedule t = s.copy();
    const tir::Buffer Ab = tir::decl_buffer(a.shape(), a.dtype(), input);
    t[C].tensorize(ii,
                   te::decl_tensor_intrin(c.op(), call_f, {.binds = {{a, Ab}}, .name = "tile"}));
    EXPECT_TRUE(refuses<ScheduleError>([&] { lower(t, {A, C}); }, parts));
  };
  refused_for({.name = "Ab", .strides = {te::var("s"), 1}, .elem_offset = te::var("o") * 4},
              {"`i.inner`", "`C`", "`tile`", "`Ab`", "offset", "(o*4)", "`o`", "offset_factor"});
  refused_for({.name = "Ab", .strides = {te::var("s") * 2, 1}, .offset_factor = 1},
              {"`i.inner`", "`C`", "`tile`", "`Ab`", "stride", "(s*2)", "`s`"});
}

TEST_F(BufferTest, WithoutAnOffsetCannotBeginInTheMiddle) {
  refused({.name = "Ab", .strides = {te::var("s"), 1}}, {"no offset", "offset_factor"});
}

TEST_F(BufferTest, WithoutStridesCannotBeRowsThatLieApart) {
  refused({.name = "Ab", .offset_factor = 1}, {"compact", "8 elements", "64", "strides"});
}

TEST_F(BufferTest, OfOtherStridesCannotStandForIt) {
  refused({.name = "Ab", .strides = {32, 1}, .offset_factor = 1}, {"32 elements", "64", "strides"});
}

TEST_F(BufferTest, OfAnotherScopeCannotStandForIt) {
  refused({.name = "Ab", .strides = {te::var("s"), 1}, .scope = "shared", .offset_factor = 1},
          {"\"shared\"", "\"global\""});
}

TEST_F(IntrinsicTest, ScalarsComeFromCalls) {
  Var factor("factor", Float(32));
  te::Tensor a = te::placeholder({16}, "a");
  te::Tensor c = te::compute(
      {16}, {"x"}, [&](Var x) { return a(x) * factor; }, "c");
  te::Tensor C = stage([](Expr e, Expr) { return e * 2.0f; });
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].axis(1),
                 te::decl_tensor_intrin(c.op(), call_f, {.name = "op", .scalar_params = {factor}}));
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lower(s, {A, C});
      },
      {"`op`", "`C`", "`factor`", "tensor_compute"}));
}

// ---- what stands around and inside --------------------------------------------------------------

TEST_F(IntrinsicTest, NothingMayBeComputedOrBoundInside) {
  te::Tensor before = te::compute(
      {8, 16}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f; }, "before");
  te::Tensor C = te::compute(
      {8, 16}, {"i", "j"}, [&](Var i, Var j) { return before(i, j) + B(i, j); }, "C");
  auto sum = [](Expr a, Expr b) { return a + b; };
  te::Schedule s = te::create_schedule(C);
  auto [jo, ji] = s[C].split(s[C].axis(1), 4);
  s[before].compute_at(s[C], ji);
  s[C].tensorize(jo, intrin(sum));
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lower(s, {A, B, C});
      },
      {"`before`", "`j.inner`", "further outside"}));
  te::Schedule bound = te::create_schedule(C);
  auto [bo, bi] = bound[C].split(bound[C].axis(1), 4);
  bound[C].bind(bi, te::thread_axis("threadIdx.x")).tensorize(bo, intrin(sum));
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lower(bound, {A, B, C});
      },
      {"`j.inner`", "threadIdx.x", "`C`"}));
}

TEST_F(IntrinsicTest, ALoopThatIsTensorizedStaysAsItIs) {
  te::Tensor C = stage([](Expr a, Expr b) { return a + b; });
  te::Schedule s = te::create_schedule(C);
  te::IterVar i = s[C].axis(0), j = s[C].axis(1);
  const te::TensorIntrin sum = intrin([](Expr a, Expr b) { return a + b; });
  s[C].tensorize(j, sum);
  auto refused = [&](const std::function<void()>& primitive, const std::string& name,
                     SourceLocation where = SourceLocation::current()) {
    EXPECT_TRUE(leaves_alone(s, {A, B, C}, [&] {
      EXPECT_TRUE(refuses<ScheduleError>(primitive, {name, "`C`", "`j`", "tensorize"}, where));
    })) << where.line();
  };
  refused([&] { s[C].split(j, 4); }, "split");
  refused([&] { s[C].fuse(i, j); }, "fuse");
  refused([&] { s[C].vectorize(j); }, "vectorize");
  refused([&] { s[C].parallel(j); }, "parallel");
  refused([&] { s[C].unroll(j); }, "unroll");
  refused([&] { s[C].bind(j, te::thread_axis("threadIdx.x")); }, "bind");
  refused([&] { s.cache_write(C, "local"); }, "cache_write");
  refused([&] { s[C].tensorize(i, sum); }, "tensorize");
}

TEST_F(IntrinsicTest, AnOperationOnRegionsIsNotTensorizedAgain) {
  const te::TensorIntrin sum = intrin([](Expr a, Expr b) { return a + b; });
  te::Tensor T = te::tensor_compute(
      {8, 16}, {"i"},
      [&](Var i) {
        return sum({A.region({i, Range(0, 16)}), B.region({i, Range(0, 16)})});
      },
      "T");
  te::Schedule s = te::create_schedule(T);
  EXPECT_TRUE(refuses<ScheduleError>([&] { s[T].tensorize(s[T].axis(0), sum); },
                                     {"tensorize", "`i`", "`T`"}));
}

TEST_F(IntrinsicTest, AnOperationOnRegionsReadsInputsInTheirOriginalLayout) {
  const te::TensorIntrin sum = intrin([](Expr a, Expr b) { return a + b; });
  te::Tensor T = te::tensor_compute(
      {8, 16}, {"i"},
      [&](Var i) {
        return sum({A.region({i, Range(0, 16)}), B.region({i, Range(0, 16)})});
      },
      "T");
  te::Schedule s = te::create_schedule(T);
  const te::Tensor cached = s.cache_read(A, "global", {T});
  s[cached].transform_layout([](Var i, Var j) {
    return std::vector<Expr>{floordiv(j, 2), i, floormod(j, 2)};
  });
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lower(s, {A, B, T});
      },
      {"tensor_compute `T`", "layout", "original layout"}));
}

// ---- declarations -------------------------------------------------------------------------------

TEST_F(IntrinsicTest, RegionsMustHaveTheIntrinsicsExtents) {
  const te::TensorIntrin sum = intrin([](Expr a, Expr b) { return a + b; });
  auto region = [&](const Range& rows, const Range& columns) {
    te::tensor_compute(
        {8, 16}, {"i"},
        [&](Var) {
          return sum({A.region({rows, columns}), B.region({0, Range(0, 16)})});
        },
        "T");
  };
  EXPECT_TRUE(refuses<TypeError>([&] { region(Range(0, 1), Range(0, 8)); },
                                 {"`A`", "[1, 8]", "`a`", "[16]"}));
  EXPECT_TRUE(
      refuses<TypeError>([&] { region(Range(0, 2), Range(0, 16)); }, {"`A`", "[2, 16]", "[16]"}));
  EXPECT_TRUE(refuses<TypeError>(
      [&] {
        te::tensor_compute(
            {8, 8}, {"i"},
            [&](Var i) {
              return sum({A.region({i, Range(0, 16)}), B.region({i, Range(0, 16)})});
            },
            "T");
      },
      {"`T`", "[1, 8]", "`c`", "[16]"}));
}

TEST_F(IntrinsicTest, BuffersMustBeThoseOfItsTensors) {
  te::Tensor a = te::placeholder({16}, "a"), other = te::placeholder({16}, "other");
  te::Tensor c = te::compute(
      {16}, {"x"}, [&](Var x) { return a(x) + 1.0f; }, "c");
  auto declare = [&](const te::Tensor& tensor, std::vector<Expr> shape, DataType type) {
    te::decl_tensor_intrin(
        c.op(), call_f,
        {.binds = {{tensor, tir::decl_buffer(std::move(shape), type, {.name = "Ab"})}},
         .name = "op"});
  };
  EXPECT_TRUE(
      refuses<TypeError>([&] { declare(a, {8}, Float(32)); }, {"`op`", "`Ab`", "`a`", "8", "16"}));
  EXPECT_TRUE(refuses<TypeError>([&] { declare(a, {4, 4}, Float(32)); }, {"`Ab`", "4, 4", "16"}));
  EXPECT_TRUE(refuses<TypeError>([&] { declare(a, {16}, Int(8)); }, {"`Ab`", "int8", "float32"}));
  EXPECT_TRUE(
      refuses<TypeError>([&] { declare(other, {16}, Float(32)); }, {"`other`", "binds", "`c`"}));
  EXPECT_TRUE(
      refuses<TypeError>([&] { te::decl_tensor_intrin(a.op(), call_f); }, {"`a`", "compute"}));
  EXPECT_TRUE(refuses<TypeError>(
      [&] {
        te::decl_tensor_intrin(c.op(), [](Buffers, Buffers) { return te::TensorIntrinBody{}; });
      },
      {"nothing to call"}));
}

// ---- declarations -------------------------------------------------------------------------------

// Tensor intrinsics declared or called as they cannot be: refused there, before any schedule.

struct IntrinsicDeclarationTest : ::testing::Test {
  te::Tensor A = te::placeholder({8, 16}, "A");
  te::Tensor a = te::placeholder({16}, "a");
  te::Tensor c = te::compute(
      {16}, {"x"}, [&](Var x) { return a(x) * 2.0f; }, "c");

  static te::TensorIntrinBody call_f(Buffers ins, Buffers outs) {
    return {.body = tir::make_evaluate(
                call_extern(Int(32), "f", ins[0].access_ptr("r"), outs[0].access_ptr("w")))};
  }
  static void refused(const std::function<void()>& use, const std::vector<std::string>& parts,
                      SourceLocation where = SourceLocation::current()) {
    EXPECT_TRUE(refuses<TypeError>(use, parts, where)) << where.line();
  }
};

TEST_F(IntrinsicDeclarationTest, OneOperationOnPlaceholders) {
  te::Tensor twice = te::compute(
      {16}, {"x"}, [&](Var x) { return c(x) + 1.0f; }, "twice");
  refused([&] { te::decl_tensor_intrin(twice.op(), call_f, {.name = "op"}); },
          {"`op`", "`c`", "computed"});
  refused([&] { te::decl_tensor_intrin(a.op(), call_f, {.name = "op"}); },
          {"`op`", "`a`", "not a compute"});
}

TEST_F(IntrinsicDeclarationTest, CodeOnItsOwnBuffers) {
  refused([&] { te::decl_tensor_intrin(c.op(), nullptr, {.name = "op"}); },
          {"`op`", "empty function"});
  const tir::Buffer nowhere = tir::decl_buffer({4}, Float(32), {.name = "nowhere"});
  const Stmt store = tir::make_store(nowhere, Expr(1.0f), {Expr(0)});
  refused(
      [&] {
        te::decl_tensor_intrin(
            c.op(), [&](Buffers, Buffers) { return te::TensorIntrinBody{.body = store}; },
            {.name = "op"});
      },
      {"`op`", "`nowhere`"});
  const tir::Buffer b = tir::decl_buffer({16}, Float(32), {.name = "b"});
  refused(
      [&] {
        te::decl_tensor_intrin(c.op(), call_f, {.binds = {{a, b}, {a, b}}, .name = "op"});
      },
      {"`op`", "`a`", "two buffers"});
}

TEST_F(IntrinsicDeclarationTest, CallsOnRegions) {
  const te::TensorIntrin op =
      te::decl_tensor_intrin(c.op(), call_f, {.name = "op", .scalar_params = {Var("p")}});
  te::Tensor ints = te::placeholder({16}, "ints", Int(32));
  const te::IterVar k = te::reduce_axis({0, 4}, "k");
  using Regions = std::vector<te::TensorRegion>;
  const te::TensorRegion row = A.region({0, Range(0, 16)});
  refused([&] { op(Regions{}, {.scalars = {1}}); }, {"`op`", "1 tensors", "0"});
  refused([&] { op(Regions{row, row}, {.scalars = {1}}); }, {"`op`", "1 tensors", "2"});
  refused([&] { op(Regions{ints.region({Range(0, 16)})}, {.scalars = {1}}); },
          {"`op`", "int32", "float32"});
  refused([&] { op(Regions{row}); }, {"`op`", "1 scalars", "0"});
  refused([&] { op(Regions{row}, {.scalars = {2.5f}}); }, {"`op`", "`p`", "int32", "float32"});
  refused([&] { op(Regions{row}, {.reduce_axis = {k}, .scalars = {1}}); },
          {"`op`", "`k`", "no update"});
  EXPECT_NO_THROW(op(Regions{row}, {.scalars = {1}}));
}

}  // namespace
}  // namespace tenon::testing
