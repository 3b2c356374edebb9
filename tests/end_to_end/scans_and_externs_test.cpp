// Scans, statements of the user's own, intrinsics, modules of several functions; run every way.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/common/ways_to_run.h"

extern "C" void tenon_test_double(float* out, const float* in, int count) {
  for (int n = 0; n < count; ++n) out[n] = 2 * in[n];
}

namespace tenon::testing {
namespace {

// ---- scans --------------------------------------------------------------------------------------

struct ScanTest : ::testing::Test {
  Var m = te::size_var("m");
  te::Tensor X = te::placeholder({m, 6}, "X"), state = te::placeholder({m, 6}, "state");
  te::Tensor init = te::compute(
      {1, 6}, {"t", "i"}, [&](Var, Var i) { return X(0, i); }, "init");
  const WaysToRun sizes = {.symbols = {1, 2, 9}};
};

TEST(ScanState, AsAnArgumentHoldsAllSteps) {
  const te::Tensor X = te::placeholder({5}, "X"), state = te::placeholder({5}, "state");
  const te::Tensor init = te::compute(
      {1}, {"t"}, [&](Var) { return X(0); }, "init");
  const te::Tensor update = te::compute(
      {5}, {"t"}, [&](Var t) { return state(t - 1) + X(t); }, "update");
  const te::Tensor sums = te::scan(init, update, state, {X}, "sums");
  const te::Tensor twice = te::compute(
      {5}, {"t"}, [&](Var t) { return sums(t) * 2.0f; }, "twice");
  const auto x = runtime::NDArray::from(std::vector<float>{1, 2, 3, 4, 5}, {5});
  const auto steps = runtime::NDArray::zeros({5}, Float(32)),
             result = runtime::NDArray::zeros({5}, Float(32));
  build(te::create_schedule(twice), {X, state, twice}, Target("llvm"))["main"](x, steps, result);
  EXPECT_EQ(steps.to_vector<float>(), (std::vector<float>{1, 3, 6, 10, 15}));
  EXPECT_EQ(result.to_vector<float>(), (std::vector<float>{2, 6, 12, 20, 30}));
}

TEST_F(ScanTest, RunningSums) {
  te::Tensor update = te::compute(
      {m, 6}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + X(t, i); }, "update");
  te::Tensor S = te::scan(init, update, state, {X}, "S");
  const Arguments a = make_arguments({X, S});
  tir::evaluate(lower_to_loops(te::create_schedule(S), {X, S}), a.values);
  const float* in = reinterpret_cast<const float*>(a.arrays[0]->data());
  const float* out = reinterpret_cast<const float*>(a.arrays[1]->data());
  for (int n = 0; n < 7 * 6; ++n) EXPECT_EQ(out[n], (n >= 6 ? out[n - 6] : 0) + in[n]);
  te::Schedule s = te::create_schedule(S);
  s[update].vectorize(s[update].split(s[update].axis(1), 4).inner);
  s[init].split(s[init].axis(1), 4);
  EXPECT_EQ(compare_with_default(s, {X, S}, sizes), "");
}

// The kernel of the initial state reads one row of a matrix, whose number of rows it does not get.
TEST_F(ScanTest, RunsOnADeviceWithSizesThatAKernelDoesNotUse) {
  const Var n = te::size_var("n");
  X = te::placeholder({m, n}, "X"), state = te::placeholder({m, n}, "state");
  init = te::compute(
      {1, n}, {"t", "i"}, [&](Var, Var i) { return X(0, i); }, "init");
  te::Tensor update = te::compute(
      {m, n}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + X(t, i); }, "update");
  te::Tensor S = te::scan(init, update, state, {X}, "S");
  te::Schedule s = te::create_schedule(S);
  for (const te::Tensor& step : {init, update}) {
    const auto [block, thread] = s[step].split(s[step].axis(1), 4);
    s[step].bind(block, te::thread_axis("blockIdx.x"));
    s[step].bind(thread, te::thread_axis("threadIdx.x"));
  }
  EXPECT_NE(build(s, {X, S}, Target("opencl")).get_source("opencl"), "");
  EXPECT_EQ(compare_with_default(s, {X, S}, {.compile = false, .symbols = {1, 2, 9}}), "");
}

