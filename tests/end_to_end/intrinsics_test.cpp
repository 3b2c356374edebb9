// Tensor intrinsics, compiled and run: compared with the loops that they replace.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tenon/te/freeze.h"
#include "tenon/tenon.h"
#include "tenon/tir/stmt.h"
#include "tests/common/loop_intrinsics.h"
#include "tests/common/random_intrinsic.h"
#include "tests/common/ways_to_run.h"

extern "C" {

/// c = a + b.
int tenon_test_vadd(float* c, const float* a, const float* b, int n) {
  for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];
  return 0;
}

/// c[m, n] = a[m, k] b[k, n], or += ; rows lie `cs`, `as` and `bs` elements apart.
int tenon_test_gemm(float* c, int cs, const float* a, int as, const float* b, int bs, int m, int n,
                    int k, int accumulate) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = accumulate ? c[i * cs + j] : 0;
      for (int l = 0; l < k; ++l) sum += a[i * as + l] * b[l * bs + j];
      c[i * cs + j] = sum;
    }
  return 0;
}

int tenon_test_zero(float* c, int cs, int m, int n) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) c[i * cs + j] = 0;
  return 0;
}

/// Forgets the last row.
int tenon_test_wrong_gemm(float* c, int cs, const float* a, int as, const float* b, int bs, int m,
                          int n, int k, int accumulate) {
  return tenon_test_gemm(c, cs, a, as, b, bs, m - 1, n, k, accumulate);
}
}

namespace tenon::testing {
namespace {

// ---- kernels ------------------------------------------------------------------------------------

// C functions as hardware intrinsics: sums of vectors and products of tiles of matrices; what they
// are to compute, and stages that use them.
//
//   Product p(8, 16, 12);
//   p.tensorize({.parts = {.body = false}});
//   EXPECT_EQ(compare_with_default(p.s, p.args(), with_kernels()), "");

/// The pieces of code that an intrinsic has.
struct Parts {
  bool body = true, reset = true, update = true;
};

/// c[m, n] = a[m, k] b[k, n], of parts of matrices.
struct Tile {
  int m = 4, n = 8, k = 4;
  Parts parts = {};
  /// Or "tenon_test_wrong_gemm", which forgets the last row.
  std::string function = "tenon_test_gemm";
  /// The stride of b that the function is given; nullopt: the true one.
  std::optional<int> stride_of_b = std::nullopt;
};

template <class T>
T* pointer(const tir::HostValue& value) {
  return reinterpret_cast<T*>(static_cast<std::intptr_t>(std::get<std::int64_t>(value)));
}
int whole(const tir::HostValue& value) { return static_cast<int>(std::get<std::int64_t>(value)); }

/// The functions above, for the interpreter.
double call_kernel(const std::string& name, std::span<const tir::HostValue> a) {
  if (name == "tenon_test_vadd")
    return tenon_test_vadd(pointer<float>(a[0]), pointer<float>(a[1]), pointer<float>(a[2]),
                           whole(a[3]));
  if (name == "tenon_test_zero")
    return tenon_test_zero(pointer<float>(a[0]), whole(a[1]), whole(a[2]), whole(a[3]));
  const auto gemm = name == "tenon_test_wrong_gemm" ? tenon_test_wrong_gemm : tenon_test_gemm;
  return gemm(pointer<float>(a[0]), whole(a[1]), pointer<float>(a[2]), whole(a[3]),
              pointer<float>(a[4]), whole(a[5]), whole(a[6]), whole(a[7]), whole(a[8]),
              whole(a[9]));
}

/// With these functions for the interpreter.
WaysToRun with_kernels(WaysToRun ways = {}) {
  ways.call_extern = call_kernel;
  return ways;
}

/// The call as a statement.
Stmt calls(const std::string& function, const std::vector<Expr>& args) {
  return tir::make_evaluate(tir::make_call(Int(32), tir::ExternCallee{function, false}, args));
}

/// c[n] = a[n] + b[n].
te::TensorIntrin vadd(int n, const std::string& function = "tenon_test_vadd") {
  te::Tensor a = te::placeholder({n}, "a"), b = te::placeholder({n}, "b");
  te::Tensor c = te::compute(
      {n}, {"i"}, [&](Var i) { return a(i) + b(i); }, "c");
  auto body = [&](std::span<const tir::Buffer> ins,
                  std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
    return {.body = calls(function, {outs[0].access_ptr("w"), ins[0].access_ptr("r"),
                                     ins[1].access_ptr("r"), Expr(n)})};
  };
  return te::decl_tensor_intrin(c.op(), body, {.name = "vadd"});
}

te::TensorIntrin gemm(const Tile& t) {
  te::Tensor a = te::placeholder({t.m, t.k}, "a"), b = te::placeholder({t.k, t.n}, "b");
  te::IterVar k = te::reduce_axis({0, t.k}, "k");
  te::Tensor c = te::compute(
      {t.m, t.n}, {"i", "j"}, [&](Var i, Var j) { return te::sum(a(i, k) * b(k, j), {k}); }, "c");
  auto rows = [](const te::Tensor& x, const char* stride) {
    return tir::decl_buffer(
        x.shape(), x.dtype(),
        {.name = x.name(), .strides = {te::var(stride), 1}, .offset_factor = 1});
  };
  auto code = [&](std::span<const tir::Buffer> ins,
                  std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
    auto product = [&](int accumulate) {
      const Expr b_stride = t.stride_of_b ? Expr(*t.stride_of_b) : ins[1].strides()[0];
      return calls(t.function, {outs[0].access_ptr(accumulate ? "rw" : "w"), outs[0].strides()[0],
                                ins[0].access_ptr("r"), ins[0].strides()[0], ins[1].access_ptr("r"),
                                b_stride, Expr(t.m), Expr(t.n), Expr(t.k), Expr(accumulate)});
    };
    te::TensorIntrinBody all;
    if (t.parts.body) all.body = product(0);
    if (t.parts.reset)
      all.reset = calls("tenon_test_zero",
                        {outs[0].access_ptr("w"), outs[0].strides()[0], Expr(t.m), Expr(t.n)});
    if (t.parts.update) all.update = product(1);
    return all;
  };
  return te::decl_tensor_intrin(
      c.op(), code,
      {.binds = {{a, rows(a, "as")}, {b, rows(b, "bs")}, {c, rows(c, "cs")}}, .name = "gemm"});
}

struct Sum {
  Sum(const Expr& rows, const Expr& columns)
      : A(te::placeholder({rows, columns}, "A")),
        B(te::placeholder({rows, columns}, "B")),
        C(te::compute(
            {rows, columns}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + B(i, j); }, "C")),
        s(te::create_schedule(C)) {}
  te::Tensor A, B, C;
  te::Schedule s;
  std::vector<LowerArgument> args() const { return {A, B, C}; }
};

struct Product {
  Product(const Expr& m, const Expr& n, const Expr& l)
      : A(te::placeholder({m, l}, "A")),
        B(te::placeholder({l, n}, "B")),
        k(te::reduce_axis({0, l}, "k")),
        C(te::compute(
            {m, n}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); },
            "C")),
        s(te::create_schedule(C)) {}
  void tensorize(const Tile& t, bool reduction_outermost = false) {
    te::Stage stage = s[C];
    auto [io, jo, ii, ji] = stage.tile(stage.axis(0), stage.axis(1), t.m, t.n);
    auto [ko, ki] = stage.split(stage.reduce_axis(0), t.k);
    if (reduction_outermost) {
      stage.reorder({ko, io, jo, ii, ji, ki});
    } else {
      stage.reorder({io, jo, ko, ii, ji, ki});
    }
    stage.tensorize(ii, gemm(t));
  }
  te::Tensor A, B;
  te::IterVar k;
  te::Tensor C;
  te::Schedule s;
  std::vector<LowerArgument> args() const { return {A, B, C}; }
};

// ---- stages -------------------------------------------------------------------------------------

// Stages that tensor intrinsics compute, run every way and compared with the loops that they
// replace.

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

