// Checks tensorized stages: how often the intrinsic is called and with what, and which loops
// remain.
#include <gtest/gtest.h>

#include <set>

#include "tenon/te/freeze.h"
#include "tenon/te/reduce.h"
#include "tenon/tir/walk.h"
#include "tests/common/run_schedule.h"

namespace tenon::te::testing {
namespace {

using Buffers = std::span<const tir::Buffer>;

Stmt calls(const std::string& function, const std::vector<Expr>& args) {
  return tir::make_evaluate(tir::make_call(Int(32), tir::ExternCallee{function, false}, args));
}

struct Call {
  std::string function;
  std::vector<std::int64_t> args;
};

struct Ran {
  std::vector<Call> calls;
  int stores = 0;
};

/// Runs the loops; what is called does nothing.
Ran ran(const Schedule& s, const std::vector<Tensor>& tensors) {
  const StageGraph graph = freeze(s);
  const tir::PrimFunc func = schedule_ops(
      graph, infer_bound(graph), std::vector<FunctionArgument>(tensors.begin(), tensors.end()));
  std::vector<Array> arrays;
  std::vector<tir::HostValue> values;
  for (const Tensor& tensor : tensors) {
    std::vector<std::int64_t> shape;
    std::int64_t count = 1;
    for (const Expr& extent : tensor.shape())
      shape.push_back(value_of(extent, {})), count *= shape.back();
    arrays.emplace_back(static_cast<std::size_t>(count));
    values.push_back(tir::HostArray{arrays.back().data(), tensor.dtype(), shape});
  }
  Ran result;
  tir::evaluate(func, values,
                {.on_access = [&](const tir::Access& access) { result.stores += access.is_write; },
                 .call_extern =
                     [&](const std::string& name, std::span<const tir::HostValue> args) {
                       Call call{name, {}};
                       for (const tir::HostValue& arg : args)
                         call.args.push_back(std::get<std::int64_t>(arg));
                       result.calls.push_back(std::move(call));
                       return 0.0;
                     }});
  return result;
}

TEST(Tensorize, WhatTheIntrinsicDoesNotDivideStaysInLoops) {
  Tensor A = placeholder({131}, "A"), a = placeholder({128}, "a");
  Tensor B = compute(
      {131}, {"i"}, [&](Var i) { return abs(A(i)); }, "B");
  Tensor b = compute(
      {128}, {"i"}, [&](Var i) { return abs(a(i)); }, "b");
  TensorIntrin intrin =
      decl_tensor_intrin(b.op(), [](Buffers ins, Buffers outs) -> TensorIntrinBody {
        return {.body = calls("vabs", {outs[0].access_ptr("w"), ins[0].access_ptr("r")})};
      });
  Schedule s = create_schedule(B);
  s[B].tensorize(s[B].split(s[B].axis(0), 128).inner, intrin);
  const Ran result = ran(s, {A, B});
  EXPECT_EQ(result.calls.size(), 1u);
  EXPECT_EQ(result.stores, 3);
}

TEST(Tensorize, VariablesOfTheIntrinsicsShapesGetTheirValues) {
  Tensor A = placeholder({6, 40}, "A");
  Var n = var("n"), m = var("m");
  Tensor a = placeholder({m, n}, "a");
  Tensor b = compute(
      {m, n}, {"i", "j"}, [&](Var i, Var j) { return a(i, j) + 1.0f; }, "b");
  auto code = [&](Buffers ins, Buffers outs) -> TensorIntrinBody {
    return {.body = calls("inc", {m, n, ins[0].strides()[0], outs[0].strides()[0]})};
  };
  auto rows = [](const Tensor& t) {
    return tir::decl_buffer(t.shape(), t.dtype(), {.strides = {var("s"), 1}, .offset_factor = 1});
  };
  TensorIntrin intrin = decl_tensor_intrin(b.op(), code, {.binds = {{a, rows(a)}, {b, rows(b)}}});
  Tensor B = compute(
      {6, 40}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  Schedule s = create_schedule(B);
  auto [io, jo, ii, ji] = s[B].tile(s[B].axis(0), s[B].axis(1), 3, 8);
  s[B].tensorize(ii, intrin);
  const Ran result = ran(s, {A, B});
  ASSERT_EQ(result.calls.size(), 10u);
  for (const Call& call : result.calls)
    EXPECT_EQ(call.args, (std::vector<std::int64_t>{3, 8, 40, 40}));
}

TEST(Tensorize, InputsThatAreOneTensorHaveRegionsOfTheirOwn) {
  Tensor A = placeholder({4, 6}, "A"), a = placeholder({2, 6}, "a"), b = placeholder({2, 6}, "b");
  IterVar k = reduce_axis({0, 6}, "k"), r = reduce_axis({0, 6}, "r");
  Tensor C = compute(
      {4, 4}, {"i", "j"}, [&](Var i, Var j) { return sum(A(i, k) * A(j, k), {k}); }, "C");
  Tensor c = compute(
      {2, 2}, {"x", "y"}, [&](Var x, Var y) { return sum(a(x, r) * b(y, r), {r}); }, "c");
  auto rows = [](const Tensor& t) {
    return tir::decl_buffer(t.shape(), t.dtype(), {.strides = {var("s"), 1}, .offset_factor = 1});
  };
  auto code = [](Buffers ins, Buffers) -> TensorIntrinBody {
    return {.body = calls("product", {ins[0]->elem_offset, ins[1]->elem_offset})};
  };
  TensorIntrin intrin =
      decl_tensor_intrin(c.op(), code, {.binds = {{a, rows(a)}, {b, rows(b)}, {c, rows(c)}}});
  Schedule s = create_schedule(C);
  auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 2, 2);
  s[C].tensorize(ii, intrin);
  std::vector<std::vector<std::int64_t>> offsets;
  for (const Call& call : ran(s, {A, C}).calls) offsets.push_back(call.args);
  EXPECT_EQ(offsets, (std::vector<std::vector<std::int64_t>>{{0, 0}, {0, 12}, {12, 0}, {12, 12}}));
}

TEST(Tensorize, OneResetInFrontOfAllUpdates) {
  Tensor A = placeholder({4, 32}, "A"), a = placeholder({8}, "a");
  IterVar k = reduce_axis({0, 32}, "k"), r = reduce_axis({0, 8}, "r");
  Tensor B = compute(
      {4}, {"i"}, [&](Var i) { return sum(A(i, k), {k}); }, "B");
  Tensor b = compute(
      {1}, {"i"}, [&](Var) { return sum(a(r), {r}); }, "b");
  for (bool has_reset : {false, true}) {
    TensorIntrin intrin = decl_tensor_intrin(b.op(), [&](Buffers, Buffers) -> TensorIntrinBody {
      TensorIntrinBody all{.body = calls("body", {}), .update = calls("update", {})};
      if (has_reset) all.reset = calls("reset", {});
      return all;
    });
    Schedule s = create_schedule(B);
    s[B].tensorize(s[B].split(k, 8).inner, intrin);
    std::vector<std::string> expected;
    for (int i = 0; i < 4; ++i)
      for (int n = has_reset ? -1 : 0; n < 4; ++n)
        expected.push_back(n < 0 ? "reset" : n == 0 && !has_reset ? "body" : "update");
    std::vector<std::string> actual;
    for (const Call& call : ran(s, {A, B}).calls) actual.push_back(call.function);
    EXPECT_EQ(actual, expected);
  }
}

TEST(Tensorize, EachUseOfTheCodeDefinesItsOwnVariables) {
  Tensor A = placeholder({4, 8}, "A"), a = placeholder({8}, "a");
  auto next = [](const Tensor& x) {
    return compute({4, 8}, {"i", "j"}, [&](Var i, Var j) { return x(i, j) + 1.0f; });
  };
  Tensor b = compute(
      {8}, {"i"}, [&](Var i) { return a(i) + 1.0f; }, "b");
  TensorIntrin intrin =
      decl_tensor_intrin(b.op(), [](Buffers ins, Buffers outs) -> TensorIntrinBody {
        Var l("l");
        const Stmt store = tir::make_store(outs[0], ins[0]({l}) + 1.0f, {l});
        return {.body = tir::make_stmt(tir::For{l, 0, 8, tir::ForKind::Serial, store})};
      });
  Tensor B = next(A), C = next(B);
  Schedule s = create_schedule(C);
  s[B].tensorize(s[B].axis(1), intrin);
  s[C].tensorize(s[C].axis(1), intrin);
  std::set<const tir::ExprNode*> loops;
  int count = 0;
  tir::walk(schedule_ops(s, infer_bound(s)), [&](const tir::For& loop) {
    loops.insert(&loop.var.node());
    ++count;
  });
  EXPECT_EQ(count, 4);
  EXPECT_EQ(loops.size(), 4u);
}

TEST(TensorCompute, NeedsWhatItsRegionsSpan) {
  Tensor A = placeholder({20, 20}, "A");
  Tensor B = compute(
      {20, 20}, {"i", "j"}, [&](Var i, Var j) { return A(i, j); }, "B");
  Var m = var("m"), n = var("n");
  Tensor a = placeholder({m, n}, "a");
  Tensor c = compute(
      {1, n}, {"i", "j"}, [&](Var, Var j) { return a(0, j) + a(1, j) + a(2, j); }, "c");
  TensorIntrin intrin =
      decl_tensor_intrin(c.op(), [](Buffers ins, Buffers outs) -> TensorIntrinBody {
        return {.body = calls("test", {outs[0].access_ptr("w"), ins[0].access_ptr("r")})};
      });
  Tensor C = tensor_compute(
      {10, 20}, {"i"},
      [&](Var i) {
        return intrin({B.region({Range(i, 10), Range(0, 20)})});
      },
      "C");
  const Schedule s = create_schedule(C);
  const Bounds bounds = infer_bound(s);
  EXPECT_EQ(tir::constant_int(bounds[B.op().axis(0)].extent), 10);
  EXPECT_EQ(tir::constant_int(bounds[B.op().axis(1)].extent), 20);
}

/// C[i, :] = A[first(i) : first(i) + 16] * factor(i), by an intrinsic.
template <class First, class Factor>
Tensor scaled_rows(const Tensor& A, First first, Factor factor) {
  Var n("n");
  Tensor a = placeholder({16}, "a");
  Tensor c = compute(
      {16}, {"j"}, [&](Var j) { return a(j) * n.astype(Float(32)); }, "c");
  TensorIntrin scale = decl_tensor_intrin(
      c.op(),
      [&](Buffers ins, Buffers outs) -> TensorIntrinBody {
        return {.body = calls("scale", {outs[0].access_ptr("w"), ins[0].access_ptr("r"), n})};
      },
      {.scalar_params = {n}});
  return tensor_compute(
      {6, 16}, {"i"},
      [&](Var i) {
        return scale({A.region({Range::from_min_extent(first(i), 16)})}, {.scalars = {factor(i)}});
      },
      "C");
}

TEST(TensorCompute, NeedsTheElementsThatItsScalarsAre) {
  Tensor A = placeholder({16}, "A");
  Tensor S = compute(
      {20}, {"i"}, [&](Var i) { return i * 3; }, "S");
  Tensor C = scaled_rows(
      A, [](Var) { return Expr(0); }, [&](Var i) { return S(i + 10); });
  Tensor D = compute(
      {1}, {"i"}, [&](Var i) { return S(i); }, "D");
  const Bounds bounds = infer_bound(create_schedule({C, D}));
  EXPECT_EQ(tir::constant_int(bounds[S.op().axis(0)].min), 0);
  EXPECT_EQ(tir::constant_int(bounds[S.op().axis(0)].extent), 16);
}

TEST(TensorCompute, NeedsTheElementsThatItsRegionsStartAt) {
  Tensor A = placeholder({64}, "A");
  Tensor S = compute(
      {20}, {"i"}, [&](Var i) { return i * 3; }, "S");
  Tensor C = scaled_rows(
      A, [&](Var i) { return S(i + 7); }, [&](Var) { return Expr(1); });
  const Bounds bounds = infer_bound(create_schedule(C));
  EXPECT_EQ(tir::constant_int(bounds[S.op().axis(0)].min), 7);
  EXPECT_EQ(tir::constant_int(bounds[S.op().axis(0)].extent), 6);
}

}  // namespace
}  // namespace tenon::te::testing
