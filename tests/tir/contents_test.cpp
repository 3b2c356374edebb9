// Checks the summaries of subtrees that nodes store.
#include "tenon/tir/contents.h"

#include <gtest/gtest.h>

#include <ctime>

#include "tenon/tir/ops.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/walk.h"

namespace tenon::tir {
namespace {

std::uint64_t variables(const Expr& e) { return e.node().contents.variables; }

TEST(Contents, KindsOfNodesAreSeenFromAbove) {
  const Var i("i"), j("j");
  const Expr chosen = select(i < j, i * 2, j);
  const Expr sum = chosen + 1;
  EXPECT_TRUE(contains<Select>(sum));
  EXPECT_TRUE(contains<Binary>(sum));
  EXPECT_TRUE(contains(sum, Content::Order));
  EXPECT_FALSE(contains<Select>(i * 2));
  EXPECT_FALSE(contains<Load>(sum));
  EXPECT_FALSE(contains(sum, Content::FloorDiv));
  EXPECT_TRUE(contains(floordiv(i, j) + 1, Content::FloorDiv));
  EXPECT_FALSE(contains(sum, Content::Int64));
  EXPECT_TRUE(contains(cast(Int(64), sum), Content::Int64));
}

TEST(Contents, StatementsTellOfLoopsAndAttributes) {
  const Buffer a = decl_buffer({8}, Float(32), {.name = "A"});
  const Var i("i");
  const Stmt store = make_store(a, 1.0f, {i});
  const auto loop = [&](ForKind kind, Expr extent) {
    return make_stmt(For{i, 0, std::move(extent), kind, store});
  };
  EXPECT_TRUE(contains(loop(ForKind::Vectorized, 8), ForKind::Vectorized));
  EXPECT_FALSE(contains(loop(ForKind::Vectorized, 8), ForKind::Unrolled));
  EXPECT_FALSE(contains(loop(ForKind::Serial, 8), Content::EmptyLoop));
  EXPECT_TRUE(contains(loop(ForKind::Serial, 0), Content::EmptyLoop));
  const Stmt pragma = make_stmt(Attr{AttrKind::Pragma, i, "key", 1, loop(ForKind::Serial, 8)});
  EXPECT_TRUE(contains(make_seq({store, pragma}), AttrKind::Pragma));
  EXPECT_FALSE(contains(make_seq({store, pragma}), AttrKind::VirtualThread));
  EXPECT_TRUE(contains<For>(pragma));
  EXPECT_TRUE(contains<Store>(pragma));
  EXPECT_FALSE(contains<If>(pragma));
  const Stmt doubled = make_stmt(Allocate{a->data, Float(32), {8}, make_true(), store, true});
  EXPECT_TRUE(contains(doubled, Content::DoubleBuffer));
  EXPECT_FALSE(contains(store, Content::DoubleBuffer));
}

TEST(Contents, VariablesAreThoseThatOccur) {
  const Var i("i"), j("j");
  EXPECT_EQ(variables(Expr(3) * 4), 0u);
  EXPECT_EQ(variables(i), bit_of_variable(&i.node()));
  EXPECT_EQ(variables(i + j * 2), variables(i) | variables(j));
  EXPECT_EQ(variables(substitute(i + 1, {{&i.node(), j}})), variables(j));
  // The value of a call may become known like that of a variable.
  EXPECT_NE(variables(make_extern_call(Int(32), "f", {}, true)), 0u);
}

TEST(Contents, VariablesSharingABitAreDistinguished) {
  // 65 variables have 64 bits.
  std::vector<Var> vars;
  while (vars.size() < 65) vars.emplace_back("v" + std::to_string(vars.size()));
  for (const Var& a : vars)
    for (const Var& b : vars) {
      EXPECT_EQ(uses_var(a + 1, b), a.same_as(b));
      const Expr changed = substitute(a + 1, {{&b.node(), Expr(5)}});
      EXPECT_EQ(changed.as<Binary>()->a.as<IntImm>() != nullptr, a.same_as(b));
    }
}

TEST(Substitution, OfFewAndOfManyVariables) {
  for (const int count : {1, 16, 17, 64, 65, 300}) {
    VarMap map;
    std::vector<Var> vars;
    Expr sum = 0;
    for (int n = 0; n < count; ++n) {
      vars.emplace_back("v");
      set(map, vars.back(), Expr(n));
      sum = sum + vars.back();
    }
    const Var other("other");
    EXPECT_EQ(constant_int(substitute_folding(sum, map)), count * (count - 1) / 2) << count;
    EXPECT_TRUE(substitute(other + 1, map).as<Binary>()->a.same_as(other));
    const Stmt changed = substitute(make_evaluate(vars.back() * other), map);
    EXPECT_EQ(constant_int(changed.as<Evaluate>()->value.as<Binary>()->a), count - 1);
  }
}

// A let for each statement of an unrolled body: whoever asked all of them for each expression took
// two minutes for a sum of five thousand terms.
TEST(Substitution, OfAnExpressionDoesNotLookAtAllOfAMap) {
  VarMap map;
  const Var i("i");
  std::vector<Var> vars;
  for (int n = 0; n < 20'000; ++n) set(map, vars.emplace_back("v"), Expr(n));
  const Expr e = i + 1;
  const std::clock_t start = std::clock();
  for (int n = 0; n < 20'000; ++n) ASSERT_TRUE(substitute(e, map).same_as(e));
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 0.5);
}

TEST(SmallConstants, AreMadeOnce) {
  EXPECT_TRUE(make_int(Int(32), 7).same_as(make_int(Int(32), 7)));
  EXPECT_TRUE(make_true().same_as(make_true()));
  EXPECT_FALSE(make_int(Int(32), 7).same_as(make_int(Int(64), 7)));
  EXPECT_EQ(make_int(Int(64), -16).as<IntImm>()->value, -16);
  EXPECT_EQ(make_int(Int(32), 255).as<IntImm>()->value, 255);
  EXPECT_EQ(make_int(Int(8), 7).dtype(), Int(8));
}

}  // namespace
}  // namespace tenon::tir