/// The loop that resets has an iteration for each row even then; which row, the length of the
/// reduction does not say.
TEST(Intrinsics, ResetRowsThatAreFusedWithAReductionOfNoSteps) {
  const Var n = te::size_var("n");
  const te::Tensor A = te::placeholder({n, 2, 2}, "A");
  const te::IterVar k = te::reduce_axis({0, n - 9}, "k");
  const te::Tensor B = te::compute(
      {2, 2}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(k, i, j), {k}); }, "B");
  te::Schedule s = te::create_schedule(B);
  auto [i, j] = std::array{s[B].axis(0), s[B].axis(1)};
  const auto [outer, whole] = s[B].split(j, 2);
  s[B].reorder({outer, i, k, whole}).fuse(i, k);
  const te::Tensor in = te::placeholder({2}, "in");
  const te::IterVar one = te::reduce_axis({0, 1}, "one");
  const te::Tensor out = te::compute(
      {2}, {"x"}, [&](Var x) { return te::sum(in(x), {one}); }, "out");
  s[B].tensorize(whole, loop_intrinsic(out));
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
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

// ---- calls --------------------------------------------------------------------------------------

// Calls of tensor intrinsics: the check that runs them beside their loops, and where the functions
// come from.

// ---- the check of intrinsics --------------------------------------------------------------------

/// Returns the check's report on a product with the tile's kernel, which may be wrong.
std::string report(const Tile& tile) {
  Product p(8, 16, 12);
  p.tensorize(tile);
  const Arguments arrays = make_arguments(p.args());
  const runtime::Module mod = build(p.s, p.args(), Target("llvm"), {.check_intrinsics = true});
  try {
    run_compiled(mod["main"], arrays);
  } catch (const RuntimeError& error) {
    return error.what();
  }
  return "";
}

TEST(IntrinsicCheck, NamesTheFirstElementThatDiffers) {
  const std::string text = report({.function = "tenon_test_wrong_gemm"});
  EXPECT_NE(text.find("`gemm` of stage `C` (update): element [3, 0] is 0, should be "),
            std::string::npos)
      << text;
}

TEST(IntrinsicCheck, FindsAWrongStride) {
  EXPECT_NE(report({.stride_of_b = 8}).find("`gemm` of stage `C` (update): element ["),
            std::string::npos);
  EXPECT_EQ(report({.stride_of_b = 16}), "");
}

TEST(IntrinsicCheck, ComparesIntegersExactly) {
  te::Tensor A = te::placeholder({4, 20}, "A", Int(8)), a = te::placeholder({8}, "a", Int(8));
  te::Tensor B = te::compute(
      {4, 20}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 3; }, "B");
  te::Tensor b = te::compute(
      {8}, {"i"}, [&](Var i) { return a(i) + 3; }, "b");
  auto result = [&](int added) -> std::string {
    auto body = [&](std::span<const tir::Buffer> ins,
                    std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
      tir::IRBuilder ib;
      ib.for_range(0, 8, "l",
                   [&](Var l) { ib.emit(tir::make_store(outs[0], ins[0]({l}) + added, {l})); });
      return {.body = ib.get()};
    };
    te::Schedule s = te::create_schedule(B);
    s[B].tensorize(s[B].split(s[B].axis(1), 8).inner, te::decl_tensor_intrin(b.op(), body));
    const Arguments arrays = make_arguments({A, B});
    const runtime::Module mod = build(s, {A, B}, Target("llvm"), {.check_intrinsics = true});
    try {
      run_compiled(mod["main"], arrays);
    } catch (const RuntimeError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(result(3), "");
  EXPECT_NE(result(4).find("of stage `B` (body): element [0, 0] is "), std::string::npos);
}

/// Returns the check's report on a schedule.
std::string report(const te::Schedule& s, const std::vector<LowerArgument>& args) {
  const Arguments arrays = make_arguments(args);
  const runtime::Module mod = build(s, args, Target("llvm"), {.check_intrinsics = true});
  try {
    run_compiled(mod["main"], arrays);
  } catch (const RuntimeError& error) {
    return error.what();
  }
  return "";
}

TEST(IntrinsicCheck, NamesTheLaneOfAVectorThatDiffers) {
  const DataType type = Int(32, 4);
  te::Tensor A = te::placeholder({4, 20}, "A", type), a = te::placeholder({8}, "a", type);
  auto sum = [&](const Expr& e) { return e + make_const(type, 3); };
  te::Tensor B = te::compute(
      {4, 20}, {"i", "j"}, [&](Var i, Var j) { return sum(A(i, j)); }, "B");
  te::Tensor b = te::compute(
      {8}, {"i"}, [&](Var i) { return sum(a(i)); }, "b");
  auto body = [&](std::span<const tir::Buffer> ins,
                  std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
    const Expr only_lane_two = cast(type, tir::make_ramp(0, 1, 4) == tir::make_broadcast(2, 4));
    tir::IRBuilder ib;
    ib.for_range(0, 8, "l", [&](Var l) {
      ib.emit(tir::make_store(outs[0], sum(ins[0]({l})) + only_lane_two, {l}));
    });
    return {.body = ib.get()};
  };
  te::Schedule s = te::create_schedule(B);
  s[B].tensorize(s[B].split(s[B].axis(1), 8).inner, te::decl_tensor_intrin(b.op(), body));
  const std::string text = report(s, {A, B});
  EXPECT_NE(text.find("of stage `B` (body), lane 2: element [0, 0] is "), std::string::npos)
      << text;
}

TEST(IntrinsicCheck, KnowsWhereAReductionOfATensorStarts) {
  te::Tensor A = te::placeholder({4, 12}, "A"), S = te::placeholder({4}, "S");
  te::Tensor a = te::placeholder({4}, "a"), start = te::placeholder({1}, "start");
  te::IterVar k = te::reduce_axis({0, 12}, "k"), r = te::reduce_axis({0, 4}, "r");
  te::Tensor B = te::compute(
      {4}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}, {.init = {S(i)}}); }, "B");
  te::Tensor b = te::compute(
      {1}, {"i"}, [&](Var i) { return te::sum(a(r), {r}, {.init = {start(i)}}); }, "b");
  for (float added : {0.0f, 1.0f}) {
    auto code = [&](std::span<const tir::Buffer> ins,
                    std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
      const tir::Buffer &from = ins[b.op().inputs()[0].same_as(start) ? 0 : 1],
                        &terms = ins[b.op().inputs()[0].same_as(start) ? 1 : 0];
      tir::IRBuilder update;
      update.for_range(0, 4, "l", [&](Var l) {
        update.emit(tir::make_store(outs[0], outs[0]({0}) + terms({l}), {0}));
      });
      return {.reset = tir::make_store(outs[0], from({0}) + added, {0}), .update = update.get()};
    };
    te::Schedule s = te::create_schedule(B);
    s[B].tensorize(s[B].split(k, 4).inner, te::decl_tensor_intrin(b.op(), code));
    const std::string text = report(s, {A, S, B});
    EXPECT_EQ(text.find("of stage `B` (reset): element [0] is ") != std::string::npos,
              added != 0.0f)
        << text;
    EXPECT_EQ(text.empty(), added == 0.0f) << text;
  }
}

TEST(IntrinsicCheck, LetsRightOnesPass) {
  const WaysToRun checked = with_kernels({.build = {.check_intrinsics = true, .opt_level = 1}});
  for (const Parts& parts : {Parts{}, Parts{.reset = false}, Parts{.body = false}}) {
    Product p(11, 21, 14);
    p.tensorize({.parts = parts});
    EXPECT_EQ(compare_with_default(p.s, p.args(), checked), "");
  }
}

TEST(IntrinsicCheck, IsThereForTheInterpreterToo) {
  Product p(8, 16, 12);
  p.tensorize({.parts = {true, false, true}, .function = "tenon_test_wrong_gemm"});
  const Arguments arrays = make_arguments(p.args());
  const tir::PrimFunc func = lower_to_loops(p.s, p.args(), {.check_intrinsics = true});
  EXPECT_THROW(tir::evaluate(func, arrays.values, {.call_extern = with_kernels().call_extern}),
               RuntimeError);
}

// ---- where the called function comes from -------------------------------------------------------

const char* const kAddOfC = R"(
int tenon_test_imported_add(float* c, const float* a, const float* b, int n) {
  for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];
  return 0;
}
)";

const char* const kAddOfLlvm = R"(
define i32 @tenon_test_imported_add(ptr %c, ptr %a, ptr %b, i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %pa = getelementptr float, ptr %a, i32 %i
  %pb = getelementptr float, ptr %b, i32 %i
  %pc = getelementptr float, ptr %c, i32 %i
  %x = load float, ptr %pa
  %y = load float, ptr %pb
  %z = fadd float %x, %y
  store float %z, ptr %pc
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret i32 0
}
)";

