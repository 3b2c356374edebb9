// Stages that tensor intrinsics compute, run every way and compared with the loops that they
// replace.
#include <gtest/gtest.h>

#include <sstream>

#include "kernels.h"
#include "tenon/tir/stmt.h"

namespace tenon::testing {
namespace {

// ---- elements -----------------------------------------------------------------------------------

TEST(Intrinsics, AddRowsOfVectors) {
  Sum p(6, 64);
  p.s[p.C].tensorize(p.s[p.C].split(p.s[p.C].axis(1), 16).inner, vadd(16));
  EXPECT_EQ(compare_with_default(p.s, p.args(), with_kernels()), "");
}

TEST(Intrinsics, LeaveATailToTheLoops) {
  Sum p(3, 70);
  p.s[p.C].tensorize(p.s[p.C].split(p.s[p.C].axis(1), 16).inner, vadd(16));
  EXPECT_EQ(compare_with_default(p.s, p.args(), with_kernels()), "");
}

TEST(Intrinsics, LeaveATailOfAnyLengthToTheLoops) {
  Var n = te::size_var("n");
  Sum p(n, n);
  auto [outer, inner] = p.s[p.C].split(p.s[p.C].axis(1), 8);
  p.s[p.C].parallel(p.s[p.C].axis(0)).tensorize(inner, vadd(8));
  EXPECT_EQ(compare_with_default(p.s, p.args(), with_kernels({.symbols = {1, 7, 8, 9, 24}})), "");
}

TEST(Intrinsics, AreCalledInLoopsOfAnyKind) {
  const WaysToRun checked = with_kernels({.build = {.check_intrinsics = true, .opt_level = 1}});
  using Mark = std::function<void(const te::Stage&, const te::IterVar&)>;
  for (const Mark& mark : {Mark([](const te::Stage&c, const te::IterVar&i) { c.vectorize(i); }),
                           Mark([](const te::Stage&c, const te::IterVar&i) { c.unroll(i); }),
                           Mark([](const te::Stage&c, const te::IterVar&i) { c.parallel(i); }),
                           Mark([](const te::Stage&c, const te::IterVar&i) {
                             c.bind(i, te::thread_axis("vthread"));
                           })}) {
    Sum p(8, 36);
    mark(p.s[p.C], p.s[p.C].axis(0));
    p.s[p.C].tensorize(p.s[p.C].split(p.s[p.C].axis(1), 16).inner, vadd(16));
    EXPECT_EQ(compare_with_default(p.s, p.args(), checked), "");
  }
}

TEST(Intrinsics, MayHaveTheirOperandsTheOtherWayRound) {
  Sum p(4, 32);
  te::Tensor D = te::compute(
      {4, 32}, {"i", "j"}, [&](Var i, Var j) { return p.B(i, j) * 2.0f + p.A(i, j); }, "D");
  te::Tensor a = te::placeholder({32}, "a"), b = te::placeholder({32}, "b");
  te::Tensor c = te::compute(
      {32}, {"i"}, [&](Var i) { return a(i) + 2.0f * b(i); }, "c");
  // In terms of loops, so that which operand is which shows in the numbers.
  auto body = [&](std::span<const tir::Buffer> ins,
                  std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
    Var i("i");
    const Expr value = ins[0]({i}) + ins[1]({i}) * 2.0f;
    return {.body = tir::make_stmt(
                tir::For{i, 0, 32, tir::ForKind::Serial, tir::make_store(outs[0], value, {i})})};
  };
  te::Schedule s = te::create_schedule(D);
  s[D].tensorize(s[D].axis(1), te::decl_tensor_intrin(c.op(), body));
  EXPECT_EQ(compare_with_default(s, {p.A, p.B, D}), "");
}

TEST(Intrinsics, StandInsideOfOtherStages) {
  Sum p(8, 32);
  te::Tensor before = te::compute(
      {8, 32}, {"i", "j"}, [&](Var i, Var j) { return p.A(i, j) * 3.0f; }, "before");
  te::Tensor twice = te::compute(
      {8, 32}, {"i", "j"}, [&](Var i, Var j) { return before(i, j) + p.B(i, j); }, "twice");
  te::Tensor after = te::compute(
      {8, 32}, {"i", "j"}, [&](Var i, Var j) { return twice(i, j) - 1.0f; }, "after");
  te::Schedule s = te::create_schedule(after);
  s[twice].compute_at(s[after], s[after].axis(0));
  s[before].compute_at(s[twice], s[twice].axis(0));
  s[twice].tensorize(s[twice].axis(1), vadd(32));
  EXPECT_EQ(compare_with_default(s, {p.A, p.B, after}, with_kernels()), "");
}

// ---- a matrix product in tiles ------------------------------------------------------------------

struct TilesTest : ::testing::TestWithParam<std::tuple<Parts, std::array<int, 3>, bool>> {};

TEST_P(TilesTest, ComputeTheProduct) {
  const auto& [parts, size, outermost] = GetParam();
  Product p(size[0], size[1], size[2]);
  p.tensorize({.parts = parts}, outermost);
  EXPECT_EQ(compare_with_default(p.s, p.args(), with_kernels()), "");
}

const Parts kWaysToReset[] = {{true, true, true}, {true, false, true}, {false, true, true}};
const std::array<int, 3> kSizes[] = {
    {8, 16, 12}, {9, 16, 12}, {8, 19, 12}, {8, 16, 14}, {11, 21, 7}};

INSTANTIATE_TEST_SUITE_P(Intrinsics, TilesTest,
                         ::testing::Combine(::testing::ValuesIn(kWaysToReset),
                                            ::testing::ValuesIn(kSizes), ::testing::Bool()));

/// A fused loop of the reduction and of data starts new sums in its middle.
TEST(Intrinsics, KnowWhereAFusedReductionBegins) {
  for (const Parts& parts : kWaysToReset)
    for (bool is_split : {false, true}) {
      Product p(8, 20, 12);
      te::Stage stage = p.s[p.C];
      auto [io, jo, ii, ji] = stage.tile(stage.axis(0), stage.axis(1), 4, 8);
      auto [ko, ki] = stage.split(p.k, 4);
      stage.reorder({io, jo, ko, ii, ji, ki});
      const te::IterVar fused = stage.fuse(jo, ko);
      if (is_split) stage.split(fused, 4);
      stage.tensorize(ii, gemm({.parts = parts}));
      EXPECT_EQ(compare_with_default(p.s, p.args(), with_kernels()), "") << is_split;
    }
}

TEST(Intrinsics, KnowWhereAReductionSplitTwiceBegins) {
  for (const Parts& parts : kWaysToReset) {
    Product p(8, 16, 28);
    te::Stage stage = p.s[p.C];
    auto [io, jo, ii, ji] = stage.tile(stage.axis(0), stage.axis(1), 4, 8);
    auto [ko, ki] = stage.split(p.k, 4);
    auto [koo, koi] = stage.split(ko, 3);
    stage.reorder({koo, io, jo, koi, ii, ji, ki}).tensorize(ii, gemm({.parts = parts}));
    EXPECT_EQ(compare_with_default(p.s, p.args(), with_kernels()), "");
  }
}

TEST(Intrinsics, ABodyAloneTakesTheWholeReduction) {
  for (int rows : {8, 10}) {
    Product p(rows, 16, 4);
    te::Stage stage = p.s[p.C];
    auto [io, jo, ii, ji] = stage.tile(stage.axis(0), stage.axis(1), 4, 8);
    stage.tensorize(ii, gemm({.parts = {true, false, false}}));
    EXPECT_EQ(compare_with_default(p.s, p.args(), with_kernels()), "") << rows;
  }
}

TEST(Intrinsics, TakeTilesOfCachedAndPaddedTensors) {
  Product p(8, 16, 12);
  te::Tensor cached = p.s.cache_write(p.C, "local");
  te::Tensor AA = p.s.cache_read(p.A, "global", {cached.op()});
  te::Stage out = p.s[p.C], stage = p.s[cached];
  auto [io, jo, ii, ji] = out.tile(out.axis(0), out.axis(1), 4, 8);
  stage.compute_at(out, jo);
  auto [ko, ki] = stage.split(stage.reduce_axis(0), 4);
  stage.reorder({ko, stage.axis(0), stage.axis(1), ki});
  p.s[AA].compute_at(stage, ko).storage_align(p.s[AA].axis(0), 8, 1);
  stage.tensorize(stage.axis(0), gemm({}));
  EXPECT_EQ(compare_with_default(p.s, p.args(), with_kernels()), "");
}

TEST(Intrinsics, TakeProductsOfSymbolicSizes) {
  Var n = te::size_var("n");
  Product p(n, n, n);
  p.tensorize({});
  EXPECT_EQ(compare_with_default(p.s, p.args(), with_kernels({.symbols = {4, 8, 9, 17}})), "");
}

TEST(Intrinsics, DoNotMindLoopsOfOneIteration) {
  te::Tensor A = te::placeholder({6, 1, 4, 1, 4}, "A"), B = te::placeholder({4, 1, 8}, "B");
  te::IterVar k = te::reduce_axis({0, 4}, "k"), one = te::reduce_axis({0, 1}, "one");
  te::Tensor C = te::compute(
      {6, 4, 1, 8}, {"n", "i", "u", "j"},
      [&](Var n, Var i, Var u, Var j) {
        return te::sum(A(n, u, i, one, k) * B(k, one, j), {k, one});
      },
      "C");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].axis(1), gemm({}));
  EXPECT_EQ(compare_with_default(s, {A, B, C}, with_kernels()), "");
}

