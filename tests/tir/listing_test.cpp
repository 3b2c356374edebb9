// Statements as lines, and which lines each takes.
#include "tenon/tir/listing.h"

#include <gtest/gtest.h>

#include "tenon/tir/builder.h"
#include "tenon/tir/stmt.h"

namespace tenon::tir {
namespace {

const Var kHandle("A", Handle());
const Buffer kArray = decl_buffer({8}, Float(32), {.name = "A"});

PrimFunc function_of(const Stmt& body) {
  return {.params = {kHandle}, .buffers = {{kHandle, kArray, kArray}}, .body = body};
}
Stmt store(const Expr& index, float value) { return make_store(kArray, Expr(value), {index}); }
Stmt loop(const Var& var, const Stmt& body) {
  return make_stmt(For{var, 0, 4, ForKind::Serial, body});
}

TEST(Listing, HasALineForEachPartOfTheText) {
  const Var i("i");
  const Listing listing =
      list_statements(function_of(make_seq({loop(i, store(i, 1)), store(Expr(5), 2)})));
  EXPECT_EQ(listing.lines,
            (std::vector<std::string>{"for (i, 0, 4) {", "  A[i] = 1f32", "}", "A[5] = 2f32"}));
}

TEST(Listing, AStatementTakesTheLinesToItsEndAndKnowsTheOneAround) {
  const Var i("i");
  const Listing listing =
      list_statements(function_of(make_seq({loop(i, store(i, 1)), store(Expr(5), 2)})));
  ASSERT_EQ(listing.stmts.size(), 3u);
  const auto expect = [&](std::size_t n, int first, int last, int parent) {
    EXPECT_EQ(listing.stmts[n].first, first) << n;
    EXPECT_EQ(listing.stmts[n].last, last) << n;
    EXPECT_EQ(listing.stmts[n].parent, parent) << n;
  };
  expect(0, 1, 3, -1);
  expect(1, 2, 2, 0);
  expect(2, 4, 4, -1);
}

TEST(Listing, WhatStandsTwiceIsTwoStatements) {
  const Var i("i"), j("j");
  const Stmt shared = loop(j, store(i + j, 1));
  const Listing listing =
      list_statements(function_of(make_seq({loop(i, shared), loop(i, shared)})));
  ASSERT_EQ(listing.stmts.size(), 6u);
  for (std::size_t n = 0; n < 3; ++n)
    EXPECT_FALSE(listing.stmts[n].stmt.same_as(listing.stmts[n + 3].stmt)) << n;
  EXPECT_EQ(listing.stmts[4].first, listing.stmts[3].first + 1);
}

TEST(Listing, TheFunctionHasTheListedStatements) {
  const Var i("i");
  const Listing listing = list_statements(function_of(loop(i, store(i, 1))));
  EXPECT_TRUE(listing.func.body.same_as(listing.stmts[0].stmt));
}

TEST(Listing, MemoryAndTheBufferOnItHaveOneName) {
  const Var data("sum", PointerType{Float(32), StorageScope::Local});
  const Buffer sum = decl_buffer({1}, Float(32), {.name = "sum", .data = data});
  const Stmt body = make_stmt(
      Allocate{data, Float(32), {Expr(1)}, make_true(), make_store(sum, Expr(0.0f), {Expr(0)})});
  EXPECT_EQ(list_statements(function_of(body)).lines,
            (std::vector<std::string>{"allocate(sum, float32, [1]), storage_scope = local;",
                                      "sum[0] = 0f32"}));
}

}  // namespace
}  // namespace tenon::tir