/// Compiled alone: the interpreter cannot look into imported source.
std::string compiled_difference(const Sum& p, const BuildOptions& options = {}) {
  const Arguments right = make_arguments(p.args()), actual = make_arguments(p.args());
  tir::evaluate(lower_to_loops(te::create_schedule(p.C), p.args()), right.values);
  run_compiled(build(p.s, p.args(), Target("llvm"), options)["main"], actual);
  return first_difference(right, actual);
}

TEST(IntrinsicSources, APragmaOfTheTensorizedAxisOrOfOneAroundIt) {
  for (const auto& [key, source] :
       {std::pair("import_c", kAddOfC), std::pair("import_llvm", kAddOfLlvm)})
    for (bool around : {false, true}) {
      Sum p(6, 64);
      auto [outer, inner] = p.s[p.C].split(p.s[p.C].axis(1), 16);
      p.s[p.C].tensorize(inner, vadd(16, "tenon_test_imported_add"));
      p.s[p.C].pragma(around ? outer : inner, key, source);
      EXPECT_EQ(compiled_difference(p), "") << key << around;
    }
}

TEST(IntrinsicSources, ALibraryThatIsLinked) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tenon_intrinsics_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::string source = folder / "add.c", library = folder / "libadd.so";
  std::ofstream(source) << kAddOfC;
  ASSERT_EQ(std::system(("cc -shared -fPIC -o " + library + " " + source).c_str()), 0);
  Sum p(6, 64);
  p.s[p.C].tensorize(p.s[p.C].split(p.s[p.C].axis(1), 16).inner,
                     vadd(16, "tenon_test_imported_add"));
  EXPECT_EQ(compiled_difference(p, {.link = {library}}), "");
  std::filesystem::remove_all(folder);
}

TEST(IntrinsicSources, AFunctionThatIsNowhereIsNamed) {
  Sum p(6, 64);
  p.s[p.C].tensorize(p.s[p.C].axis(1), vadd(64, "tenon_test_nowhere"));
  try {
    build(p.s, p.args());
    FAIL() << "was built";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("tenon_test_nowhere"), std::string::npos)
        << error.what();
  }
}

// ---- matching -----------------------------------------------------------------------------------

// Checks how operands, axes, inputs and dimensions of an intrinsic are matched, by their uses. The
// code of each intrinsic is loops over its declaration, so that a wrong match gives wrong numbers.

te::Tensor matrix(const Expr& rows, const Expr& columns, const std::string& name,
                  DataType type = Float(32)) {
  return te::placeholder({rows, columns}, name, type);
}

/// With the check of every call, which compares with what is declared.
std::string difference(const te::Schedule& s, const std::vector<LowerArgument>& args,
                       WaysToRun ways = {}) {
  ways.build = {.check_intrinsics = true, .opt_level = 1};
  return compare_with_default(s, args, ways);
}

// ---- one tensor for several inputs --------------------------------------------------------------

TEST(IntrinsicMatching, SquaresAreProductsOfOneTensorWithItself) {
  te::Tensor A = matrix(5, 20, "A"), a = te::placeholder({8}, "a"), b = te::placeholder({8}, "b");
  te::Tensor C = te::compute(
      {5, 20}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * A(i, j); }, "C");
  te::Tensor c = te::compute(
      {8}, {"x"}, [&](Var x) { return a(x) * b(x); }, "c");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].split(s[C].axis(1), 8).inner, loop_intrinsic(c));
  EXPECT_EQ(difference(s, {A, C}), "");
}

/// c[x, y] = sum over r of a[x, r] b[y, r].
te::Tensor product_with_transpose(int m, int n, int l) {
  te::Tensor a = matrix(m, l, "a"), b = matrix(n, l, "b");
  te::IterVar r = te::reduce_axis({0, l}, "r");
  return te::compute(
      {m, n}, {"x", "y"}, [&](Var x, Var y) { return te::sum(a(x, r) * b(y, r), {r}); }, "c");
}

TEST(IntrinsicMatching, ATensorTimesItsOwnTransposeGivesEachInputItsRegion) {
  for (bool is_commuted : {false, true})
    for (int size : {12, 14}) {
      te::Tensor A = matrix(size, 10, "A");
      te::IterVar k = te::reduce_axis({0, 10}, "k");
      te::Tensor C = te::compute(
          {size, size}, {"i", "j"},
          [&](Var i, Var j) {
            return te::sum(is_commuted ? A(j, k) * A(i, k) : A(i, k) * A(j, k), {k});
          },
          "C");
      te::Schedule s = te::create_schedule(C);
      auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 4, 3);
      auto [ko, ki] = s[C].split(k, 4);
      s[C].reorder({io, jo, ko, ii, ji, ki})
          .tensorize(ii, loop_intrinsic(product_with_transpose(4, 3, 4)));
      EXPECT_EQ(difference(s, {A, C}), "") << size << is_commuted;
    }
}

TEST(IntrinsicMatching, SeveralReadsOfOneInputAreOneRegion) {
  te::Tensor A = matrix(6, 34, "A"), a = te::placeholder({10}, "a"), b = te::placeholder({8}, "b");
  // A stencil and, as another input, the same tensor further on.
  te::Tensor C = te::compute(
      {6, 24}, {"i", "j"}, [&](Var i, Var j) { return (A(i, j) + A(i, j + 2)) * A(i, j + 10); },
      "C");
  te::Tensor c = te::compute(
      {8}, {"x"}, [&](Var x) { return b(x) * (a(x + 2) + a(x)); }, "c");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].split(s[C].axis(1), 8).inner, loop_intrinsic(c));
  EXPECT_EQ(difference(s, {A, C}), "");
}

// ---- axes by use --------------------------------------------------------------------------------

/// c[x] = sum over r, s of a[x + r, s] w[r, s], for a window of 2 x 3 (or as many the other way
/// round).
te::Tensor window(bool is_swapped) {
  te::Tensor a = matrix(5, 3, "a"), w = matrix(2, 3, "w");
  te::IterVar r = te::reduce_axis({0, 2}, "r"), s = te::reduce_axis({0, 3}, "s");
  const std::vector<te::IterVar> order = is_swapped ? std::vector{s, r} : std::vector{r, s};
  return te::compute(
      {4}, {"x"}, [&](Var x) { return te::sum(a(x + r, s) * w(r, s), order); }, "c");
}

TEST(IntrinsicMatching, ReductionAxesMayBeListedInAnotherOrder) {
  te::Tensor A = matrix(17, 3, "A"), W = matrix(2, 3, "W");
  te::IterVar kh = te::reduce_axis({0, 2}, "kh"), kw = te::reduce_axis({0, 3}, "kw");
  for (bool own_is_swapped : {false, true})
    for (bool is_swapped : {false, true}) {
      const std::vector<te::IterVar> order =
          own_is_swapped ? std::vector{kw, kh} : std::vector{kh, kw};
      te::Tensor C = te::compute(
          {16}, {"i"}, [&](Var i) { return te::sum(A(i + kh, kw) * W(kh, kw), order); }, "C");
      te::Schedule s = te::create_schedule(C);
      s[C].tensorize(s[C].split(s[C].axis(0), 4).inner, loop_intrinsic(window(is_swapped)));
      EXPECT_EQ(difference(s, {A, W, C}), "") << own_is_swapped << is_swapped;
    }
}

TEST(IntrinsicMatching, ReductionAxesOfOneExtentGoByTheReadsThatTheyStandIn) {
  te::Tensor A = matrix(12, 4, "A"), W = matrix(4, 4, "W"), a = matrix(7, 4, "a"),
             w = matrix(4, 4, "w");
  te::IterVar p = te::reduce_axis({0, 4}, "p"), q = te::reduce_axis({0, 4}, "q");
  te::IterVar r = te::reduce_axis({0, 4}, "r"), t = te::reduce_axis({0, 4}, "t");
  te::Tensor C = te::compute(
      {8}, {"i"},
      [&](Var i) {
        return te::sum(A(i + p, q) * W(q, p), {p, q});
      },
      "C");
  te::Tensor c = te::compute(
      {4}, {"x"},
      [&](Var x) {
        return te::sum(w(r, t) * a(x + t, r), {r, t});
      },
      "c");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].split(s[C].axis(0), 4).inner, loop_intrinsic(c));
  EXPECT_EQ(difference(s, {A, W, C}), "");
}