TEST(Intrinsics, MayHaveDimensionsOfOneElementToThemselves) {
  te::Tensor A = te::placeholder({8, 4}, "A"), B = te::placeholder({4, 8}, "B");
  te::IterVar k = te::reduce_axis({0, 4}, "k");
  te::Tensor v = te::compute(
      {8}, {"j"}, [&](Var j) { return te::sum(A(5, k) * B(k, j), {k}); }, "v");
  te::Schedule s = te::create_schedule(v);
  s[v].tensorize(s[v].axis(0), gemm({.m = 1}));
  EXPECT_EQ(compare_with_default(s, {A, B, v}, with_kernels()), "");
}

TEST(Intrinsics, MayDeclareAnyStrideForADimensionOfOneElement) {
  te::Tensor A = te::placeholder({6, 40}, "A"), a = te::placeholder({1, 16}, "a");
  te::Tensor b = te::compute(
      {1, 16}, {"i", "j"}, [&](Var i, Var j) { return a(i, j) * 2.0f; }, "b");
  te::Tensor B = te::compute(
      {6, 32}, {"i", "j"}, [&](Var i, Var j) { return A(i, j + 4) * 2.0f; }, "B");
  auto row = [](const te::Tensor& t) {
    return tir::decl_buffer(t.shape(), t.dtype(), {.strides = {16, 1}, .offset_factor = 1});
  };
  auto body = [&](std::span<const tir::Buffer> ins,
                  std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
    tir::IRBuilder ib;
    ib.for_range(0, 16, "l", [&](Var l) {
      ib.emit(tir::make_store(outs[0], ins[0]({0, l}) * 2.0f, {0, l}));
    });
    return {.body = ib.get()};
  };
  te::Schedule s = te::create_schedule(B);
  s[B].tensorize(s[B].split(s[B].axis(1), 16).inner,
                 te::decl_tensor_intrin(b.op(), body, {.binds = {{a, row(a)}, {b, row(b)}}}));
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
}

