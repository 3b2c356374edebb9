#include <gtest/gtest.h>
#include <pthread.h>

#include <cmath>
#include <numeric>

#include "differential.h"
#include "tenon/runtime/threads.h"
#include "tenon/tir/ops.h"

namespace tenon::codegen {
namespace {

using namespace tir;
using namespace testing;
using runtime::NDArray;

std::vector<std::int32_t> counted(int n) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(Statement, a_loop_over_arrays_computes_every_element) {
  Kernel k;
  const Buffer a = k.array({100}, Float(32)), c = k.array({100}, Float(32));
  IRBuilder ib;
  auto x = ib.buffer_ptr(a), y = ib.buffer_ptr(c);
  ib.for_range(0, 100, "i", [&](Var i) { y[i] = Expr(x[i]) * 2.0f + 1.0f; });
  const runtime::Function f = k.compile(ib.get());
  const NDArray input = NDArray::random({100}, Float(32)),
                output = NDArray::zeros({100}, Float(32));
  f(input, output);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(output.data<float>()[i], std::fma(input.data<float>()[i], 2.0f, 1.0f));
}

TEST(Statement, loops_begin_anywhere_and_may_be_empty) {
  Kernel k;
  const Buffer a = k.array({8}, Int(32), "A"), c = k.array({64}, Int(32), "C");
  const Var begin = k.scalar(Int(32), "begin"), end = k.scalar(Int(32), "end");
  IRBuilder ib;
  ib.for_range(begin, end, "i", [&](Var i) {
    ib.emit(make_store(c, make_load(c, {i + 10}) + make_load(a, {0}) + i, {i + 10}));
  });
  const runtime::Function f = k.compile(ib.get());
  const NDArray one = NDArray::full({8}, Int(32), 1), sums = NDArray::zeros({64}, Int(32));
  f(one, sums, -3, 4);
  f(one, sums, 4, 4);
  f(one, sums, 5, 2);
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(sums.data<std::int32_t>()[i], i >= 7 && i < 14 ? 1 + i - 10 : 0);
}

TEST(Statement, nested_loops_lets_ifs_and_whiles) {
  Kernel k;
  const Buffer a = k.array({64}, Int(32)), c = k.array({64}, Int(32));
  IRBuilder ib;
  ib.for_range(0, 8, "i", [&](Var i) {
    ib.for_range(0, i + 1, "j", [&](Var j) {
      const Var at = ib.let("at", i * 8 + j);
      ib.if_scope(make_load(a, {at}) > 0, [&] { ib.emit(make_store(c, at * 2, {at})); });
      ib.else_scope([&] { ib.emit(make_store(c, Expr(-1) - at, {at})); });
    });
  });
  auto steps = ib.allocate(Int(32), {1}, "steps", "local");
  steps[0] = Expr(0);
  // Doubles until it is large.
  ib.while_loop(make_load(steps.buffer(), {0}) < 5, [&] {
    steps[0] = Expr(steps[0]) + 1;
    ib.emit(make_store(c, make_load(c, {63}) * 2 + 1, {63}));
  });
  expect_as_interpreted(k.module(ib.get()),
                        {NDArray::random({64}, Int(32)), NDArray::zeros({64}, Int(32))});
}

TEST(Statement, likely_conditions_decide_as_others) {
  Kernel k;
  const Buffer c = k.array({64}, Int(32));
  IRBuilder ib;
  ib.for_range(0, 9, "i", [&](Var i) {
    ib.for_range(0, 8, "j", [&](Var j) {
      ib.if_scope(likely(i * 8 + j < 60), [&] { ib.emit(make_store(c, i, {i * 8 + j})); });
    });
  });
  expect_as_interpreted(k.module(ib.get()), {NDArray::zeros({64}, Int(32))});
}

TEST(Statement, a_failing_assertion_reaches_the_caller_with_its_message) {
  Kernel k;
  const Buffer c = k.array({4}, Int(32));
  const Var n = k.scalar(Int(32), "n");
  const Stmt body = make_stmt(Assert{n < 5, "n must be less than five", make_store(c, n, {0})});
  const runtime::Function f = k.compile(body);
  const NDArray output = NDArray::zeros({4}, Int(32));
  f(output, 4);
  EXPECT_EQ(output.data<std::int32_t>()[0], 4);
  try {
    f(output, 5);
    FAIL() << "the assertion did not stop the function";
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("n must be less than five"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(output.data<std::int32_t>()[0], 4);
}

TEST(Statement, scalars_of_every_type_arrive) {
  for (DataType t :
       {Bool(), Int(8), Int(64), UInt(8), UInt(64), Float(16), BFloat(16), Float(32), Float(64)}) {
    Kernel k;
    const Buffer c = k.array({1}, t);
    const Var x = k.scalar(t, "x");
    const runtime::Function f = k.compile(make_store(c, x, {0}));
    const NDArray output = NDArray::zeros({1}, t);
    if (t.is_floating()) {
      f(output, 1.5);
    } else {
      f(output, 1);
    }
    const NDArray wanted = NDArray::full({1}, t, t.is_floating() ? 1.5 : 1);
    EXPECT_EQ(std::memcmp(output.dl_tensor().data, wanted.dl_tensor().data,
                          static_cast<std::size_t>(t.bytes())),
              0)
        << t.str();
  }
}

TEST(Statement, thread_axes_are_refused_by_name) {
  Kernel k;
  const Buffer c = k.array({4}, Int(32));
  IRBuilder ib;
  const IterVar tx(Range(0, 4), Var("tx"), IterKind::ThreadIndex, ThreadTag::parse("threadIdx.x"));
  ib.scope_attr(tx, AttrKind::ThreadExtent, 4);
  ib.emit(make_store(c, tx.var(), {tx.var()}));
  try {
    k.compile(ib.get());
    FAIL() << "a CPU has no threadIdx.x";
  } catch (const LowerError& error) {
    EXPECT_NE(std::string(error.what()).find("threadIdx.x"), std::string::npos) << error.what();
  }
}

TEST(Statement, a_variable_that_nobody_binds_is_named) {
  Kernel k;
  const Buffer c = k.array({4}, Int(32));
  const Var n("somewhere");
  try {
    k.compile(make_store(c, n, {0}));
    FAIL() << "the variable has no value";
  } catch (const LowerError& error) {
    EXPECT_NE(std::string(error.what()).find("`somewhere`"), std::string::npos) << error.what();
  }
}

// ---- temporaries ----

/// Runs the function on a thread with a small stack.
void on_small_stack(std::size_t bytes, const std::function<void()>& function) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
  pthread_t thread;
  auto run = [](void* f) -> void* {
    (*static_cast<const std::function<void()>*>(f))();
    return nullptr;
  };
  ASSERT_EQ(
      pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&function)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(Temporary, a_large_one_does_not_live_on_the_stack) {
  Kernel k;
  const Buffer c = k.array({4}, Int(32));
  IRBuilder ib;
  ib.for_range(0, 4, "i",
               [&](Var i) {
                 auto large = ib.allocate(Int(32), {1 << 24}, "large", "global");  // 64 MiB
                 ib.for_range(0, 1 << 14, "j", [&](Var j) { large[j * 1024] = i + j; });
                 ib.emit(make_store(c, large[i * 1024 + (1 << 23)], {i}));
               },
               {.kind = ForKind::Parallel});
  const runtime::Function f = k.compile(ib.get());
  const NDArray output = NDArray::zeros({4}, Int(32));
  on_small_stack(256 * 1024, [&] { f(output); });
  for (int i = 0; i < 4; ++i) EXPECT_EQ(output.data<std::int32_t>()[i], i + i + (1 << 13));
}

TEST(Temporary, many_small_ones_stay_within_the_budget) {
  Kernel k;
  const Buffer c = k.array({64}, Int(32));
  IRBuilder ib;
  for (int n = 0; n < 64; ++n) {
    auto part = ib.allocate(Int(32), {4096 + n}, "part" + std::to_string(n),
                            "global");  // 16 KiB each, 1 MiB in all
    ib.for_range(0, 4096, "j", [&](Var j) { part[j] = make_load(c, {n}) + j; });
    ib.emit(make_store(c, part[n], {n}));
  }
  const runtime::Function f = k.compile(ib.get());
  const NDArray output = NDArray::zeros({64}, Int(32));
  on_small_stack(192 * 1024, [&] { f(output); });
  for (int n = 0; n < 64; ++n) EXPECT_EQ(output.data<std::int32_t>()[n], n);
}

TEST(Temporary, of_symbolic_size) {
  const Var n = Var::size("n");
  Kernel k;
  const Buffer a = k.array({n}, Float(32)), c = k.array({n}, Float(32));
  IRBuilder ib;
  auto copy = ib.allocate(Float(32), {n}, "copy", "global");
  ib.for_range(0, n, "i", [&](Var i) { copy[i] = make_load(a, {i}); });
  ib.for_range(0, n, "i", [&](Var i) { ib.emit(make_store(c, copy[n - 1 - i], {i})); });
  const runtime::Function f = k.compile(ib.get());
  for (int size : {0, 1, 1000}) {
    const NDArray input = NDArray::random({size}, Float(32)),
                  output = NDArray::zeros({size}, Float(32));
    f(input, output);
    for (int i = 0; i < size; ++i)
      ASSERT_EQ(output.data<float>()[i], input.data<float>()[size - 1 - i]);
  }
}

TEST(Temporary, is_given_back_when_the_function_fails) {
  Kernel k;
  const Buffer c = k.array({4}, Int(32));
  IRBuilder ib;
  auto large = ib.allocate(Int(32), {1 << 26}, "large", "global");  // 256 MiB
  large[0] = Expr(1);
  ib.emit(make_stmt(Assert{make_load(c, {0}) == large[0], "stopped", make_nop()}));
  const runtime::Function f = k.compile(ib.get());
  const NDArray output = NDArray::zeros({4}, Int(32));
  // A hundred of them would not fit.
  for (int n = 0; n < 400; ++n) EXPECT_THROW(f(output), RuntimeError);
}

// ---- parallel loops ----

TEST(Parallel, every_iteration_runs_once) {
  Kernel k;
  const Buffer a = k.array({10000}, Int(32)), c = k.array({10000}, Int(32));
  const Var offset = k.scalar(Int(32), "offset");
  IRBuilder ib;
  ib.for_range(
      5, 10000, "i",
      [&](Var i) { ib.emit(make_store(c, make_load(c, {i}) + make_load(a, {i}) + offset, {i})); },
      {.kind = ForKind::Parallel});
  const runtime::Function f = k.compile(ib.get());
  const NDArray input = array_of(counted(10000)), output = NDArray::zeros({10000}, Int(32));
  f(input, output, 7);
  for (int i = 0; i < 10000; ++i) ASSERT_EQ(output.data<std::int32_t>()[i], i < 5 ? 0 : i + 7);
}

TEST(Parallel, loops_nest) {
  Kernel k;
  const Buffer c = k.array({64 * 64}, Int(32));
  IRBuilder ib;
  ib.for_range(
      0, 64, "i",
      [&](Var i) {
        auto row = ib.allocate(Int(32), {64}, "row", "global");
        ib.for_range(0, 64, "j", [&](Var j) { row[j] = i * 100 + j; }, {.kind = ForKind::Parallel});
        ib.for_range(0, 64, "j", [&](Var j) { ib.emit(make_store(c, row[63 - j], {i * 64 + j})); },
                     {.kind = ForKind::Parallel});
      },
      {.kind = ForKind::Parallel});
  const runtime::Function f = k.compile(ib.get());
  const NDArray output = NDArray::zeros({64 * 64}, Int(32));
  f(output);
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 64; ++j)
      ASSERT_EQ(output.data<std::int32_t>()[i * 64 + j], i * 100 + 63 - j);
}

TEST(Parallel, an_error_in_one_body_stops_the_loop_and_reaches_the_caller) {
  Kernel k;
  const Buffer a = k.array({1000}, Int(32));
  IRBuilder ib;
  ib.for_range(0, 1000, "i",
               [&](Var i) {
                 ib.emit(make_stmt(Assert{make_load(a, {i}) != 700, "seven hundred", make_nop()}));
               },
               {.kind = ForKind::Parallel});
  const runtime::Function f = k.compile(ib.get());
  try {
    f(array_of(counted(1000)));
    FAIL() << "the assertion did not stop the loop";
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("seven hundred"), std::string::npos) << error.what();
  }
}

TEST(Parallel, a_persistent_region_shares_its_loops_among_tasks) {
  for (const bool strided : {false, true})
    for (int threads : {1, 2, 3}) {
      Kernel k;
      const Buffer a = k.array({1001}, Int(32)), c = k.array({1001}, Int(32));
      IRBuilder ib;
      ib.scope_attr("parallel_launch_point", 1);
      const Var i("i"), j("j");
      Stmt first = make_stmt(For{i, 0, 1001, ForKind::Parallel, make_store(a, i * 2, {i})});
      Stmt second = make_stmt(
          For{j, 0, 1001, ForKind::Parallel, make_store(c, make_load(a, {Expr(1000) - j}), {j})});
      if (strided)
        first =
            make_stmt(Attr{AttrKind::Pragma, Expr(0), "parallel_stride_pattern", Expr(1), first});
      first = make_stmt(
          Attr{AttrKind::Pragma, Expr(0), "parallel_barrier_when_finish", Expr(1), first});
      ib.emit(make_seq({first, second}));
      const runtime::Function f = k.compile(ib.get());
      const NDArray between = NDArray::zeros({1001}, Int(32)),
                    output = NDArray::zeros({1001}, Int(32));
      runtime::set_num_threads(threads);
      f(between, output);
      runtime::set_num_threads(0);
      for (int n = 0; n <= 1000; ++n) ASSERT_EQ(output.data<std::int32_t>()[n], 2 * (1000 - n));
    }
}

TEST(Parallel, tasks_of_a_region_stop_at_the_end_of_a_loop) {
  // Shares of 2: of 4 tasks the third has half of one, and the fourth has none.
  Kernel k;
  const Buffer c = k.array({8}, Int(32));
  IRBuilder ib;
  ib.scope_attr("parallel_launch_point", 1);
  const Var i("i");
  ib.emit(make_stmt(For{i, 0, 5, ForKind::Parallel, make_store(c, Expr(1), {i})}));
  const runtime::Function f = k.compile(ib.get());
  for (int threads : {2, 3, 4}) {
    const NDArray output = NDArray::zeros({8}, Int(32));
    runtime::set_num_threads(threads);
    f(output);
    runtime::set_num_threads(0);
    for (int n = 0; n < 8; ++n) EXPECT_EQ(output.data<std::int32_t>()[n], n < 5) << threads;
  }
}

TEST(Parallel, positions_beyond_32_bits) {
  // The loop runs over 64 bits; only a few of its positions are touched.
  Kernel k;
  const Buffer c = k.array({4}, Int(64));
  const std::int64_t first = (std::int64_t{1} << 32) + 5;
  IRBuilder ib;
  ib.for_range(make_int(Int(64), first), make_int(Int(64), first + 4), "i",
               [&](Var i) { ib.emit(make_store(c, i, {i - make_int(Int(64), first)})); },
               {.kind = ForKind::Parallel, .dtype = Int(64)});
  const NDArray output = NDArray::zeros({4}, Int(64));
  k.compile(ib.get())(output);
  for (int n = 0; n < 4; ++n) EXPECT_EQ(output.data<std::int64_t>()[n], first + n);
}

}  // namespace
}  // namespace tenon::codegen