TEST(IntrinsicMatching, ReductionAxesThatOneIndexMixesAreTriedOut) {
  te::Tensor A = te::placeholder({40}, "A"), a = te::placeholder({19}, "a");
  te::IterVar p = te::reduce_axis({0, 4}, "p"), q = te::reduce_axis({0, 4}, "q");
  te::IterVar r = te::reduce_axis({0, 4}, "r"), t = te::reduce_axis({0, 4}, "t");
  te::Tensor C = te::compute(
      {8}, {"i"},
      [&](Var i) {
        return te::sum(A(i + p * 4 + q), {p, q});
      },
      "C");
  te::Tensor c = te::compute(
      {4}, {"x"},
      [&](Var x) {
        return te::sum(a(x + t * 4 + r), {r, t});
      },
      "c");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].split(s[C].axis(0), 4).inner, loop_intrinsic(c));
  EXPECT_EQ(difference(s, {A, C}), "");
}

TEST(IntrinsicMatching, DataAxesMayBeNamedTheOtherWayRoundWhereInputsTradePlaces) {
  te::Tensor A = matrix(8, 6, "A"), B = matrix(8, 6, "B");
  te::IterVar k = te::reduce_axis({0, 6}, "k");
  // The columns' tensor stands first.
  te::Tensor C = te::compute(
      {8, 8}, {"i", "j"}, [&](Var i, Var j) { return te::sum(B(j, k) * A(i, k), {k}); }, "C");
  te::Schedule s = te::create_schedule(C);
  auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 4, 4);
  s[C].tensorize(ii, loop_intrinsic(product_with_transpose(4, 4, 6)));
  EXPECT_EQ(difference(s, {A, B, C}), "");
}

TEST(IntrinsicMatching, TheTensorizedLoopsMayStandInAnyOrder) {
  for (int order = 0; order < 6; ++order) {
    te::Tensor A = matrix(8, 8, "A"), B = matrix(9, 8, "B");
    te::IterVar k = te::reduce_axis({0, 8}, "k");
    te::Tensor C = te::compute(
        {8, 9}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(j, k), {k}); }, "C");
    te::Schedule s = te::create_schedule(C);
    auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 4, 3);
    auto [ko, ki] = s[C].split(k, 4);
    std::vector<te::IterVar> inside{ii, ji, ki};
    std::sort(inside.begin(), inside.end(),
              [](const auto& x, const auto& y) { return x.name() < y.name(); });
    for (int n = 0; n < order; ++n)
      std::next_permutation(inside.begin(), inside.end(),
                            [](const auto& x, const auto& y) { return x.name() < y.name(); });
    s[C].reorder({io, jo, ko, inside[0], inside[1], inside[2]});
    s[C].tensorize(inside[0], loop_intrinsic(product_with_transpose(4, 3, 4)));
    EXPECT_EQ(difference(s, {A, B, C}), "") << order;
  }
}

// ---- operands -----------------------------------------------------------------------------------

/// A body of `count` inputs, of which each may be told from the others: p0*2 + max(p1, p2*3) + ...
Expr mixed(const std::vector<Expr>& p, bool is_reversed) {
  auto both = [&](const std::function<Expr(Expr, Expr)>& op, const Expr& x, const Expr& y) {
    return is_reversed ? op(y, x) : op(x, y);
  };
  auto add = [](const Expr& x, const Expr& y) { return x + y; };
  auto mul = [](const Expr& x, const Expr& y) { return x * y; };
  auto largest = [](const Expr& x, const Expr& y) { return max(x, y); };
  Expr result = both(mul, p[0], 2.0f);
  for (std::size_t n = 1; n + 1 < p.size(); n += 2)
    result = both(add, both(largest, p[n], both(mul, p[n + 1], Expr(static_cast<float>(n + 2)))),
                  result);
  return result;
}

TEST(IntrinsicMatching, OperandsOfManyInputsMayTradePlaces) {
  std::vector<te::Tensor> own, theirs;
  std::vector<LowerArgument> args;
  for (int n = 0; n < 9; ++n) {
    own.push_back(matrix(4, 16, "A" + std::to_string(n)));
    theirs.push_back(te::placeholder({8}, "a" + std::to_string(n)));
    args.emplace_back(own.back());
  }
  te::Tensor C = te::compute(
      {4, 16}, {"i", "j"},
      [&](Var i, Var j) {
        std::vector<Expr> reads;
        for (const te::Tensor& tensor : own) reads.push_back(tensor(i, j));
        return mixed(reads, false);
      },
      "C");
  te::Tensor c = te::compute(
      {8}, {"x"},
      [&](Var x) {
        std::vector<Expr> reads;
        for (const te::Tensor& tensor : theirs) reads.push_back(tensor(x));
        return mixed(reads, true);
      },
      "c");
  args.emplace_back(C);
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].split(s[C].axis(1), 8).inner, loop_intrinsic(c));
  EXPECT_EQ(difference(s, args), "");
}

TEST(IntrinsicMatching, SumsOfIntegersMayBeInAnyOrderAltogether) {
  const DataType type = Int(32);
  te::Tensor A = matrix(4, 8, "A", type), B = matrix(4, 8, "B", type), D = matrix(4, 8, "D", type);
  te::Tensor a = te::placeholder({8}, "a", type), b = te::placeholder({8}, "b", type),
             d = te::placeholder({8}, "d", type);
  te::Tensor C = te::compute(
      {4, 8}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 3 + (B(i, j) - D(i, j)); }, "C");
  te::Tensor c = te::compute(
      {8}, {"x"}, [&](Var x) { return (a(x) + 3 * b(x)) - d(x); }, "c");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].axis(1), loop_intrinsic(c));
  EXPECT_EQ(difference(s, {A, B, D, C}), "");
}

TEST(IntrinsicMatching, SumsOfFloatsKeepTheirOrder) {
  te::Tensor A = matrix(4, 8, "A"), a = te::placeholder({8}, "a");
  te::Tensor C = te::compute(
      {4, 8}, {"i", "j"}, [&](Var i, Var j) { return (A(i, j) + 0.1f) + 1e8f * A(i, j); }, "C");
  te::Tensor c = te::compute(
      {8}, {"x"}, [&](Var x) { return a(x) + (0.1f + 1e8f * a(x)); }, "c");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].axis(1), loop_intrinsic(c));
  EXPECT_THROW(lower(s, {A, C}), ScheduleError);
}

// ---- dimensions of one element ------------------------------------------------------------------

/// `shape` with a 1 inserted at the positions whose bits are set: bit 0 is before the first
/// dimension, and so on.
std::vector<Expr> with_ones(const std::vector<int>& shape, unsigned places) {
  std::vector<Expr> result;
  for (std::size_t d = 0; d <= shape.size(); ++d) {
    if ((places >> d) & 1u) result.emplace_back(1);
    if (d < shape.size()) result.emplace_back(shape[d]);
  }
  return result;
}

std::vector<Expr> with_zeros(const std::vector<Expr>& index, unsigned places) {
  std::vector<Expr> result;
  for (std::size_t d = 0; d <= index.size(); ++d) {
    if ((places >> d) & 1u) result.emplace_back(0);
    if (d < index.size()) result.push_back(index[d]);
  }
  return result;
}

/// The indices among `vars` without those of the dimensions that `with_ones` inserted.
std::vector<Expr> without_ones(std::span<const Var> vars, unsigned places, std::size_t rank) {
  std::vector<Expr> result;
  std::size_t at = 0;
  for (std::size_t d = 0; d <= rank; ++d) {
    at += (places >> d) & 1u;
    if (d < rank) result.emplace_back(vars[at++]);
  }
  return result;
}

/// out[i, j] = in[i + 1, j] * 2, each with ones at some places.
te::Tensor doubled(const te::Tensor& in, std::vector<int> shape, unsigned ones_in,
                   unsigned ones_out, int shift) {
  return te::compute(
      with_ones(shape, ones_out),
      [&](std::span<const Var> vars) {
        std::vector<Expr> index = without_ones(vars, ones_out, 2);
        index[0] = index[0] + shift;
        const std::vector<Expr> place = with_zeros(index, ones_in);
        return tir::make_producer_load(in.producer(), place) * 2.0f;
      },
      "doubled");
}

struct OnesTest : ::testing::TestWithParam<std::tuple<unsigned, unsigned>> {};