TEST(Intrinsics, TakeWhatIsInlined) {
  te::Tensor A = te::placeholder({8, 8}, "A"), B = te::placeholder({8, 8}, "B");
  te::Tensor moved = te::compute(
      {4, 8}, {"i", "j"}, [&](Var i, Var j) { return A(i + 3, j); }, "moved");
  te::IterVar k = te::reduce_axis({0, 8}, "k");
  te::Tensor C = te::compute(
      {4, 8}, {"i", "j"}, [&](Var i, Var j) { return te::sum(moved(i, k) * B(k, j), {k}); }, "C");
  te::Schedule s = te::create_schedule(C);
  s[moved].compute_inline();
  auto [ko, ki] = s[C].split(s[C].reduce_axis(0), 4);
  s[C].reorder({ko, s[C].axis(0), s[C].axis(1), ki}).tensorize(s[C].axis(0), gemm({}));
  EXPECT_EQ(compare_with_default(s, {A, B, C}, with_kernels()), "");
}

// ---- what they may be part of -------------------------------------------------------------------

/// c[n] = a[n] * 2, as loops.
te::TensorIntrin twice(int n, int offset_factor = 1) {
  te::Tensor a = te::placeholder({n}, "a");
  te::Tensor c = te::compute(
      {n}, {"i"}, [&](Var i) { return a(i) * 2.0f; }, "c");
  auto body = [&](std::span<const tir::Buffer> ins,
                  std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
    tir::IRBuilder ib;
    ib.for_range(0, n, "l",
                 [&](Var l) { ib.emit(tir::make_store(outs[0], ins[0]({l}) * 2.0f, {l})); });
    return {.body = ib.get()};
  };
  return te::decl_tensor_intrin(c.op(), body,
                                {.name = "twice", .default_offset_factor = offset_factor});
}

