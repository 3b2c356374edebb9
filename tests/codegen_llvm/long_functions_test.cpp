// Long functions are divided before LLVM sees them; what they compute, and how they are left,
// stays.
#include <gtest/gtest.h>

#include <chrono>

#include "kernel.h"
#include "tenon/tir/ops.h"
#include "tests/common/large_statements.h"
#include "tests/common/occurrences.h"

extern "C" __attribute__((visibility("default"), used)) std::int32_t tenon_test_fails_at(
    const TenonValue* args, const std::int32_t*, std::int32_t) {
  if (args[0].i != args[1].i) return kTenonOk;
  tenon_set_last_error("failed where it should");
  return kTenonError;
}

namespace tenon::codegen {
namespace {

using namespace tir;
using namespace testing;
using runtime::NDArray;
using tenon::testing::count_of;

/// A[i] = A[i] * 3 + n for n in 0..count, loops of 64 one after the other.
Stmt chain(const Buffer& a, int count) {
  IRBuilder ib;
  for (int n = 0; n < count; ++n)
    ib.for_range(0, 64, "i",
                 [&](Var i) { ib.emit(make_store(a, make_load(a, {i}) * 3 + n, {i})); });
  return ib.get();
}

TEST(LongFunction, of_many_loops_is_divided_and_computes_the_same) {
  constexpr int kCount = 700;
  Kernel k;
  const Buffer a = k.array({64}, Int(32));
  const Stmt body = chain(a, kCount);
  EXPECT_GT(count_of(k.source(body, "ll", {.opt_level = 0}), "define internal"), 10u);
  const NDArray array = NDArray::zeros({64}, Int(32));
  k.compile(body)(array);
  std::uint32_t expected = 0;
  for (std::uint32_t n = 0; n < kCount; ++n) expected = expected * 3 + n;
  for (int i = 0; i < 64; ++i)
    ASSERT_EQ(static_cast<std::uint32_t>(array.data<std::int32_t>()[i]), expected);
}

// Statements of 240 nodes each, and of 900: more than a part of several statements may have.
TEST(LongFunction, of_statements_too_large_to_share_a_part_is_divided) {
  constexpr int kCount = 200;
  for (const int terms : {40, 150}) {
    Kernel k;
    const Buffer a = k.array({256}, Int(32));
    EXPECT_GT(count_of(k.source(tenon::testing::large_statements(a, kCount, terms), "ll",
                                {.opt_level = 0}),
                       "define internal"),
              std::size_t{kCount})
        << terms;
  }
}

/// LLVM compares all copies of a value with each other, and each call has one of its own.
TEST(LongFunction, calls_few_parts_in_a_row) {
  Kernel k;
  const Buffer a = k.array({64}, Int(32));
  const std::string text = k.source(chain(a, 6000), "ll", {.opt_level = 0});
  EXPECT_GT(count_of(text, "define internal"), 150u);
  for (std::size_t at = text.find("define "); at != std::string::npos;) {
    const std::size_t next = text.find("define ", at + 1);
    EXPECT_LE(count_of(text.substr(at, next - at), "call i32 @"), 64u);
    at = next;
  }
}

TEST(LongFunction, short_ones_stay_whole) {
  Kernel k;
  const Buffer a = k.array({64}, Int(32));
  EXPECT_EQ(count_of(k.source(chain(a, 20), "ll", {.opt_level = 0}), "define internal"), 1u);
}

// Accumulators in local memory stay in registers only within one function.
TEST(LongFunction, with_stores_to_local_memory_stays_whole) {
  const auto functions = [](std::string_view scope) {
    Kernel k;
    const Buffer a = k.array({64}, Int(32));
    IRBuilder ib;
    const BufferRef sums = ib.allocate(Int(32), {8}, "sums", scope);
    for (int n = 0; n < 400; ++n) sums[n % 8] = Expr(sums[n % 8]) + make_load(a, {n % 64}) * n;
    ib.emit(make_store(a, Expr(sums[0]), {0}));
    return count_of(k.source(ib.get(), "ll", {.opt_level = 0}), "define internal");
  };
  EXPECT_EQ(functions("local"), 1u);
  EXPECT_GT(functions("global"), 1u);
}

TEST(LongFunction, knows_in_its_parts_what_does_not_overlap) {
  Kernel k;
  const Buffer a = k.array({64}, Int(32));
  IRModule module = k.module(chain(a, 700));
  const auto takes = [&] {
    const std::string text = compile(module, host_target(), {.opt_level = 0}).source("ll");
    const std::size_t part =
        text.find("@main_compute_part(", text.find("define internal i32 @main_compute_part"));
    return text.substr(part, text.find(')', part) - part);
  };
  EXPECT_NE(takes().find("noalias align 4 "), std::string::npos) << takes();
  module.functions.at("main").attrs.noalias = false;
  EXPECT_EQ(takes().find("noalias"), std::string::npos) << takes();
}

TEST(LongFunction, of_unrolled_statements_sees_variables_around_them) {
  constexpr int kSide = 40;
  Kernel k;
  const Var n = k.scalar(Int(32), "n");
  const Buffer a = k.array({kSide * kSide}, Int(32), "A"),
               c = k.array({2, kSide * kSide}, Int(32), "C");
  IRBuilder ib;
  ib.for_range(0, 2, "o", [&](Var o) {
    for (int r = 0; r < 4; ++r)
      for (int i = 0; i < kSide * kSide; ++i)
        ib.emit(make_store(c, make_load(a, {i}) * n + o, {o * (kSide * kSide) + i}));
  });
  const Stmt body = ib.get();
  EXPECT_GT(count_of(k.source(body, "ll", {.opt_level = 0}), "define internal"), 10u);
  std::vector<std::int32_t> values(kSide * kSide);
  for (int i = 0; i < kSide * kSide; ++i) values[static_cast<std::size_t>(i)] = i - 7;
  const NDArray input = NDArray::from(values, {kSide * kSide}),
                output = NDArray::zeros({2, kSide * kSide}, Int(32));
  k.compile(body)(5, input, output);
  for (int o = 0; o < 2; ++o)
    for (int i = 0; i < kSide * kSide; ++i)
      ASSERT_EQ(output.data<std::int32_t>()[o * kSide * kSide + i], (i - 7) * 5 + o);
}

/// Statements before, a call that fails for one value of `at`, statements after; in temporaries
/// from the pool.
TEST(LongFunction, that_fails_in_a_part_stops_there) {
  constexpr int kCount = 400;
  Kernel k;
  const Var at = k.scalar(Int(32), "at");
  const Buffer c = k.array({kCount}, Int(32), "C");
  IRBuilder ib;
  auto large = ib.allocate(Int(32), {1 << 16}, "T", "global");
  for (int n = 0; n < kCount; ++n) {
    large[n] = n;
    ib.emit(make_call(Int(32), Intrin::tvm_call_packed,
                      {make_string("tenon_test_fails_at"), at, make_int(Int(32), n)}));
    ib.emit(make_store(c, large[n], {n}));
  }
  const runtime::Function f = k.compile(ib.get());
  for (const int where : {0, 1, 250, kCount - 1, kCount}) {
    const NDArray array = NDArray::full({kCount}, Int(32), -1);
    if (where == kCount) {
      f(where, array);
    } else {
      EXPECT_THROW(f(where, array), RuntimeError) << where;
    }
    for (int n = 0; n < kCount; ++n)
      ASSERT_EQ(array.data<std::int32_t>()[n], n < where ? n : -1) << where;
  }
}

TEST(LongFunction, that_returns_early_does_so_from_everywhere) {
  Kernel k;
  const Buffer c = k.array({1000}, Int(32), "C");
  IRBuilder ib;
  for (int n = 0; n < 1000; ++n) {
    if (n == 500) ib.emit(make_call(Int(32), Intrin::ret, {make_int(Int(32), 0)}));
    ib.emit(make_store(c, make_int(Int(32), n), {n}));
  }
  const NDArray array = NDArray::full({1000}, Int(32), -1);
  k.compile(ib.get())(array);
  EXPECT_EQ(array.data<std::int32_t>()[499], 499);
  EXPECT_EQ(array.data<std::int32_t>()[500], -1);
}

/// Their copies would be many times as long as what they hasten.
TEST(LongFunction, does_not_copy_long_loops_that_only_prefetch) {
  Kernel k;
  const Var n = Var::size("n");
  const Buffer a = k.array({n}, Float(32));
  IRBuilder ib;
  ib.for_range(0, 24, "x", [&](Var x) {
    ib.emit(make_evaluate(
        make_call(Int(32), Intrin::prefetch,
                  {make_call(Handle(), Intrin::address_of, {make_load(a, {x * 16})}), 0, 3, 1})));
  });
  ib.emit(make_store(a, make_float(Float(32), 1), {0}));
  EXPECT_EQ(count_of(k.source(ib.get(), "ll"), "call void @llvm.prefetch"), 1u);
}

/// Each of so many temporaries is given back on every way out: the code for that stands once.
TEST(LongFunction, grows_in_proportion_to_its_temporaries) {
  const auto length = [](int count) {
    Kernel k;
    const Var n = Var::size("n");
    const Buffer a = k.array({n}, Float(32));
    IRBuilder ib;
    for (int t = 0; t < count; ++t) {
      auto temporary = ib.allocate(Float(32), {n}, "T", "global");
      temporary[0] = make_load(a, {0});
    }
    ib.emit(make_store(a, make_float(Float(32), 1), {0}));
    return k.source(ib.get(), "ll", {.opt_level = 0}).size();
  };
  EXPECT_LT(length(80), 3 * length(40));
}

}  // namespace
}  // namespace tenon::codegen