TEST_P(OnesTest, MayStandAnywhereInTheRegionOrInTheIntrinsic) {
  const auto [own, theirs] = GetParam();
  for (unsigned mixed_in : {0u, 7u}) {
    te::Tensor A = te::placeholder(with_ones({9, 16}, own ^ mixed_in), "A");
    te::Tensor a = te::placeholder(with_ones({4, 8}, theirs ^ mixed_in), "a");
    te::Tensor C = doubled(A, {8, 16}, own ^ mixed_in, own, 1),
               c = doubled(a, {4, 8}, theirs ^ mixed_in, theirs, 0);
    te::Schedule s = te::create_schedule(C);
    const int first = static_cast<int>(own & 1u),
              second = first + 1 + static_cast<int>((own >> 1) & 1u);
    auto [io, jo, ii, ji] = s[C].tile(s[C].axis(first), s[C].axis(second), 4, 8);
    s[C].tensorize(ii, loop_intrinsic(c));
    EXPECT_EQ(difference(s, {A, C}), "") << own << " " << theirs << " " << mixed_in;
  }
}

INSTANTIATE_TEST_SUITE_P(IntrinsicMatching, OnesTest,
                         ::testing::Combine(::testing::Range(0u, 8u), ::testing::Range(0u, 8u)));

TEST(IntrinsicMatching, AReductionOfOneStepMayBeMissingOnEitherSide) {
  for (bool own_has_one : {false, true})
    for (bool has_one : {false, true}) {
      te::Tensor A = matrix(6, 8, "A"), a = te::placeholder({8}, "a");
      te::IterVar k = te::reduce_axis({0, 8}, "k"), o = te::reduce_axis({0, 1}, "o");
      te::IterVar r = te::reduce_axis({0, 8}, "r"), u = te::reduce_axis({0, 1}, "u");
      te::Tensor C = te::compute(
          {6}, {"i"},
          [&](Var i) {
            return own_has_one ? te::sum(A(i + o, k), {o, k}) : te::sum(A(i, k), {k});
          },
          "C");
      te::Tensor c = te::compute(
          {1}, {"x"},
          [&](Var) {
            return has_one ? te::sum(a(r + u), {r, u}) : te::sum(a(r), {r});
          },
          "c");
      te::Schedule s = te::create_schedule(C);
      s[C].tensorize(k, loop_intrinsic(c));
      EXPECT_EQ(difference(s, {A, C}), "") << own_has_one << has_one;
    }
}

// ---- indices that are read ----------------------------------------------------------------------

TEST(IntrinsicMatching, IndicesThatAreReadGoByTheirReads) {
  te::Tensor A = te::placeholder({20}, "A"), I = te::placeholder({3, 8}, "I", Int(32));
  te::Tensor a = te::placeholder({20}, "a"), i0 = te::placeholder({8}, "i0", Int(32));
  auto limited = [](const Expr& e) { return max(min(e, 19), 0); };
  te::Tensor C = te::compute(
      {3, 8}, {"i", "j"}, [&](Var i, Var j) { return A(limited(I(i, j))) + 1.0f; }, "C");
  te::Tensor c = te::compute(
      {8}, {"x"}, [&](Var x) { return 1.0f + a(limited(i0(x))); }, "c");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].axis(1), loop_intrinsic(c));
  EXPECT_EQ(difference(s, {A, I, C}), "");
}

// ---- tails --------------------------------------------------------------------------------------

// Intrinsics where they do not fit: loops that they do not divide, on any number of axes, in stages
// computed inside of others, on memory of every kind. Each call is also compared with what it
// declares.

/// c[m, n] = sum over k of a[m, k] b[k, n], in another type than the operands'.
te::Tensor product(const te::Tensor& a, const te::Tensor& b, DataType type,
                   const std::string& name) {
  te::IterVar k = te::reduce_axis(Range(0, a.shape()[1]), "k");
  return te::compute(
      {a.shape()[0], b.shape()[1]}, {"i", "j"},
      [&](Var i, Var j) { return te::sum(cast(type, a(i, k)) * cast(type, b(k, j)), {k}); }, name);
}

const LoopIntrinsicOptions kWaysToResetLoops[] = {{}, {.body = false}, {.reset = false}};

void tile_product(const te::Stage& stage, int m, int n, int k, const te::TensorIntrin& intrin,
                  bool reduction_outermost = false) {
  auto [io, jo, ii, ji] = stage.tile(stage.axis(0), stage.axis(1), m, n);
  auto [ko, ki] = stage.split(stage.reduce_axis(0), k);
  if (reduction_outermost) {
    stage.reorder({ko, io, jo, ii, ji, ki});
  } else {
    stage.reorder({io, jo, ko, ii, ji, ki});
  }
  stage.tensorize(ii, intrin);
}

// ---- types --------------------------------------------------------------------------------------

struct TypesTest : ::testing::TestWithParam<std::tuple<DataType, DataType, DataType>> {};

TEST_P(TypesTest, ProductsWithTailsOnAllAxes) {
  const auto& [left, right, result] = GetParam();
  for (const LoopIntrinsicOptions& options : kWaysToResetLoops) {
    te::Tensor A = matrix(9, 11, "A", left), B = matrix(11, 21, "B", right);
    te::Tensor C = product(A, B, result, "C");
    te::Tensor c = product(matrix(4, 4, "a", left), matrix(4, 8, "b", right), result, "c");
    te::Schedule s = te::create_schedule(C);
    tile_product(s[C], 4, 8, 4, loop_intrinsic(c, options));
    EXPECT_EQ(difference(s, {A, B, C}), "");
  }
}

INSTANTIATE_TEST_SUITE_P(IntrinsicTails, TypesTest,
                         ::testing::Values(std::tuple(Float(32), Float(32), Float(32)),
                                           std::tuple(UInt(8), Int(8), Int(32)),
                                           std::tuple(Int(8), Int(8), Int(32)),
                                           std::tuple(Float(16), Float(16), Float(16)),
                                           std::tuple(Float(16), Float(16), Float(32)),
                                           std::tuple(BFloat(16), BFloat(16), Float(32)),
                                           std::tuple(Float(64), Float(64), Float(64)),
                                           std::tuple(Int(64), Int(64), Int(64))));

/// Four products of bytes in each of sixteen lanes: c[j] += sum over 4 of a[k] b[j, k], the weights
/// packed four by four.
TEST(IntrinsicTails, FourProductsOfBytesPerLane) {
  const DataType wide = Int(32);
  for (const auto& [rows, columns, depth] :
       {std::tuple(3, 32, 16), std::tuple(3, 40, 16), std::tuple(3, 32, 16), std::tuple(2, 39, 24)})
    for (const LoopIntrinsicOptions& options : kWaysToResetLoops) {
      te::Tensor A = matrix(rows, depth, "A", UInt(8)),
                 W = te::placeholder({depth / 4, columns, 4}, "W", Int(8));
      te::IterVar k = te::reduce_axis({0, depth}, "k");
      te::Tensor C = te::compute(
          {rows, columns}, {"i", "j"},
          [&](Var i, Var j) {
            return te::sum(cast(wide, A(i, k)) * cast(wide, W(floordiv(k, 4), j, floormod(k, 4))),
                           {k});
          },
          "C");
      te::Tensor a = te::placeholder({4}, "a", UInt(8)), w = matrix(16, 4, "w", Int(8));
      te::IterVar r = te::reduce_axis({0, 4}, "r");
      te::Tensor c = te::compute(
          {16}, {"x"}, [&](Var x) { return te::sum(cast(wide, a(r)) * cast(wide, w(x, r)), {r}); },
          "c");
      te::Schedule s = te::create_schedule(C);
      auto [jo, ji] = s[C].split(s[C].axis(1), 16);
      auto [ko, ki] = s[C].split(k, 4);
      s[C].reorder({jo, ko, ji, ki}).tensorize(ji, loop_intrinsic(c, options));
      EXPECT_EQ(difference(s, {A, W, C}), "") << columns << " " << depth;
    }
}

// ---- tails --------------------------------------------------------------------------------------

struct TailsTest : ::testing::TestWithParam<std::tuple<int, int, int, bool>> {};

TEST_P(TailsTest, OnAnyNumberOfAxes) {
  const auto [m, n, l, reduction_outermost] = GetParam();
  for (const LoopIntrinsicOptions& options : kWaysToResetLoops) {
    te::Tensor A = matrix(m, l, "A"), B = matrix(l, n, "B"), C = product(A, B, Float(32), "C");
    te::Tensor c = product(matrix(3, 4, "a"), matrix(4, 5, "b"), Float(32), "c");
    te::Schedule s = te::create_schedule(C);
    tile_product(s[C], 3, 5, 4, loop_intrinsic(c, options), reduction_outermost);
    EXPECT_EQ(difference(s, {A, B, C}), "");
  }
}