TEST(Intrinsics, ServeSeveralStagesOfOneProgram) {
  te::Tensor A = te::placeholder({4, 24}, "A");
  auto doubled = [](const te::Tensor& x, const char* name) {
    return te::compute(
        {4, 24}, {"i", "j"}, [&](Var i, Var j) { return x(i, j) * 2.0f; }, name);
  };
  te::Tensor B = doubled(A, "B"), C = doubled(B, "C");
  te::Schedule s = te::create_schedule(C);
  const te::TensorIntrin intrin = twice(8);
  for (const te::Tensor& x : {B, C}) s[x].tensorize(s[x].split(s[x].axis(1), 8).inner, intrin);
  s[B].compute_at(s[C], s[C].axis(0));
  EXPECT_EQ(compare_with_default(s, {A, C}), "");
}

TEST(Intrinsics, FindOutWhenCalledWhetherTheirOffsetIsAMultiple) {
  te::Tensor A = te::placeholder({6, 32}, "A");
  te::Tensor B = te::compute(
      {6, 32}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f; }, "B");
  te::Schedule fits = te::create_schedule(B), other = te::create_schedule(B);
  fits[B].tensorize(fits[B].split(fits[B].axis(1), 8).inner, twice(8, 8));
  EXPECT_EQ(compare_with_default(fits, {A, B}), "");
  other[B].tensorize(other[B].split(other[B].axis(1), 8).inner, twice(8, 16));
  const Arguments arrays = make_arguments({A, B});
  const runtime::Module mod = build(other, {A, B});
  try {
    run_compiled(mod["main"], arrays);
    FAIL() << "was not noticed";
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string_view(error.what()).find("factor of the offset"), std::string_view::npos)
        << error.what();
  }
}

TEST(Intrinsics, HaveOffsetsAsLargeAsTheMemory) {
  te::Tensor A = te::placeholder({70000, 70000}, "A", Int(8)),
             a = te::placeholder({16}, "a", Int(8));
  auto next = [](const Expr& x) { return x + 1; };
  te::Tensor B = te::compute(
      {70000, 70000}, {"i", "j"}, [&](Var i, Var j) { return next(A(i, j)); }, "B");
  te::Tensor b = te::compute(
      {16}, {"i"}, [&](Var i) { return next(a(i)); }, "b");
  auto body = [](std::span<const tir::Buffer> ins,
                 std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
    return {.body = calls("next", {outs[0].access_ptr("w"), ins[0].access_ptr("r")})};
  };
  te::Schedule s = te::create_schedule(B);
  s[B].tensorize(s[B].split(s[B].axis(1), 16).inner, te::decl_tensor_intrin(b.op(), body));
  std::ostringstream text;
  text << lower(s, {A, B});
  EXPECT_NE(text.str().find("70000i64"), std::string::npos) << text.str();
  EXPECT_EQ(text.str().find("cast(int32"), std::string::npos) << text.str();
}