TEST_F(ScanTest, WithAStageInsideOfTheUpdate) {
  te::Tensor inside = te::compute(
      {m, 6}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) * 0.5f; }, "inside");
  te::Tensor update = te::compute(
      {m, 6}, {"t", "i"}, [&](Var t, Var i) { return inside(t, i) + X(t, i); }, "update");
  te::Tensor S = te::scan(init, update, state, {X}, "S");
  te::Schedule at_root = te::create_schedule(S);
  EXPECT_EQ(compare_with_default(at_root, {X, S}, sizes), "");
  te::Schedule inlined = te::create_schedule(S);
  inlined[inside].compute_inline();
  EXPECT_EQ(compare_with_default(inlined, {X, S}, sizes), "");
  te::Schedule attached = te::create_schedule(S);
  attached[inside].compute_at(attached[update], attached[update].axis(1));
  EXPECT_EQ(compare_with_default(attached, {X, S}, sizes), "");
}

// Whole rows of the fused loops are cached, and a row may begin before the first step.
TEST_F(ScanTest, CachedInLoopsThatTimeIsAPartOf) {
  for (int factor : {3, 4, 9}) {
    te::Tensor update = te::compute(
        {m, 6}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + X(t, i); }, "update");
    te::Tensor S = te::scan(init, update, state, {X}, "S");
    te::Schedule s = te::create_schedule(S);
    s[update].split(s[update].fuse(s[update].axis(0), s[update].axis(1)), factor);
    s.cache_write(update, "global");
    EXPECT_EQ(compare_with_default(s, {X, S}, sizes), "") << factor;
  }
}

TEST_F(ScanTest, ReadByAStageThatIsSplit) {
  te::Tensor update = te::compute(
      {m, 6}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + X(t, i); }, "update");
  te::Tensor S = te::scan(init, update, state, {X}, "S");
  te::Tensor D = te::compute(
      {m, 6}, {"t", "i"}, [&](Var t, Var i) { return S(t, i) + 1.0f; }, "D");
  te::Schedule s = te::create_schedule(D);
  s[D].split(s[D].axis(0), 4);
  EXPECT_EQ(compare_with_default(s, {X, D}, sizes), "");
}

TEST_F(ScanTest, TwoStates) {
  te::Tensor other = te::placeholder({m, 6}, "other");
  te::Tensor other_init = te::compute(
      {1, 6}, {"t", "i"}, [&](Var, Var) { return Expr(1.0f); }, "other_init");
  te::Tensor a = te::compute(
      {m, 6}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + other(t - 1, i); }, "a");
  te::Tensor b = te::compute(
      {m, 6}, {"t", "i"}, [&](Var t, Var i) { return other(t - 1, i) + X(t, i); }, "b");
  std::vector<te::Tensor> S = te::scan({init, other_init}, {a, b}, {state, other}, {X}, "S");
  te::Schedule s = te::create_schedule(S[0]);
  s[b].split(s[b].axis(1), 4);
  EXPECT_EQ(compare_with_default(s, {X, S[0], S[1]}, sizes), "");
}

TEST_F(ScanTest, TwoStatesOfWhichOtherStepsAreRead) {
  te::Tensor other = te::placeholder({m, 6}, "other");
  te::Tensor other_init = te::compute(
      {1, 6}, {"t", "i"}, [&](Var, Var) { return Expr(1.0f); }, "other_init");
  te::Tensor a = te::compute(
      {m, 6}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + other(t - 1, i); }, "a");
  te::Tensor b = te::compute(
      {m, 6}, {"t", "i"}, [&](Var t, Var i) { return other(t - 1, i) + X(t, i); }, "b");
  std::vector<te::Tensor> S = te::scan({init, other_init}, {a, b}, {state, other}, {X}, "S");
  // The last step of one, the first of the other, and the other way round.
  for (std::size_t late : {0, 1}) {
    te::Tensor D = te::compute(
        {6}, {"i"}, [&](Var i) { return S[late](m - 1, i) - S[1 - late](0, i); }, "D");
    EXPECT_EQ(compare_with_default(te::create_schedule(D), {X, D}, sizes), "") << late;
    // The default schedule computes no other steps; the truth is the whole of both states.
    const Arguments part = make_arguments({X, D}, {.symbol = 9});
    const Arguments whole = make_arguments({X, S[0], S[1]}, {.symbol = 9});
    tir::evaluate(lower_to_loops(te::create_schedule(D), {X, D}), part.values,
                  {.check_uninitialized = true});
    tir::evaluate(lower_to_loops(te::create_schedule(S[0]), {X, S[0], S[1]}), whole.values);
    for (std::int64_t i = 0; i < 6; ++i) {
      const double last = whole.arrays[1 + late]->value(8 * 6 + i);
      EXPECT_EQ(part.arrays[1]->value(i), last - whole.arrays[2 - late]->value(i)) << late << i;
    }
  }
}