INSTANTIATE_TEST_SUITE_P(IntrinsicTails, TailsTest,
                         ::testing::Combine(::testing::Values(6, 7), ::testing::Values(10, 11),
                                            ::testing::Values(8, 10), ::testing::Bool()));

TEST(IntrinsicTails, OfSizesThatAreKnownWhenCalled) {
  Var m = te::size_var("m"), n = te::size_var("n"), l = te::size_var("l");
  for (const LoopIntrinsicOptions& options : kWaysToResetLoops) {
    te::Tensor A = matrix(m, l, "A"), B = matrix(l, n, "B"), C = product(A, B, Float(32), "C");
    te::Tensor c = product(matrix(3, 4, "a"), matrix(4, 5, "b"), Float(32), "c");
    te::Schedule s = te::create_schedule(C);
    tile_product(s[C], 3, 5, 4, loop_intrinsic(c, options));
    EXPECT_EQ(difference(s, {A, B, C}, {.symbols = {1, 2, 5, 12, 13}}), "");
  }
}

/// A convolution whose channels are reduced in fours, with a window around.
TEST(IntrinsicTails, OfOneOfSeveralReductionAxes) {
  te::Tensor X = te::placeholder({9, 10, 6}, "X"), W = te::placeholder({3, 3, 6, 10}, "W");
  te::IterVar kh = te::reduce_axis({0, 3}, "kh"), kw = te::reduce_axis({0, 3}, "kw"),
              ci = te::reduce_axis({0, 6}, "ci");
  te::Tensor Y = te::compute(
      {7, 8, 10}, {"h", "w", "co"},
      [&](Var h, Var w, Var co) {
        return te::sum(X(h + kh, w + kw, ci) * W(kh, kw, ci, co), {ci, kh, kw});
      },
      "Y");
  te::Tensor x = te::placeholder({4}, "x"), w = matrix(4, 8, "w");
  te::IterVar r = te::reduce_axis({0, 4}, "r");
  te::Tensor y = te::compute(
      {8}, {"c"}, [&](Var c) { return te::sum(x(r) * w(r, c), {r}); }, "y");
  for (const LoopIntrinsicOptions& options : kWaysToResetLoops) {
    te::Schedule s = te::create_schedule(Y);
    auto [co, coi] = s[Y].split(s[Y].axis(2), 8);
    auto [cio, cii] = s[Y].split(ci, 4);
    s[Y].reorder({co, kh, cio, kw, coi, cii}).tensorize(coi, loop_intrinsic(y, options));
    EXPECT_EQ(difference(s, {X, W, Y}), "");
  }
}

TEST(IntrinsicTails, OfConditionsAndOwnReducers) {
  auto smallest = te::comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) -> std::vector<Expr> {
        const Expr first = x[1] <= y[1];
        return {select(first, x[0], y[0]), select(first, x[1], y[1])};
      },
      [](std::span<const DataType> t) -> std::vector<Expr> {
        return {make_const(t[0], 0), max_value(t[1])};
      },
      "argmin");
  using Pair = std::vector<Expr>;
  for (int columns : {16, 19}) {
    te::Tensor I = matrix(5, columns, "I", Int(32)), V = matrix(5, columns, "V");
    te::IterVar k = te::reduce_axis({0, columns}, "k"), r = te::reduce_axis({0, 8}, "r");
    std::vector<te::Tensor> C = te::compute_multi(
        {5}, {"i"},
        [&](Var i) {
          return smallest(Pair{I(i, k), V(i, k)}, {k}, {.where = V(i, k) != 0.25f});
        },
        "C");
    te::Tensor a = te::placeholder({8}, "a", Int(32)), v = te::placeholder({8}, "v");
    std::vector<te::Tensor> c = te::compute_multi(
        {1}, {"x"},
        [&](Var) {
          return smallest(Pair{a(r), v(r)}, {r}, {.where = v(r) != 0.25f});
        },
        "c");
    for (const LoopIntrinsicOptions& options : kWaysToResetLoops) {
      te::Schedule s = te::create_schedule(C[0]);
      s[C[0]].tensorize(s[C[0]].split(k, 8).inner, loop_intrinsic(c[0], options));
      EXPECT_EQ(difference(s, {I, V, C[0], C[1]}), "") << columns;
    }
  }
}

TEST(IntrinsicTails, OfReductionsThatStartFromATensor) {
  for (const auto& [columns, depth] : {std::pair(8, 12), std::pair(11, 14)})
    for (const LoopIntrinsicOptions& options : kWaysToResetLoops) {
      te::Tensor A = matrix(6, depth, "A"), B = matrix(depth, columns, "B"),
                 S = matrix(6, columns, "S");
      te::IterVar k = te::reduce_axis({0, depth}, "k"), r = te::reduce_axis({0, 4}, "r");
      te::Tensor C = te::compute(
          {6, columns}, {"i", "j"},
          [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}, {.init = {S(i, j)}}); }, "C");
      te::Tensor a = matrix(2, 4, "a"), b = matrix(4, 4, "b"), start = matrix(2, 4, "start");
      te::Tensor c = te::compute(
          {2, 4}, {"x", "y"},
          [&](Var x, Var y) { return te::sum(a(x, r) * b(r, y), {r}, {.init = {start(x, y)}}); },
          "c");
      te::Schedule s = te::create_schedule(C);
      tile_product(s[C], 2, 4, 4, loop_intrinsic(c, options));
      EXPECT_EQ(difference(s, {A, B, S, C}), "") << columns;
    }
}

/// c[0] = sum over four of a.
te::Tensor sum_of_four() {
  te::Tensor a = te::placeholder({4}, "a");
  te::IterVar r = te::reduce_axis({0, 4}, "r");
  return te::compute(
      {1}, {"x"}, [&](Var) { return te::sum(a(r), {r}); }, "c");
}

TEST(IntrinsicTails, OfReductionsWhoseLengthDependsOnTheRow) {
  te::Tensor A = matrix(13, 16, "A"), L = te::placeholder({13}, "L", Int(32));
  const std::function<Expr(Var)> lengths[] = {[](Var i) { return i + 1; },
                                              [&](Var i) { return max(min(L(i), 16), 0); }};
  for (const auto& length : lengths)
    for (const LoopIntrinsicOptions& options : kWaysToResetLoops) {
      te::Tensor C = te::compute(
          {13}, {"i"},
          [&](Var i) {
            te::IterVar k = te::reduce_axis(Range(0, length(i)), "k");
            return te::sum(A(i, k), {k});
          },
          "C");
      te::Schedule s = te::create_schedule(C);
      s[C].tensorize(s[C].split(s[C].reduce_axis(0), 4).inner,
                     loop_intrinsic(sum_of_four(), options));
      std::vector<LowerArgument> args{A, L, C};
      if (C.op().inputs().size() == 1) args.erase(args.begin() + 1);
      EXPECT_EQ(difference(s, args), "");
    }
}

TEST(IntrinsicTails, OfReductionsThatDoNotBeginAtZero) {
  te::Tensor A = te::placeholder({20}, "A");
  te::IterVar k = te::reduce_axis({3, 17}, "k");
  te::Tensor C = te::compute(
      {}, {}, [&] { return te::sum(A(k), {k}); }, "C");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].split(k, 4).inner, loop_intrinsic(sum_of_four()));
  EXPECT_EQ(difference(s, {A, C}), "");
}

// ---- stages inside of others --------------------------------------------------------------------

te::Tensor scaled(const te::Tensor& x, int rows, int columns, const std::string& name) {
  return te::compute(
      {rows, columns}, {"i", "j"}, [&](Var i, Var j) { return x(i, j) * 2.0f; }, name);
}

TEST(IntrinsicTails, OfAStageThatIsComputedWithAMargin) {
  for (int width : {20, 23}) {
    te::Tensor A = matrix(12, width + 2, "A");
    te::Tensor B = scaled(A, 12, width + 2, "B");
    te::Tensor C = te::compute(
        {10, width}, {"i", "j"},
        [&](Var i, Var j) { return B(i, j) + B(i + 1, j + 1) + B(i + 2, j + 2); }, "C");
    for (bool is_inner : {false, true}) {
      te::Schedule s = te::create_schedule(C);
      auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 4, 8);
      s[B].compute_at(s[C], is_inner ? jo : io);
      auto [yo, xo, yi, xi] = s[B].tile(s[B].axis(0), s[B].axis(1), 3, 4);
      s[B].tensorize(yi, loop_intrinsic(scaled(matrix(3, 4, "a"), 3, 4, "b")));
      EXPECT_EQ(difference(s, {A, C}), "") << width << is_inner;
    }
  }
}

