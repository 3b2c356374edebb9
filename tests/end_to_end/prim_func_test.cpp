// Operations as functions and functions as operations: whatever way a function came about, it
// computes what its operations do.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

/// One way to run a function of some arguments.
using Way = std::function<void(const Arguments&)>;

Way interpreted(const tir::PrimFunc& func) {
  return [func](const Arguments& arguments) { tir::evaluate(func, arguments.values); };
}

Way compiled(const runtime::Module& module) {
  return [function = module[module.entry_name()]](const Arguments& arguments) {
    run_compiled(function, arguments);
  };
}

std::vector<LowerArgument> joined(const std::vector<te::Tensor>& inputs,
                                  const std::vector<te::Tensor>& outputs) {
  std::vector<LowerArgument> all(inputs.begin(), inputs.end());
  all.insert(all.end(), outputs.begin(), outputs.end());
  return all;
}

std::string round_trip_of(const std::vector<te::Tensor>& inputs,
                          const std::vector<te::Tensor>& outputs, bool blocks) {
  const std::vector<LowerArgument> args = joined(inputs, outputs);
  const tir::PrimFunc func = te::create_prim_func(args, {.name = "f", .blocks = blocks});
  const std::vector<te::Tensor> again = te::extern_primfunc(inputs, func);
  if (again.size() != outputs.size()) return "another number of outputs";
  const std::vector<LowerArgument> args_again = joined(inputs, again);
  const te::Schedule s = te::create_schedule(again);
  const BuildOptions fast = {.opt_level = 1};
  const std::vector<std::pair<const char*, Way>> ways = {
      {"the function", interpreted(func)},
      {"the function, lowered", interpreted(lower(func).functions.at("f"))},
      {"the function, compiled", compiled(build(lower(func), Target("llvm"), fast))},
      {"the operation", interpreted(lower_to_loops(s, args_again))},
      {"the operation, lowered", interpreted(lower(s, args_again).functions.at("main"))},
      {"the operation, compiled", compiled(build(s, args_again, Target("llvm"), fast))}};
  const tir::PrimFunc truth = lower_to_loops(te::create_schedule(outputs), args);
  for (const std::int64_t size : {1, 7}) {
    const Arguments expected = make_arguments(args, {.symbol = size});
    tir::evaluate(truth, expected.values, {.check_uninitialized = true});
    for (const auto& [name, run] : ways) {
      const Arguments actual = make_arguments(args, {.symbol = size});
      run(actual);
      if (std::string wrong = first_difference(expected, actual); !wrong.empty())
        return name + std::string(", size ") + std::to_string(size) + ": " + wrong;
    }
  }
  return "";
}

/// "" if the operations as a function, and that function as an operation, compute what the
/// operations do: interpreted before and after the passes, and compiled; with blocks, where there
/// can be any, and without.
std::string round_trip(const std::vector<te::Tensor>& inputs,
                       const std::vector<te::Tensor>& outputs, bool has_blocks = true) {
  if (has_blocks)
    if (std::string wrong = round_trip_of(inputs, outputs, true); !wrong.empty())
      return "with blocks, " + wrong;
  return round_trip_of(inputs, outputs, false);
}

TEST(PrimFuncRoundTrip, OfElementwiseStages) {
  te::Tensor A = te::placeholder({9, 4}, "A"), B = te::placeholder({4}, "B");
  te::Tensor C = te::compute(
      {9, 4}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * B(j); }, "C");
  te::Tensor D = te::compute(
      {9, 4}, {"i", "j"}, [&](Var i, Var j) { return C(8 - i, j) + 1.0f; }, "D");
  EXPECT_EQ(round_trip({A, B}, {D}), "");
  // An intermediate result is an output as well if it is an argument.
  EXPECT_EQ(round_trip({A, B}, {D, C}), "");
}

TEST(PrimFuncRoundTrip, OfAMatmul) {
  te::Tensor A = te::placeholder({5, 6}, "A"), B = te::placeholder({6, 7}, "B");
  te::IterVar k = te::reduce_axis({0, 6}, "k");
  te::Tensor C = te::compute(
      {5, 7}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); }, "C");
  EXPECT_EQ(round_trip({A, B}, {C}), "");
}

