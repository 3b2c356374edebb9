#include <gtest/gtest.h>

#include "tenon/arith/simplify.h"
#include "tenon/tir/buffer.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stmt.h"

namespace tenon::arith {
namespace {

using namespace tir;

class SimplifyStmt : public testing::Test {
 protected:
  Stmt loop(const Var& var, Expr min, Expr extent, Stmt body) {
    return make_stmt(For{var, std::move(min), std::move(extent), ForKind::Serial, std::move(body)});
  }
  Stmt guarded(Expr condition, Stmt body) {
    return make_stmt(If{std::move(condition), std::move(body), {}});
  }
  Stmt store(Expr value, Expr index) { return make_store(b, std::move(value), {std::move(index)}); }
  Stmt store_one(Expr index) { return store(1.0f, std::move(index)); }
  Expr load(Expr index) { return b({std::move(index)}); }

  void expect(const Stmt& given, const Stmt& simple) {
    Facts facts;
    const Stmt result = simplify_stmt(given, facts);
    EXPECT_TRUE(structural_equal(result, simple)) << print_stmt(given) << "\nbecame\n"
                                                  << print_stmt(result);
  }
  void expect_unchanged(const Stmt& given) {
    Facts facts;
    EXPECT_TRUE(simplify_stmt(given, facts).same_as(given)) << print_stmt(given);
  }

  Var i = Var("i"), j = Var("j"), x = Var("x"), n = Var::size("n");
  Buffer b = decl_buffer({1024}, Float(32), {.name = "B"});
};

TEST_F(SimplifyStmt, GuardThatTheLoopSaysGoes) {
  expect(loop(i, 0, n, guarded(i < n, store_one(i))), loop(i, 0, n, store_one(i)));
  expect(loop(i, 0, n, guarded(likely(i < n), store_one(i))), loop(i, 0, n, store_one(i)));
  expect(loop(i, 0, 8, guarded(i * 4 + 3 < 32, store_one(i))), loop(i, 0, 8, store_one(i)));
}

TEST_F(SimplifyStmt, WhatAGuardGaveIsForgottenBehindIt) {
  // One expression, under the condition and on both sides of it.
  const Stmt clamped = store_one(max(x, 1));
  expect(make_seq({clamped, guarded(Expr(1) <= x, clamped), clamped}),
         make_seq({clamped, guarded(Expr(1) <= x, store_one(x)), clamped}));
}

TEST_F(SimplifyStmt, AVariableThatIsBoundAgainIsAnother) {
  // One loop variable, one expression, two ranges.
  const Stmt clamped = store_one(max(i, 1));
  expect(
      make_seq({loop(i, 1, 8, clamped), loop(i, 0, 8, clamped), loop(i, 1, 8, clamped)}),
      make_seq({loop(i, 1, 8, store_one(i)), loop(i, 0, 8, clamped), loop(i, 1, 8, store_one(i))}));
}

TEST_F(SimplifyStmt, GuardThatItDoesNotSayStays) {
  expect_unchanged(loop(i, 0, n, guarded(likely(i < n - 1), store_one(i))));
  expect_unchanged(loop(i, 0, 8, guarded(i < 7, store_one(i))));
}

TEST_F(SimplifyStmt, SymbolicGuardOfAThreadStays) {
  const IterVar thread(std::nullopt, Var("threadIdx.x"), IterKind::ThreadIndex,
                       ThreadTag::parse("threadIdx.x"));
  auto launch = [&](Expr extent, Stmt body) {
    return make_stmt(Attr{AttrKind::ThreadExtent, thread, "", std::move(extent), std::move(body)});
  };
  expect_unchanged(launch(n, guarded(thread.var() < n, store_one(thread.var()))));
  expect(launch(32, guarded(thread.var() < 32, store_one(thread.var()))),
         launch(32, store_one(thread.var())));
  expect(launch(1, store_one(thread.var())), launch(1, store_one(0)));
}

TEST_F(SimplifyStmt, RepeatedGuardGoes) {
  const Expr guard = i * 8 + j < n;
  expect(guarded(likely(guard), guarded(guard, store_one(i))),
         guarded(likely(guard), store_one(i)));
}

TEST_F(SimplifyStmt, ElseBranchKnowsTheNegation) {
  auto branch = [&](Stmt a, Stmt c) { return make_stmt(If{x < n, std::move(a), std::move(c)}); };
  expect(branch(store_one(0), guarded(n <= x, store_one(1))), branch(store_one(0), store_one(1)));
  expect(branch(store_one(0), guarded(x < n, store_one(1))), branch(store_one(0), make_nop()));
}

TEST_F(SimplifyStmt, DecidedBranchTakesThePlace) {
  expect(make_stmt(If{n >= 0, store_one(0), store_one(1)}), store_one(0));
  expect(make_stmt(If{n < 0, store_one(0), store_one(1)}), store_one(1));
  expect(guarded(n < 0, store_one(0)), make_nop());
}

TEST_F(SimplifyStmt, FactsEndWithTheirBranch) {
  const Stmt after = guarded(x < n, store_one(1));
  expect_unchanged(make_seq({guarded(x < n, store_one(0)), after}));
}

TEST_F(SimplifyStmt, ConditionOnMemoryIsNotRemembered) {
  const Expr guard = make_binary(BinaryOp::Lt, load(0), make_float(Float(32), 5));
  expect_unchanged(guarded(guard, make_seq({store(7.0f, 0), guarded(guard, store_one(1))})));
  Buffer whole = decl_buffer({4}, Int(32), {.name = "C"});
  const Expr small = whole({0}) < 5;
  const Stmt refill = make_store(whole, 9, {0});
  expect_unchanged(guarded(small, make_seq({refill, guarded(small, store_one(1))})));
}

TEST_F(SimplifyStmt, IntegerLetIsInlined) {
  auto let = [&](Expr value, Stmt body) {
    return make_stmt(Let{i, std::move(value), std::move(body)});
  };
  expect(let(x * 8, store_one(i + x)), store_one(x * 9));
  expect(let(3, store_one(i + x)), store_one(x + 3));
}

TEST_F(SimplifyStmt, LetOfALoadStays) {
  const Var v("v", Float(32));
  expect_unchanged(make_stmt(Let{v, load(0), store(v + v, 1)}));
}

TEST_F(SimplifyStmt, LoopOfOneIterationStaysWithoutItsVariable) {
  expect(loop(i, 2, 1, store_one(i + 3)), loop(i, 2, 1, store_one(5)));
}

TEST_F(SimplifyStmt, VariableOfALoopMayBeUsedByAnother) {
  expect(make_seq({loop(i, 2, 1, store_one(i)), loop(i, 0, 8, guarded(i < 8, store_one(i)))}),
         make_seq({loop(i, 2, 1, store_one(2)), loop(i, 0, 8, store_one(i))}));
}

TEST_F(SimplifyStmt, StoreOfWhatIsThereGoes) {
  expect(loop(i, 0, 8, store(load(i * 2 + i), i * 3)), loop(i, 0, 8, make_nop()));
  expect_unchanged(loop(i, 0, 8, store(load(i + 1), i)));
}

TEST_F(SimplifyStmt, AssertionHoldsInItsBody) {
  auto asserted = [&](Stmt body) {
    return make_stmt(Assert{x < n, "x is too great", std::move(body)});
  };
  expect(asserted(guarded(x < n, store_one(x))), asserted(store_one(x)));
}

}  // namespace
}  // namespace tenon::arith