TEST(IntrinsicTails, OfInputsAndOutputsInOtherScopes) {
  te::Tensor A = matrix(10, 14, "A"), B = matrix(14, 19, "B"), C = product(A, B, Float(32), "C");
  te::Tensor c = product(matrix(4, 4, "a"), matrix(4, 8, "b"), Float(32), "c");
  for (LoopIntrinsicOptions options : kWaysToResetLoops) {
    options.scope_of = [](const te::Tensor& t) { return t.name() == "c" ? "local" : "shared"; };
    te::Schedule s = te::create_schedule(C);
    te::Tensor local = s.cache_write(C, "local");
    te::Tensor AS = s.cache_read(A, "shared", {local.op()}),
               BS = s.cache_read(B, "shared", {local.op()});
    auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 8, 16);
    s[local].compute_at(s[C], jo);
    tile_product(s[local], 4, 8, 4, loop_intrinsic(c, options));
    s[AS].compute_at(s[local], s[local].leaf_iter_vars()[2]);
    s[BS].compute_at(s[C], jo).storage_align(s[BS].axis(0), 16, 4);
    EXPECT_EQ(difference(s, {A, B, C}), "");
  }
}

TEST(IntrinsicTails, OfABufferThatIsWrittenTwice) {
  te::Tensor A = matrix(10, 18, "A");
  te::Tensor B = scaled(A, 10, 18, "B"), C = scaled(B, 10, 18, "C");
  te::Schedule s = te::create_schedule(C);
  auto [jo, ji] = s[C].split(s[C].axis(1), 4);
  s[B].compute_at(s[C], s[C].axis(0)).set_scope("local").double_buffer();
  te::Tensor row = te::compute(
      {4}, {"x"}, [a = te::placeholder({4}, "a")](Var x) { return a(x) * 2.0f; }, "row");
  s[B].tensorize(s[B].split(s[B].axis(1), 4).inner, loop_intrinsic(row));
  s[C].tensorize(ji, loop_intrinsic(row));
  EXPECT_EQ(difference(s, {A, C}), "");
}

TEST(IntrinsicTails, OfABufferThatRolls) {
  te::Tensor A = matrix(12, 22, "A"), B = scaled(A, 12, 22, "B");
  te::Tensor C = te::compute(
      {10, 22}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) + B(i + 1, j) + B(i + 2, j); }, "C");
  te::Schedule s = te::create_schedule(C);
  s[B].compute_at(s[C], s[C].axis(0)).rolling_buffer();
  te::Tensor row = te::compute(
      {4}, {"x"}, [a = te::placeholder({4}, "a")](Var x) { return a(x) * 2.0f; }, "row");
  s[B].tensorize(s[B].split(s[B].axis(1), 4).inner, loop_intrinsic(row));
  EXPECT_EQ(difference(s, {A, C}), "");
}

/// Loads and stores of an accelerator: tiles copied in and out of its memory.
TEST(IntrinsicTails, OfCopiesBetweenScopes) {
  te::Tensor A = matrix(10, 18, "A"), B = scaled(A, 10, 18, "B"), a = matrix(4, 8, "a");
  te::Tensor copy = te::compute(
      {4, 8}, {"x", "y"}, [&](Var x, Var y) { return a(x, y); }, "copy");
  auto between = [&](const std::string& from, const std::string& to) {
    return loop_intrinsic(
        copy, {.scope_of = [=](const te::Tensor& t) { return t.name() == "a" ? from : to; }});
  };
  te::Schedule s = te::create_schedule(B);
  te::Tensor result = s.cache_write(B, "local");
  te::Tensor input = s.cache_read(A, "shared", {result.op()});
  auto [io, jo, ii, ji] = s[B].tile(s[B].axis(0), s[B].axis(1), 4, 8);
  s[result].compute_at(s[B], jo);
  s[input].compute_at(s[B], jo);
  auto [yo, xo, yi, xi] = s[input].tile(s[input].axis(0), s[input].axis(1), 4, 8);
  s[input].tensorize(yi, between("global", "shared"));
  s[B].tensorize(ii, between("local", "global"));
  EXPECT_EQ(difference(s, {A, B}), "");
}

TEST(IntrinsicTails, OfWhatIsInlined) {
  te::Tensor A = matrix(11, 13, "A"), B = matrix(13, 9, "B");
  te::Tensor moved = te::compute(
      {10, 13}, {"i", "k"}, [&](Var i, Var k) { return A(i + 1, 12 - k); }, "moved");
  te::Tensor turned = te::compute(
      {10, 13}, {"i", "k"}, [&](Var i, Var k) { return moved(i, 12 - k); }, "turned");
  te::Tensor C = product(turned, B, Float(32), "C");
  te::Tensor D = te::compute(
      {10, 9}, {"i", "j"}, [&](Var i, Var j) { return C(i, j) + 1.0f; }, "D");
  te::Tensor c = product(matrix(4, 4, "a"), matrix(4, 4, "b"), Float(32), "c");
  te::Schedule s = te::create_schedule(D);
  s[moved].compute_inline();
  s[turned].compute_inline();
  auto [io, jo, ii, ji] = s[D].tile(s[D].axis(0), s[D].axis(1), 8, 8);
  s[C].compute_at(s[D], jo);
  tile_product(s[C], 4, 4, 4, loop_intrinsic(c));
  EXPECT_EQ(difference(s, {A, B, D}), "");
}

TEST(IntrinsicTails, OfLoopsThatAreFused) {
  te::Tensor A = matrix(7, 10, "A"), B = scaled(A, 7, 10, "B");
  te::Tensor b = te::compute(
      {4}, {"x"}, [a = te::placeholder({4}, "a")](Var x) { return a(x) * 2.0f; }, "b");
  te::Schedule s = te::create_schedule(B);
  auto [jo, ji] = s[B].split(s[B].axis(1), 4);
  const te::IterVar fused = s[B].fuse(s[B].axis(0), jo);
  s[B].parallel(fused).tensorize(ji, loop_intrinsic(b));
  EXPECT_EQ(difference(s, {A, B}), "");
}

// ---- memory -------------------------------------------------------------------------------------

TEST(IntrinsicTails, OffsetsThatAreMultiples) {
  te::Tensor A = matrix(6, 44, "A"), B = scaled(A, 6, 44, "B");
  te::Tensor b = te::compute(
      {4}, {"x"}, [a = te::placeholder({4}, "a")](Var x) { return a(x) * 2.0f; }, "b");
  for (int factor : {1, 2, 4}) {
    te::Schedule s = te::create_schedule(B);
    s[B].tensorize(s[B].split(s[B].axis(1), 4).inner, loop_intrinsic(b, {.offset_factor = factor}));
    EXPECT_EQ(difference(s, {A, B}), "") << factor;
  }
}

TEST(IntrinsicTails, ArgumentsWithStridesOfTheirOwn) {
  Var n = te::size_var("n"), m = te::size_var("m");
  te::Tensor A = te::placeholder({n, m}, "A");
  te::Tensor B = te::compute(
      {n, m}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f; }, "B");
  te::Schedule s = te::create_schedule(B);
  auto [io, jo, ii, ji] = s[B].tile(s[B].axis(0), s[B].axis(1), 3, 4);
  s[B].tensorize(ii, loop_intrinsic(scaled(matrix(3, 4, "a"), 3, 4, "b")));
  EXPECT_EQ(difference(s, {A, B}, {.symbols = {2, 3, 4, 7, 12}}), "");
}

/// C = 2 B = 4 A, with B stored by columns.
struct StoredByColumns {
  te::Tensor A = matrix(8, 18, "A"), B = scaled(A, 8, 18, "B"), C = scaled(B, 8, 18, "C");
  te::Schedule s = te::create_schedule(C);
  std::vector<te::IterVar> loops = s[B].transform_layout([](Var i, Var j) {
    return std::vector<Expr>{j, i};
  });
};