TEST(PrimFuncRoundTrip, OfASymbolicShape) {
  Var n = te::size_var("n"), m = te::size_var("m");
  te::Tensor A = te::placeholder({n, m}, "A");
  te::IterVar k = te::reduce_axis({0, m}, "k");
  te::Tensor B = te::compute(
      {n, m}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {n + 1}, {"i"},
      [&](Var i) { return te::sum(if_then_else(i < n, B(min(i, n - 1), k), Expr(0.0f)), {k}); },
      "C");
  EXPECT_EQ(round_trip({A}, {C}), "");
}

TEST(PrimFuncRoundTrip, OfATupleReduction) {
  te::Tensor I = te::placeholder({5, 8}, "I", Int(32)), V = te::placeholder({5, 8}, "V");
  te::IterVar k = te::reduce_axis({0, 8}, "k");
  auto argmax = te::comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) -> std::vector<Expr> {
        return {select(x[1] >= y[1], x[0], y[0]), select(x[1] >= y[1], x[1], y[1])};
      },
      [](std::span<const DataType> t) -> std::vector<Expr> {
        return {make_const(t[0], -1), min_value(t[1])};
      },
      "argmax");
  const std::vector<te::Tensor> T = te::compute_multi(
      {5}, {"i"},
      [&](Var i) {
        return argmax({I(i, k), V(i, k)}, {k});
      },
      "T");
  EXPECT_EQ(round_trip({I, V}, {T[0], T[1]}), "");
  // The other component is computed as well, for nobody.
  EXPECT_EQ(round_trip({I, V}, {T[0]}), "");
}

TEST(PrimFuncRoundTrip, OfAScan) {
  Var m = te::size_var("m");
  te::Tensor X = te::placeholder({m, 6}, "X"), state = te::placeholder({m, 6}, "state");
  te::Tensor init = te::compute(
      {1, 6}, {"t", "i"}, [&](Var, Var i) { return X(0, i); }, "init");
  te::Tensor inside = te::compute(
      {m, 6}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) * 0.5f; }, "inside");
  te::Tensor update = te::compute(
      {m, 6}, {"t", "i"}, [&](Var t, Var i) { return inside(t, i) + X(t, i); }, "update");
  te::Tensor S = te::scan(init, update, state, {X}, "S");
  EXPECT_EQ(round_trip({X}, {S}, false), "");
}

te::Tensor shifted_by_hand(const te::Tensor& A) {
  return te::extern_op(
      A.shape(), {A},
      [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        tir::IRBuilder ib;
        auto a = ib.buffer_ptr(ins[0]), c = ib.buffer_ptr(outs[0]);
        auto last = ib.allocate(Float(32), {1}, "last");
        last[0] = 0.0f;
        ib.for_range(0, ins[0].shape()[0], "i", [&](Var i) {
          c[i] = Expr(last[0]);
          last[0] = Expr(a[i]);
        });
        return ib.get();
      },
      "shifted");
}

TEST(PrimFuncRoundTrip, OfAnExternOperation) {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A");
  te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return A(i) * 2.0f; }, "B");
  te::Tensor C = shifted_by_hand(B);
  te::Tensor D = te::compute(
      {n}, {"i"}, [&](Var i) { return C(i) + A(i); }, "D");
  EXPECT_EQ(round_trip({A}, {D}), "");
}

/// Four elements plus one, written as a loop.
te::TensorIntrin add_one() {
  te::Tensor a = te::placeholder({4}, "a");
  te::Tensor c = te::compute(
      {4}, {"i"}, [&](Var i) { return a(i) + 1.0f; }, "c");
  return te::decl_tensor_intrin(c.op(),
                                [](std::span<const tir::Buffer> ins,
                                   std::span<const tir::Buffer> outs) -> te::TensorIntrinBody {
                                  tir::IRBuilder ib;
                                  auto in = ib.buffer_ptr(ins[0]), out = ib.buffer_ptr(outs[0]);
                                  ib.for_range(0, 4, "i",
                                               [&](Var i) { out[i] = Expr(in[i]) + 1.0f; });
                                  return {.body = ib.get()};
                                });
}

TEST(PrimFuncRoundTrip, OfAnOperationOnRegions) {
  te::Tensor A = te::placeholder({5, 4}, "A");
  const te::TensorIntrin intrin = add_one();
  te::Tensor C = te::tensor_compute(
      {5, 4}, {"i"},
      [&](Var i) {
        return intrin({A.region({i, Range(0, 4)})});
      },
      "C");
  EXPECT_EQ(round_trip({A}, {C}, false), "");
}