TEST(Intrinsics, RunInThreads) {
  te::Tensor A = te::placeholder({6, 30}, "A");
  te::Tensor B = te::compute(
      {6, 30}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f; }, "B");
  te::Schedule s = te::create_schedule(B);
  auto [outer, inner] = s[B].split(s[B].axis(1), 8);
  s[B].bind(s[B].axis(0), te::thread_axis("blockIdx.x"))
      .bind(outer, te::thread_axis("threadIdx.x"));
  s[B].tensorize(inner, twice(8));
  EXPECT_EQ(compare_with_default(s, {A, B}, {.compile = false}), "");
}

TEST(Intrinsics, ComputeTheStepsOfAScan) {
  te::Tensor X = te::placeholder({5, 16}, "X"), state = te::placeholder({5, 16}, "state");
  te::Tensor init = te::compute(
      {1, 16}, {"t", "i"}, [&](Var, Var i) { return X(0, i); }, "init");
  te::Tensor update = te::compute(
      {5, 16}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + X(t, i); }, "update");
  te::Tensor S = te::scan(init, update, state, {X}, "S");
  te::Schedule s = te::create_schedule(S);
  s[update].tensorize(s[update].axis(1), vadd(16));
  EXPECT_EQ(compare_with_default(s, {X, S}, with_kernels()), "");
}

TEST(Intrinsics, ComputeThePartsOfAFactoredReduction) {
  te::Tensor A = te::placeholder({8, 12}, "A"), B = te::placeholder({12, 16}, "B");
  te::IterVar k = te::reduce_axis({0, 12}, "k");
  te::Tensor C = te::compute(
      {8, 16}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); }, "C");
  te::Schedule s = te::create_schedule(C);
  auto [ko, ki] = s[C].split(k, 4);
  te::Tensor part = s.rfactor(C, ko);
  te::Stage stage = s[part];
  auto [io, jo, ii, ji] = stage.tile(stage.axis(1), stage.axis(2), 4, 8);
  stage.reorder({stage.axis(0), io, jo, ii, ji})
      .tensorize(ii, gemm({.parts = {true, false, false}}));
  EXPECT_EQ(compare_with_default(s, {A, B, C}, with_kernels()), "");
}

TEST(Intrinsics, MayHaveSeveralOutputs) {
  using Pair = std::vector<Expr>;
  te::Tensor A = te::placeholder({3, 20}, "A"), a = te::placeholder({8}, "a");
  const std::vector<te::Tensor> B = te::compute_multi(
      {3, 20}, {"i", "j"},
      [&](Var i, Var j) {
        return Pair{A(i, j) + 1.0f, A(i, j) * 3.0f};
      },
      "B");
  const std::vector<te::Tensor> b = te::compute_multi(
      {8}, {"x"},
      [&](Var x) {
        return Pair{a(x) + 1.0f, a(x) * 3.0f};
      },
      "b");
  auto body = [&](std::span<const tir::Buffer> ins,
                  std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
    tir::IRBuilder ib;
    ib.for_range(0, 8, "x", [&](Var x) {
      ib.emit(tir::make_store(outs[0], ins[0]({x}) + 1.0f, {x}));
      ib.emit(tir::make_store(outs[1], ins[0]({x}) * 3.0f, {x}));
    });
    return {.body = ib.get()};
  };
  te::Schedule s = te::create_schedule(B[0]);
  s[B[0]].tensorize(s[B[0]].split(s[B[0]].axis(1), 8).inner,
                    te::decl_tensor_intrin(b[0].op(), body));
  EXPECT_EQ(compare_with_default(s, {A, B[0], B[1]}), "");
}