// ---- statements of the user's own ---------------------------------------------------------------

TEST(ExternTest, LoopsOfABuilder) {
  te::Tensor A = te::placeholder({20}, "A");
  te::Tensor B = te::compute(
      {20}, {"i"}, [&](Var i) { return A(i) * 2.0f; }, "B");
  te::Tensor C = te::extern_op(
      {20}, {B},
      [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        tir::IRBuilder ib;
        auto b = ib.buffer_ptr(ins[0]), c = ib.buffer_ptr(outs[0]);
        ib.for_range(0, 20, "i", [&](Var i) {
          ib.if_scope(i >= 4, [&] { c[i] = b[i - 4] + 1.0f; });
          ib.else_scope([&] { c[i] = 0.0f; });
        });
        return ib.get();
      },
      "C");
  te::Tensor D = te::compute(
      {20}, {"i"}, [&](Var i) { return C(i) + A(i); }, "D");
  te::Schedule s = te::create_schedule(D);
  s[B].split(s[B].axis(0), 8);
  s[D].vectorize(s[D].split(s[D].axis(0), 8).inner);
  EXPECT_EQ(compare_with_default(s, {A, D}), "");
}

/// The product of an element wraps in an index.
TEST(ExternTest, ALetOfDataWraps) {
  const te::Tensor A = te::placeholder({1}, "A", Int(32));
  const te::Tensor B = te::extern_op(
      {31}, {A},
      [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        tir::IRBuilder ib;
        auto a = ib.buffer_ptr(ins[0]), b = ib.buffer_ptr(outs[0]);
        ib.for_range(0, 31, "i", [&](Var i) { b[i] = 0; });
        const Var x = ib.let("x", a[0]);
        b[floormod(floordiv(x * 4, 4), 31)] = 1;
        return ib.get();
      },
      "B", {.dtype = Int(32)});
  const runtime::Module module = build(te::create_schedule(B), {A, B}, Target("llvm"));
  runtime::NDArray a = runtime::NDArray::full({1}, Int(32), (1 << 30) + 3, cpu(0));
  runtime::NDArray b = runtime::NDArray::zeros({31}, Int(32), cpu(0));
  module["main"](a, b);
  std::vector<std::int32_t> expected(31);
  expected[3] = 1;
  EXPECT_EQ(b.to_vector<std::int32_t>(), expected);
}

TEST(ExternTest, ABufferByHandOverTheMemoryOfAnInput) {
  // Columns of what is given as a row, of an input that is computed and of one that is an argument.
  auto transposed = [](const te::Tensor& A, const std::string& name) {
    return te::extern_op(
        {8}, {A},
        [](std::span<const tir::Buffer> ins,
           std::span<const tir::Buffer> outs) -> te::ExternResult {
          const tir::Buffer rows =
              tir::decl_buffer({2, 4}, Float(32), {.name = "rows", .data = ins[0]->data});
          tir::IRBuilder ib;
          auto in = ib.buffer_ptr(rows), out = ib.buffer_ptr(outs[0]);
          ib.for_range(0, 8, "i", [&](Var i) {
            out[i] = Expr(in[{floormod(i, 2), floordiv(i, 2)}]);
          });
          return ib.get();
        },
        name);
  };
  te::Tensor A = te::placeholder({8}, "A");
  te::Tensor B = te::compute(
      {8}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  te::Tensor C = transposed(B, "C"), D = transposed(A, "D");
  te::Schedule s = te::create_schedule({C, D});
  EXPECT_EQ(compare_with_default(s, {A, C, D}), "");
  const Arguments arguments = make_arguments({A, C, D});
  run_compiled(build(s, {A, C, D})["main"], arguments);
  const auto* in = reinterpret_cast<const float*>(arguments.arrays[0]->data());
  for (int i = 0; i < 8; ++i) {
    const float expected = in[i % 2 * 4 + i / 2];
    EXPECT_EQ(reinterpret_cast<const float*>(arguments.arrays[1]->data())[i], expected + 1);
    EXPECT_EQ(reinterpret_cast<const float*>(arguments.arrays[2]->data())[i], expected);
  }
}

/// The readers need ten of eleven states, and there is memory for ten. The loop over the step,
/// which is one, runs four times, under a guard.
TEST_F(ScanTest, ACacheOfTheStateReadsNoStatesThatAreNotKept) {
  const te::Tensor X = te::placeholder({11, 11}, "X");
  const te::Tensor state = te::placeholder({11, 11}, "state");
  const te::Tensor init = te::compute(
      {1, 11}, {"t", "i"}, [&](Var, Var i) { return X(0, i); }, "init");
  const te::Tensor update = te::compute(
      {11, 11}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + X(t, i); }, "update");
  const te::Tensor scan = te::scan(init, update, state, {X}, "scan");
  const te::Tensor B = te::compute(
      {4, 8}, {"i", "j"}, [&](Var i, Var j) { return scan(i + 6, j); }, "B");
  te::Schedule s = te::create_schedule(B);
  const te::IterVar thread = s[update].split(s[update].axis(0), 4).inner;
  s[update].bind(thread, te::thread_axis("threadIdx.x"));
  s[s.cache_read(state, "local", {update})].compute_at(s[update], thread);
  EXPECT_EQ(compare_with_default(s, {X, B}, {.compile = false}), "");
}