TEST(PrimFuncRoundTrip, OfATensorizedSchedule) {
  te::Tensor A = te::placeholder({8}, "A");
  te::Tensor C = te::compute(
      {8}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "C");
  te::Schedule s = te::create_schedule(C);
  s[C].tensorize(s[C].split(s[C].axis(0), 4).inner, add_one());
  // Views of parts of arrays, in a function that is used twice.
  const tir::PrimFunc func = lower_to_loops(s, {A, C});
  te::Tensor once = te::extern_primfunc({A}, func)[0];
  te::Tensor twice = te::extern_primfunc({once}, func)[0];
  const Arguments arguments = make_arguments({A, twice});
  run_compiled(build(te::create_schedule(twice), {A, twice})["main"], arguments);
  const auto* in = reinterpret_cast<const float*>(arguments.arrays[0]->data());
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(reinterpret_cast<const float*>(arguments.arrays[1]->data())[i], in[i] + 2);
}

TEST(CreatePrimFunc, ABufferOfTheUsersStandsForItsTensor) {
  te::Tensor A = te::placeholder({3, 4}, "A");
  te::Tensor C = te::compute(
      {3, 4}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f; }, "C");
  const tir::Buffer rows =
      tir::decl_buffer({3, 4}, Float(32), {.name = "rows", .strides = {te::var("s"), 1}});
  const tir::PrimFunc func = te::create_prim_func({A, rows}, {.name = "f", .binds = {{C, rows}}});
  te::Tensor again = te::extern_primfunc({A}, func)[0];
  const Arguments arguments = make_arguments({A, again});
  run_compiled(build(te::create_schedule(again), {A, again})["main"], arguments);
  for (int n = 0; n < 12; ++n)
    EXPECT_EQ(reinterpret_cast<const float*>(arguments.arrays[1]->data())[n],
              reinterpret_cast<const float*>(arguments.arrays[0]->data())[n] * 2);
  // Rows that lie apart, which an argument of the built function may.
  const auto a = runtime::NDArray::random({3, 4}, Float(32));
  const auto memory = runtime::NDArray::zeros({24}, Float(32));
  build(lower(func))["f"](a, memory.view({3, 4}, {8, 1}));
  for (int n = 0; n < 24; ++n)
    EXPECT_EQ(memory.data<float>()[n], n % 8 < 4 ? a.data<float>()[n / 8 * 4 + n % 8] * 2 : 0) << n;
}

TEST(ExternPrimFunc, OneFunctionServesSeveralShapesInOneProgram) {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A");
  te::Tensor half = te::compute(
      {n}, {"i"}, [&](Var i) { return A(i) * 0.5f; }, "half");
  te::Tensor sums = te::compute(
      {n + 1}, {"i"}, [&](Var i) { return if_then_else(i < n, half(min(i, n - 1)), Expr(3.0f)); },
      "sums");
  const tir::PrimFunc func = te::create_prim_func({A, sums});

  Var m = te::size_var("m");
  te::Tensor X = te::placeholder({8}, "X"), Y = te::placeholder({m}, "Y");
  te::Tensor first = te::extern_primfunc({X}, func, "first")[0];
  te::Tensor second = te::extern_primfunc({first}, func, "second")[0];
  te::Tensor other = te::extern_primfunc({Y}, func, "other")[0];
  EXPECT_EQ(tir::print_expr(second.shape()[0]), "10");
  EXPECT_EQ(tir::print_expr(other.shape()[0]), "(m + 1)");
  const std::vector<LowerArgument> args = {X, Y, second, other};
  const te::Schedule s = te::create_schedule({second, other});
  const Way ways[] = {interpreted(lower_to_loops(s, args)), compiled(build(s, args))};
  for (const Way& way : ways) {
    const Arguments arguments = make_arguments(args, {.symbol = 5});
    way(arguments);
    auto value = [&](int array, int at) {
      return reinterpret_cast<const float*>(
          arguments.arrays[static_cast<std::size_t>(array)]->data())[at];
    };
    for (int i = 0; i < 8; ++i) EXPECT_EQ(value(2, i), value(0, i) / 4);
    EXPECT_EQ(value(2, 8), 1.5f);
    EXPECT_EQ(value(2, 9), 3.0f);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(value(3, i), value(1, i) / 2);
    EXPECT_EQ(value(3, 5), 3.0f);
  }
}

