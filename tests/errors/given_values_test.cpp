// Checks arguments of primitives other than axes: factors, offsets, conditions, values of pragmas.
// Errors that are known at the call are reported there; errors that depend on the arguments of the
// function are reported when it is called.
#include <gtest/gtest.h>

#include <limits>

#include "tenon/tir/expr.h"
#include "tests/errors/chain.h"

namespace tenon::testing {
namespace {

using te::Expr;

struct GivenValueTest : Chain {
  void expect_same(const WaysToRun& ways = {}) {
    EXPECT_EQ(compare_with_default(s, args, ways), "");
  }
};

// ---- factors ------------------------------------------------------------------------------------

TEST_F(GivenValueTest, FactorsAreTheSameAllTheTime) {
  const te::IterVar i = s[C].axis(0);
  refused([&] { s[C].split(k, i); }, {"split", "`k`", "`C`", "factor", "axis `i` of stage `C`"});
  refused([&] { s[C].split(k, s[B].axis(1) + 1); },
          {"split", "`k`", "`C`", "axis `j` of stage `B`"});
  refused([&] { s[C].split_by_nparts(k, i + 1); }, {"split_by_nparts", "`k`", "`C`", "axis `i`"});
  refused([&] { s[B].tile(s[B].axis(0), s[B].axis(1), 4, k); }, {"tile", "`j`", "`B`", "axis `k`"});
  refused([&] { s[C].split(k, call_extern(Int(32), "f")); },
          {"split", "`k`", "`C`", "another value each time"});
  refused([&] { s[C].split(k, tir::make_const(Int(32, 4), 2)); },
          {"split", "`k`", "integer", "int32x4"});
}

TEST_F(GivenValueTest, AFactorOfAnyIntegerTypeIsAFactor) {
  s[B].split(s[B].axis(0), std::int64_t{5});
  s[B].split(s[B].axis(1), make_const(UInt(8), 3));
  expect_same({.compile = false});
}

TEST_F(GivenValueTest, TheGreatestFactorFusesAndSplitsAgain) {
  auto [o, i] = s[B].split(s[B].axis(0), std::numeric_limits<int>::max());
  s[B].split(s[B].fuse(i, s[B].axis(1)), std::numeric_limits<int>::max());
  expect_same({.compile = false});
}

TEST_F(GivenValueTest, AFactorThatTheCallerGives) {
  for (const bool by_parts : {false, true}) {
    s = te::create_schedule(D);
    Var count("count");
    by_parts ? s[B].split_by_nparts(s[B].axis(0), count) : s[B].split(s[B].axis(0), count);
    args = {A, D, count};
    for (std::int64_t value : {1, 3, 16, 100}) expect_same({.compile = false, .symbols = {value}});
    runtime::Module mod = build(s, args, Target("llvm"), {.opt_level = 1});
    const auto a = runtime::NDArray::random({16, 16}, Float(32));
    auto d = runtime::NDArray::full({16}, Float(32), 5);
    for (int value : {0, -3}) {
      try {
        mod["main"](a, d, value);
        ADD_FAILURE() << "accepted " << value;
      } catch (const RuntimeError& error) {
        const std::string text = error.what();
        for (const char* part :
             {by_parts ? "split_by_nparts" : "split", "`i`", "`B`", "`count`", "positive"})
          EXPECT_NE(text.find(part), std::string::npos) << text;
      }
      EXPECT_EQ(d.data<float>()[0], 5) << "nothing is written";
    }
  }
}

TEST_F(GivenValueTest, AFactorThatIsProvedPositiveIsNotChecked) {
  Var n = te::size_var("n");
  s[B].split(s[B].axis(0), n + 1);
  EXPECT_EQ(tir::print_module(lower(s, {A, D, n})).find("assert"), std::string::npos);
}

// ---- offsets ------------------------------------------------------------------------------------

TEST_F(GivenValueTest, OffsetsOfPrefetches) {
  const te::IterVar i = s[B].axis(0), j = s[B].axis(1);
  refused([&] { s[B].prefetch(A, i, A(0, 0).astype(Int(32))); },
          {"prefetch", "`i`", "`B`", "offset", "`A`"});
  refused([&] { s[B].prefetch(A, i, j); }, {"prefetch", "`i`", "`B`", "offset", "axis `j`"});
  refused([&] { s[B].prefetch(A, i, Expr(true)); }, {"prefetch", "`i`", "`B`", "integer", "bool"});
}

TEST_F(GivenValueTest, PrefetchesInLoopsOfAnyKindAndByAnyDistance) {
  const te::IterVar i = s[B].axis(0), j = s[B].axis(1);
  const std::vector<std::function<void()>> ways = {
      [&] { s[B].unroll(i).prefetch(A, i, 1); },
      [&] { s[B].vectorize(j).prefetch(A, j, 1); },
      [&] { s[B].vectorize(j).prefetch(A, i, 2); },
      [&] { s[B].parallel(i).prefetch(A, i, 1); },
      [&] { s[B].bind(i, te::thread_axis("vthread")).prefetch(A, j, 1); },
      [&] { s[C].prefetch(B, k, 1); },
      [&] { s[B].prefetch(A, i, -1); },
      [&] { s[B].prefetch(A, i, std::numeric_limits<int>::max()); },
      [&] { s[B].prefetch(A, i, std::int64_t{1} << 40); },
  };
  for (std::size_t n = 0; n < ways.size(); ++n) {
    s = te::create_schedule(D);
    ways[n]();
    EXPECT_EQ(compare_with_default(s, args), "") << n;
  }
}

// ---- conditions ---------------------------------------------------------------------------------

TEST_F(GivenValueTest, ConditionsOfStoresAreBool) {
  refused([&] { s[B].set_store_predicate(1); }, {"set_store_predicate", "`B`", "Bool", "int32"});
  refused([&] { s[B].set_store_predicate(tir::make_broadcast(Expr(true), 4)); },
          {"`B`", "Bool", "boolx4"});
}

TEST_F(GivenValueTest, ConditionsOfStoresReadPlaceholdersAlone) {
  te::Tensor X = te::placeholder({16}, "X");
  refused([&] { s[D].set_store_predicate(B(0, 0) > 0.0f); },
          {"set_store_predicate", "`D`", "`B`", "if_then_else"});
  refused([&] { s[D].set_store_predicate(D(0) > 0.0f); },
          {"set_store_predicate", "`D`", "tensor `D`"});
  refused([&] { s[D].set_store_predicate(X(0) > 0.0f); }, {"set_store_predicate", "`D`", "`X`"});
  s[D].set_store_predicate(A(0, 0) > -1000.0f);
  expect_same();
}

TEST_F(GivenValueTest, OnlyStoresOfComputesHaveConditions) {
  refused([&] { s[A].set_store_predicate(Expr(true)); }, {"set_store_predicate", "`A`", "compute"});
}

TEST_F(GivenValueTest, ConditionsOfStoresUseTheLoopsAroundThem) {
  s[B].compute_at(s[C], s[C].axis(0));
  s[B].set_store_predicate(s[C].axis(0) >= 0 && s[B].axis(1) >= 0);
  expect_same();
  s[B].set_store_predicate(s[D].axis(0) >= 0);
  try {
    lower(s, args);
    ADD_FAILURE() << "accepted";
  } catch (const ScheduleError& error) {
    const std::string text = error.what();
    for (const char* part :
         {"set_store_predicate", "`B`", "axis `i` of stage `D`", "(at given_values_test.cpp:"})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST_F(GivenValueTest, RewritesDoNotTakeAwayWhatAConditionIsAbout) {
  s[C].set_store_predicate(s[C].axis(0) >= 0);
  refused([&] { s.rfactor(C, k); },
          {"rfactor", "`C`", "store predicate", "`i`", "before set_store_predicate"});
  auto [o, i] = s[B].split(s[B].axis(1), 4);
  s[B].set_store_predicate(i >= 0);
  refused([&] { s.cache_write(B, "local"); },
          {"cache_write", "`B`", "store predicate", "`j.inner`"});
  s[B].set_store_predicate(s[B].axis(1) >= 0);
  s.cache_write(B, "local");
  expect_same();
}

// ---- pragmas ------------------------------------------------------------------------------------

TEST_F(GivenValueTest, PragmasTakeValuesOfTheirKind) {
  const te::IterVar i = s[B].axis(0);
  for (const te::PragmaValue& value :
       std::vector<te::PragmaValue>{-4, 1.5f, "many", Var("z"), A(0, 0)})
    refused([&] { s[B].pragma(i, "auto_unroll_max_step", value); },
            {"pragma", "`i`", "`B`", "auto_unroll_max_step", "constant integer"});
  refused([&] { s[B].pragma(i, "unroll_explicit", "yes"); },
          {"pragma", "`i`", "`B`", "unroll_explicit"});
  refused([&] { s[B].pragma(i, "import_llvm", 3); },
          {"pragma", "`i`", "`B`", "import_llvm", "text"});
  refused([&] { s[B].pragma(i, "import_c"); }, {"pragma", "`i`", "`B`", "import_c", "text"});
}

}  // namespace
}  // namespace tenon::testing