TEST(ExternTest, WhileLoops) {
  // Steps of the Collatz sequence until 1.
  te::Tensor A = te::placeholder({9}, "A", Int(32));
  te::Tensor B = te::extern_op(
      {9}, {A},
      [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        tir::IRBuilder ib;
        auto in = ib.buffer_ptr(ins[0]), out = ib.buffer_ptr(outs[0]);
        ib.for_range(0, 9, "i", [&](Var i) {
          auto now = ib.allocate(Int(32), {1}, "now", "local");
          now[0] = abs(Expr(in[i])) + 1;
          out[i] = 0;
          ib.while_loop(Expr(now[0]) != 1, [&] {
            now[0] = if_then_else(floormod(Expr(now[0]), 2) == 0, floordiv(Expr(now[0]), 2),
                                  Expr(now[0]) * 3 + 1);
            out[i] = Expr(out[i]) + 1;
          });
        });
        return ib.get();
      },
      "B");
  te::Schedule s = te::create_schedule(B);
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
  const Arguments a = make_arguments({A, B});
  run_compiled(build(s, {A, B}, Target("llvm"), {.opt_level = 1})["main"], a);
  const int* in = reinterpret_cast<const int*>(a.arrays[0]->data());
  for (int i = 0; i < 9; ++i) {
    int steps = 0;
    for (int n = std::abs(in[i]) + 1; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    EXPECT_EQ(reinterpret_cast<const int*>(a.arrays[1]->data())[i], steps);
  }
}

TEST(ExternTest, VectorizedLoopsInAndAroundWhileLoops) {
  // Doubled five times, eight at a time; then how often each can be halved.
  te::Tensor A = te::placeholder({24}, "A", Int(32));
  te::Tensor B = te::extern_op(
      {24}, {A},
      [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        tir::IRBuilder ib;
        auto in = ib.buffer_ptr(ins[0]), out = ib.buffer_ptr(outs[0]);
        auto doubled = ib.allocate(Int(32), {24}, "doubled"),
             steps = ib.allocate(Int(32), {1}, "steps", "local");
        ib.for_range(0, 24, "i", [&](Var i) { doubled[i] = abs(Expr(in[i])) + i; });
        steps[0] = 0;
        ib.while_loop(Expr(steps[0]) < 5, [&] {
          ib.for_range(0, 3, "o", [&](Var o) {
            ib.for_range(0, 8, "v",
                         [&](Var v) { doubled[o * 8 + v] = Expr(doubled[o * 8 + v]) * 2 + v; },
                         {.kind = ForKind::Vectorized});
          });
          steps[0] = Expr(steps[0]) + 1;
        });
        ib.for_range(0, 24, "i",
                     [&](Var i) {
                       auto rest = ib.allocate(Int(32), {1}, "rest", "local");
                       rest[0] = doubled[i];
                       out[i] = 0;
                       ib.while_loop(Expr(rest[0]) > 1, [&] {
                         rest[0] = floordiv(Expr(rest[0]), 2);
                         out[i] = Expr(out[i]) + 1;
                       });
                     },
                     {.kind = ForKind::Vectorized});
        return ib.get();
      },
      "B");
  te::Schedule s = te::create_schedule(B);
  EXPECT_EQ(compare_with_default(s, {A, B}), "");
  const Arguments a = make_arguments({A, B});
  run_compiled(build(s, {A, B}, Target("llvm"), {.opt_level = 1})["main"], a);
  for (int i = 0; i < 24; ++i) {
    int x = std::abs(reinterpret_cast<const int*>(a.arrays[0]->data())[i]) + i, halvings = 0;
    for (int step = 0; step < 5; ++step) x = 2 * x + i % 8;
    for (; x > 1; x /= 2) ++halvings;
    EXPECT_EQ(reinterpret_cast<const int*>(a.arrays[1]->data())[i], halvings) << i;
  }
}

TEST(ExternTest, AKernelWithDynamicSharedMemoryByHand) {
  // Sums of rows by a tree in shared memory: run by the interpreter, which has threads and
  // barriers.
  te::Tensor A = te::placeholder({4, 16}, "A", Int(32));
  te::Tensor B = te::extern_op(
      {4}, {A},
      [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        tir::IRBuilder ib;
        auto in = ib.buffer_ptr(ins[0]), out = ib.buffer_ptr(outs[0]);
        const te::IterVar row = te::thread_axis("blockIdx.x"),
                          thread = te::thread_axis("threadIdx.x");
        const Var i = row.var(), t = thread.var();
        ib.scope_attr(row, tir::AttrKind::ThreadExtent, 4);
        ib.scope_attr(thread, tir::AttrKind::ThreadExtent, 16);
        auto part = ib.allocate(Int(32), {16}, "part", "shared.dyn");
        const Expr barrier = call_intrin(Int(32), intrin::tvm_storage_sync, "shared.dyn");
        part[t] = in[{i, t}];
        ib.emit(barrier);
        for (int half : {8, 4, 2, 1}) {
          ib.if_scope(t < half, [&] { part[t] = Expr(part[t]) + Expr(part[t + half]); });
          ib.emit(barrier);
        }
        ib.if_scope(t == 0, [&] { out[i] = part[0]; });
        return ib.get();
      },
      "B");
  te::Schedule s = te::create_schedule(B);
  EXPECT_EQ(compare_with_default(s, {A, B}, {.compile = false}), "");
  const Arguments a = make_arguments({A, B});
  tir::evaluate(lower(s, {A, B}).functions.at("main"), a.values);
  const int* in = reinterpret_cast<const int*>(a.arrays[0]->data());
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(reinterpret_cast<const int*>(a.arrays[1]->data())[i],
              std::accumulate(in + 16 * i, in + 16 * i + 16, 0));
}

TEST(ExternTest, SeveralOutputs) {
  te::Tensor A = te::placeholder({7}, "A", Int(32));
  std::vector<te::Tensor> T = te::extern_multi(
      {{7}, {1}}, {A},
      [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        tir::IRBuilder ib;
        auto a = ib.buffer_ptr(ins[0]), copy = ib.buffer_ptr(outs[0]), sum = ib.buffer_ptr(outs[1]);
        sum[0] = 0;
        ib.for_range(0, 7, "i", [&](Var i) {
          copy[i] = Expr(a[i]) * 2;
          sum[0] = Expr(sum[0]) + Expr(a[i]);
        });
        return ib.get();
      },
      "T");
  EXPECT_EQ(compare_with_default(te::create_schedule(T), {A, T[0], T[1]}), "");
}

TEST(ExternTest, ACFunctionOfThisProgram) {
  te::Tensor A = te::placeholder({5}, "A");
  te::Tensor B = te::extern_op(
      {5}, {A},
      [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        return call_extern(Int(32), "tenon_test_double", outs[0].access_ptr("w"),
                           ins[0].access_ptr("r"), 5);
      },
      "B");
  const Arguments a = make_arguments({A, B});
  run_compiled(build(te::create_schedule(B), {A, B}, Target("llvm"), {.opt_level = 1})["main"], a);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(reinterpret_cast<const float*>(a.arrays[1]->data())[i],
              2 * reinterpret_cast<const float*>(a.arrays[0]->data())[i]);
}

// ---- modules ------------------------------------------------------------------------------------

TEST(ModuleTest, SeveralFunctionsEachByItsName) {
  te::Tensor A = te::placeholder({8}, "A");
  te::Tensor plus = te::compute(
      {8}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "plus");
  te::Tensor times = te::compute(
      {8}, {"i"}, [&](Var i) { return A(i) * 3.0f; }, "times");
  const tir::IRModule add = lower(te::create_schedule(plus), {A, plus}, {.name = "add"});
  const tir::IRModule triple = lower(te::create_schedule(times), {A, times}, {.name = "triple"});
  runtime::Module mod = build({add, triple}, Target("llvm"), {.opt_level = 1});
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
  runtime::NDArray a = runtime::NDArray::from(values, {8}),
                   b = runtime::NDArray::zeros({8}, Float(32));
  mod["add"](a, b);
  EXPECT_EQ(b.data<float>()[7], 9);
  mod["triple"](a, b);
  EXPECT_EQ(b.data<float>()[7], 24);
  EXPECT_THROW(build({add, add}, Target("llvm")), LowerError);
}

}  // namespace
}  // namespace tenon::testing