TEST(ExternPrimFunc, SizesThatCannotBeComparedAreComparedWhenItRuns) {
  te::Tensor A = te::placeholder({6}, "A");
  te::Tensor B = te::compute(
      {6}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  Var n = te::size_var("n");
  te::Tensor X = te::placeholder({n}, "X");
  te::Tensor Y = te::extern_primfunc({X}, te::create_prim_func({A, B}), "six")[0];
  const runtime::Module mod = build(te::create_schedule(Y), {X, Y});
  const auto six = runtime::NDArray::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {6});
  const auto result = runtime::NDArray::zeros({6}, Float(32));
  mod["main"](six, result);
  EXPECT_EQ(result.to_vector<float>(), (std::vector<float>{2, 3, 4, 5, 6, 7}));
  try {
    mod["main"](runtime::NDArray::zeros({5}, Float(32)), result);
    FAIL() << "five elements are not six";
  } catch (const RuntimeError& error) {
    for (const char* part : {"extern_primfunc `six`", "`X`", "n", "`A`", "6"})
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << part << ": " << error.what();
  }
}

// ---- functions that are brought to lower and build ----------------------------------------------

tir::PrimFunc add_by_hand() {
  const Var n = te::size_var("n");
  const tir::Buffer a = tir::decl_buffer({n, 4}, Float(32), {.name = "a"});
  const tir::Buffer c = tir::decl_buffer({n, 4}, Float(32), {.name = "c"});
  tir::IRBuilder ib;
  auto in = ib.buffer_ptr(a), out = ib.buffer_ptr(c);
  ib.for_range(0, n, "i",
               [&](Var i) {
                 ib.for_range(0, 4, "j",
                              [&](Var j) {
                                out[{i, j}] = Expr(in[{i, 3 - j}]) + 1.0f;
                              },
                              {.kind = ForKind::Vectorized});
               },
               {.kind = ForKind::Parallel});
  const Var a_handle("a", Handle()), c_handle("c", Handle());
  return {{a_handle, c_handle},
          {{a_handle, a, a}, {c_handle, c, c}},
          ib.get(),
          {.global_symbol = "add"}};
}

void expect_reversed_plus_one(const runtime::Module& mod, const char* name) {
  const auto in = runtime::NDArray::from(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}, {2, 4});
  const auto out = runtime::NDArray::zeros({2, 4}, Float(32));
  mod[name](in, out);
  EXPECT_EQ(out.to_vector<float>(), (std::vector<float>{5, 4, 3, 2, 9, 8, 7, 6}));
}

TEST(FunctionsByHand, AreLoweredUnderTheirNameOrAnother) {
  expect_reversed_plus_one(build(lower(add_by_hand())), "add");
  expect_reversed_plus_one(build(lower(add_by_hand(), {.name = "plus"})), "plus");
}

TEST(FunctionsByHand, AreLoweredByBuild) {
  expect_reversed_plus_one(build(tir::IRModule{{{"add", add_by_hand()}}}), "add");
  // Beside one that has been lowered.
  const tir::IRModule lowered = lower(add_by_hand(), {.name = "lowered"});
  const runtime::Module both = build({lowered, tir::IRModule{{{"multi", add_by_hand()}}}});
  expect_reversed_plus_one(both, "lowered");
  expect_reversed_plus_one(both, "multi");
}

TEST(FunctionsByHand, AreLoweredAsSchedulesAre) {
  te::Tensor A = te::placeholder({100, 30}, "A");
  te::Tensor B = te::compute(
      {100, 30}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f; }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].vectorize(s[B].split(s[B].axis(1), 4).inner);
  const tir::PrimFunc loops = lower_to_loops(s, {A, B});
  auto text = [](const tir::IRModule& module) {
    std::ostringstream out;
    out << module;
    return out.str();
  };
  for (const bool simple : {true, false})
    EXPECT_EQ(text(lower(loops, {.simple_mode = simple})),
              text(lower(s, {A, B}, {.simple_mode = simple})));
}

}  // namespace
}  // namespace tenon::testing