TEST(IntrinsicTails, AnInputIsReadInTheLayoutInWhichItIsStored) {
  const StoredByColumns p;
  te::Tensor b = te::compute(
      {4, 2}, {"x", "y"}, [a = matrix(2, 4, "a")](Var x, Var y) { return a(y, x) * 2.0f; }, "b");
  auto [io, jo, ii, ji] = p.s[p.C].tile(p.s[p.C].axis(0), p.s[p.C].axis(1), 4, 2);
  p.s[p.C].tensorize(ii, loop_intrinsic(b));
  EXPECT_EQ(difference(p.s, {p.A, p.C}), "");
}

/// An intrinsic writes its output as a block.
TEST(IntrinsicTails, OutputsWithALayoutOfTheirOwnAreRefused) {
  const StoredByColumns p;
  auto [jo, io, ji, ii] = p.s[p.B].tile(p.loops[0], p.loops[1], 2, 4);
  p.s[p.B].tensorize(ji, loop_intrinsic(scaled(matrix(4, 2, "a"), 4, 2, "b")));
  EXPECT_THROW(difference(p.s, {p.A, p.C}), ScheduleError);
}

TEST(IntrinsicTails, TruthValues) {
  te::Tensor A = matrix(6, 18, "A"), B = matrix(6, 18, "B"), a = te::placeholder({4}, "a"),
             b = te::placeholder({4}, "b");
  te::Tensor C = te::compute(
      {6, 18}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) > B(i, j); }, "C");
  te::Tensor c = te::compute(
      {4}, {"x"}, [&](Var x) { return b(x) < a(x); }, "c");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].split(s[C].axis(1), 4).inner, loop_intrinsic(c));
  EXPECT_EQ(difference(s, {A, B, C}), "");
}

TEST(IntrinsicTails, SizesThatTheIntrinsicTakesFromItsPart) {
  Var m = te::var("m"), n = te::var("n"), l = te::var("l");
  te::Tensor c = product(matrix(m, l, "a"), matrix(l, n, "b"), Float(32), "c");
  te::Tensor A = matrix(14, 10, "A"), B = matrix(10, 14, "B"), C = product(A, B, Float(32), "C");
  te::Schedule s = te::create_schedule(C);
  tile_product(s[C], 4, 3, 4, loop_intrinsic(c));
  EXPECT_EQ(difference(s, {A, B, C}), "");
}

// ---- vectors as elements ------------------------------------------------------------------------

TEST(IntrinsicTails, ElementsThatAreVectors) {
  const DataType type = Float(32, 4);
  te::Tensor A = matrix(5, 10, "A", type), B = matrix(5, 10, "B", type);
  te::Tensor C = te::compute(
      {5, 10}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * B(i, j) + A(i, j); }, "C");
  te::Tensor a = te::placeholder({4}, "a", type), b = te::placeholder({4}, "b", type);
  te::Tensor c = te::compute(
      {4}, {"x"}, [&](Var x) { return a(x) + b(x) * a(x); }, "c");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].split(s[C].axis(1), 4).inner, loop_intrinsic(c));
  EXPECT_EQ(difference(s, {A, B, C}), "");
}

// ---- progress of reductions ---------------------------------------------------------------------

// Intrinsics without a reset compute the first step of a reduction: loops that are fused of data
// and reduction must come to it first.

enum class Order { OfTheIterations, PartsExchanged };

/// Sums of eight times eleven elements; the outer loop of the second axis is fused with the data
/// and split in two. The intrinsic takes three steps of the first one.
struct FusedSums {
  te::Tensor A = te::placeholder({5, 33}, "A", Int(32));
  te::IterVar k0 = te::reduce_axis({0, 8}, "k0"), k1 = te::reduce_axis({0, 11}, "k1");
  te::Tensor T = te::compute(
      {13}, {"i"},
      [&](Var) {
        return te::sum(A(floordiv(k1, 3), k1 + 8), {k0, k1});
      },
      "T");
  te::Schedule s = te::create_schedule({T});

  void schedule(Order order, bool has_reset) {
    te::Stage t = s[T];
    auto [ko, ki] = t.split(k1, 3);
    auto [k0o, k0i] = t.split(k0, 3);
    t.reorder({k0o, ki, ko, t.axis(0), k0i});
    const te::IterVar fused = t.fuse(ko, t.axis(0));
    auto [fo, fi] = t.split(fused, 2);
    if (order == Order::PartsExchanged) t.reorder({fi, fo});
    const te::StageGraph graph = te::freeze(s);
    const auto part = testing::declared_part(graph.stage(*graph.find(t.op())).op, {1, 3, 1},
                                             [](int) { return true; });
    testing::LoopIntrinsicOptions options{.strides = testing::LoopIntrinsicOptions::Strides::Any};
    options.reset = has_reset;
    t.tensorize(k0i, testing::loop_intrinsic(part->front(), options));
  }
};

TEST(IntrinsicProgress, IsThatOfTheAxesWhereLoopsAreFused) {
  FusedSums sums;
  sums.schedule(Order::OfTheIterations, false);
  EXPECT_EQ(testing::compare_with_default(sums.s, {sums.A, sums.T}, {.compile = true}), "");
}

TEST(IntrinsicProgress, AFirstStepThatComesLateIsRefused) {
  FusedSums sums;
  sums.schedule(Order::PartsExchanged, false);
  try {
    lower(sums.s, {sums.A, sums.T});
    FAIL() << "element 1 comes to its step 14 before its step 1";
  } catch (const ScheduleError& error) {
    EXPECT_NE(std::string(error.what()).find("reach later steps of some elements"),
              std::string::npos)
        << error.what();
  }
}

TEST(IntrinsicProgress, AResetDoesNotMindTheOrder) {
  FusedSums sums;
  sums.schedule(Order::PartsExchanged, true);
  EXPECT_EQ(testing::compare_with_default(sums.s, {sums.A, sums.T}, {.compile = true}), "");
}

/// One reduction may be empty; another, which is shorter than its factor, is fused with data.
TEST(IntrinsicProgress, OfAShortReductionThatIsFusedBesideAnEmptyOne) {
  const Var n = te::size_var("n");
  te::Tensor A = te::placeholder({13, n}, "A", Int(16));
  const te::IterVar k = te::reduce_axis({0, n}, "k"), one = te::reduce_axis({0, 1}, "one"),
                    l = te::reduce_axis({0, 3}, "l");
  te::Tensor T = te::compute(
      {13}, {"i"},
      [&](Var i) {
        return te::max(A(i, k) + cast(Int(16), one), {k, one, l});
      },
      "T");
  te::Tensor a = te::placeholder({1, 1}, "a", Int(16));
  const te::IterVar m = te::reduce_axis({0, 3}, "m");
  te::Tensor c = te::compute(
      {1}, {"i"}, [&](Var) { return te::max(a(0, 0), {m}); }, "c");
  te::Schedule s = te::create_schedule(T);
  const auto rows = s[T].split(T.op().axis()[0], 8);
  const auto parts = s[T].split(one, 2);
  s[T].reorder({rows.outer, parts.outer, rows.inner, parts.inner});
  s[T].fuse(rows.inner, parts.inner);
  s[T].tensorize(l, testing::loop_intrinsic(c, {.reset = false}));
  EXPECT_EQ(testing::compare_with_default(s, {n, A, T}, {.symbols = {0, 1, 2}}), "");
}

/// Extents of int64, and an intrinsic whose own are int32.
TEST(IntrinsicProgress, OfAReductionThatCountsIn64Bits) {
  const Expr rows = make_const(Int(64), 12), columns = make_const(Int(64), 16);
  te::Tensor A = te::placeholder({rows, columns}, "A"), x = te::placeholder({columns}, "x");
  const te::IterVar k =
      te::reduce_axis(Range::from_min_extent(make_const(Int(64), 0), columns), "k");
  te::Tensor y = te::compute(
      {rows}, {"i"}, [&](Var i) { return te::sum(A(i, k) * x(k), {k}); }, "y");
  te::Tensor a = te::placeholder({4}, "a"), b = te::placeholder({4}, "b");
  const te::IterVar l = te::reduce_axis({0, 4}, "l");
  te::Tensor c = te::compute(
      {1}, {"i"}, [&](Var) { return te::sum(a(l) * b(l), {l}); }, "c");
  te::Schedule s = te::create_schedule(y);
  s[y].tensorize(s[y].split(s[y].reduce_axis(0), 4).inner, testing::loop_intrinsic(c));
  EXPECT_EQ(testing::compare_with_default(s, {A, x, y}), "");
}

}  // namespace
}  // namespace tenon::testing