// ---- operations on regions ----------------------------------------------------------------------

TEST(Intrinsics, ComputeOnRegions) {
  te::Tensor A = te::placeholder({12, 40}, "A"), B = te::placeholder({40}, "B");
  te::TensorIntrin add = vadd(16);
  te::Tensor C = te::tensor_compute(
      {6, 16}, {"i"},
      [&](Var i) {
        return add({A.region({i * 2, Range::from_min_extent(3, 16)}),
                    B.region({Range::from_min_extent(i, 16)})});
      },
      "C");
  te::Tensor plain = te::compute(
      {6, 16}, {"i", "j"}, [&](Var i, Var j) { return A(i * 2, j + 3) + B(i + j); }, "C");
  te::Schedule s = te::create_schedule(C);
  s[C].split(s[C].axis(0), 4);
  const Arguments right = make_arguments({A, B, plain}), actual = make_arguments({A, B, C});
  tir::evaluate(lower_to_loops(te::create_schedule(plain), {A, B, plain}), right.values);
  run_compiled(build(s, {A, B, C}, Target("llvm"), {.check_intrinsics = true})["main"], actual);
  EXPECT_EQ(first_difference(right, actual), "");
}

TEST(Intrinsics, TakeScalars) {
  te::Tensor a = te::placeholder({16}, "a"), A = te::placeholder({6, 16}, "A");
  Var factor("factor", Float(32));
  te::Tensor c = te::compute(
      {16}, {"i"}, [&](Var i) { return a(i) * factor; }, "c");
  auto body = [&](std::span<const tir::Buffer> ins,
                  std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
    tir::IRBuilder ib;
    ib.for_range(0, 16, "l",
                 [&](Var l) { ib.emit(tir::make_store(outs[0], ins[0]({l}) * factor, {l})); });
    return {.body = ib.get()};
  };
  te::TensorIntrin scale = te::decl_tensor_intrin(c.op(), body, {.scalar_params = {factor}});
  te::Tensor C = te::tensor_compute(
      {6, 16}, {"i"},
      [&](Var i) {
        return scale({A.region({i, Range(0, 16)})}, {.scalars = {cast(Float(32), i)}});
      },
      "C");
  te::Tensor plain = te::compute(
      {6, 16}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * cast(Float(32), i); }, "C");
  const Arguments right = make_arguments({A, plain}), actual = make_arguments({A, C});
  tir::evaluate(lower_to_loops(te::create_schedule(plain), {A, plain}), right.values);
  run_compiled(
      build(te::create_schedule(C), {A, C}, Target("llvm"), {.check_intrinsics = true})["main"],
      actual);
  EXPECT_EQ(first_difference(right, actual), "");
}

TEST(Intrinsics, ReduceOverRegions) {
  te::Tensor A = te::placeholder({4, 12}, "A"), B = te::placeholder({12, 8}, "B");
  te::IterVar k = te::reduce_axis({0, 3}, "k");
  te::TensorIntrin product = gemm({});
  te::Tensor C = te::tensor_compute(
      {4, 8}, {},
      [&](std::span<const Var>) {
        return product({A.region({Range(0, 4), Range::from_min_extent(k * 4, 4)}),
                        B.region({Range::from_min_extent(k * 4, 4), Range(0, 8)})},
                       {.reduce_axis = {k}});
      },
      "C");
  Product plain(4, 8, 12);
  const Arguments right = make_arguments(plain.args()), actual = make_arguments({A, B, C});
  tir::evaluate(lower_to_loops(plain.s, plain.args()), right.values);
  run_compiled(build(te::create_schedule(C), {A, B, C})["main"], actual);
  EXPECT_EQ(first_difference(right, actual), "");
}

}  // namespace
}  // namespace tenon::testing
