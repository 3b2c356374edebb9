// Walks over trees: stored summaries, free variables, fresh copies.
#include "tenon/tir/contents.h"

#include <gtest/gtest.h>

#include <ctime>

#include "tenon/tir/builder.h"
#include "tenon/tir/fresh_copy.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/verify.h"
#include "tenon/tir/walk.h"

namespace tenon::tir {
namespace {

// ---- stored summaries ---------------------------------------------------------------------------

// Checks the summaries of subtrees that nodes store.

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

TEST(ExpandedLets, AreLimitedAsTrees) {
  VarMap lets;
  std::vector<Var> vars = {Var("i")};
  int expanded = 0;
  for (int n = 0; n < 60; ++n) {
    const std::optional<Expr> value = expand_let(vars.back() + vars.back(), lets);
    vars.emplace_back("x");
    if (value) ++expanded, set(lets, vars.back(), *value);
  }
  EXPECT_GT(expanded, 50);
  EXPECT_LT(expanded, 60);
}

TEST(SmallConstants, AreMadeOnce) {
  EXPECT_TRUE(make_int(Int(32), 7).same_as(make_int(Int(32), 7)));
  EXPECT_TRUE(make_true().same_as(make_true()));
  EXPECT_FALSE(make_int(Int(32), 7).same_as(make_int(Int(64), 7)));
  EXPECT_EQ(make_int(Int(64), -16).as<IntImm>()->value, -16);
  EXPECT_EQ(make_int(Int(32), 255).as<IntImm>()->value, 255);
  EXPECT_EQ(make_int(Int(8), 7).dtype(), Int(8));
}

// ---- free variables -----------------------------------------------------------------------------

std::vector<std::string> free_names(const Stmt& s) {
  std::vector<std::string> names;
  for (const Var& var : free_vars(s))
    if (!var.dtype().is_handle()) names.push_back(var.name());
  return names;
}

using Names = std::vector<std::string>;

TEST(FreeVars, OfAViewAreNotThoseThatItGivesValues) {
  const Var n("n"), m("m"), stride("stride"), offset("offset");
  const Buffer array = decl_buffer({n, 4}, Float(32), {.name = "array"});
  const Buffer view = decl_buffer(
      {m, 2}, Float(32), {.name = "view", .strides = {stride, Expr(1)}, .elem_offset = offset});
  const Stmt store = make_store(view, cast(Float(32), stride + offset + m), {Expr(0), Expr(1)});
  const Stmt s = make_stmt(BufferView{view, array, {Range(0, n), Range(1, 3)}, store});
  EXPECT_EQ(free_names(s), Names{"n"});
  // They have values inside of the view only.
  const Stmt after = make_store(array, cast(Float(32), stride + m), {Expr(0), Expr(0)});
  EXPECT_EQ(free_names(make_seq({s, after})), (Names{"n", "stride", "m"}));
}

// ---- fresh copies -------------------------------------------------------------------------------

// Copies of code that is to stand more than once.

/// A function of one array, with the statement twice: whatever the statement defines, the copy has
/// its own.
std::vector<Violation> violations_of_twice(const Buffer& array, const Stmt& s) {
  const Var handle("array", Handle());
  const PrimFunc func{{handle}, {{handle, array, array}}, make_seq({s, fresh_copy(s)})};
  return verify(func, Form::MultiDimensional);
}

void expect_well_formed(const std::vector<Violation>& violations) {
  for (const Violation& violation : violations)
    ADD_FAILURE() << violation.what << ": " << violation.where;
}

TEST(FreshCopy, OfARealizeHasABufferOfItsOwn) {
  const Var n("n");
  const Buffer array = decl_buffer({n, 4}, Float(32), {.name = "array"});
  const Buffer part = decl_buffer({4}, Float(32), {.name = "part"});
  const Var i("i");
  const Stmt body = make_seq({make_store(part, make_load(array, {Expr(i), Expr(0)}), {Expr(1)}),
                              make_store(array, make_load(part, {Expr(1)}), {Expr(i), Expr(1)})});
  const Stmt realize = make_stmt(Realize{part, {Range(0, 4)}, make_true(), body});
  const Stmt loop = make_stmt(For{i, 0, n, ForKind::Serial, realize});
  expect_well_formed(violations_of_twice(array, loop));
  const Stmt copy = fresh_copy(loop);
  const Realize* copied = copy.as<For>()->body.as<Realize>();
  ASSERT_NE(copied, nullptr);
  EXPECT_FALSE(copied->buffer.same_as(part));
  EXPECT_FALSE(copied->buffer->data.same_as(part->data));
  EXPECT_EQ(copied->buffer->name, "part");
}

TEST(FreshCopy, OfAViewHasVariablesOfItsOwn) {
  const Var n("n"), stride("stride"), offset("offset");
  const Buffer array = decl_buffer({n, 4}, Float(32), {.name = "array"});
  const Buffer view = decl_buffer(
      {n, 2}, Float(32), {.name = "view", .strides = {stride, Expr(1)}, .elem_offset = offset});
  const Stmt store = make_store(view, cast(Float(32), stride + offset + n), {Expr(0), Expr(1)});
  const Stmt s = make_stmt(BufferView{view, array, {Range(0, n), Range(1, 3)}, store});
  const Stmt after = make_store(array, cast(Float(32), Expr(n)), {Expr(0), Expr(0)});
  expect_well_formed(violations_of_twice(array, make_seq({s, after})));
  const Stmt both = fresh_copy(make_seq({s, after}));
  const BufferView* copied = both.as<Seq>()->stmts[0].as<BufferView>();
  EXPECT_FALSE(copied->view->strides[0].same_as(stride));
  EXPECT_FALSE(copied->view->elem_offset.same_as(offset));
  EXPECT_FALSE(uses_var(copied->body, stride));
  // The name of a size inside of a view does not affect the code after the view.
  EXPECT_TRUE(uses_var(both.as<Seq>()->stmts[1], n));
}

TEST(FreshCopy, ReplacesVariablesInTheShapesOfWhatItReplaces) {
  const Var n("n"), m("m");
  const Buffer array = decl_buffer({n, 4}, Float(32), {.name = "array"});
  const Stmt store = make_store(array, 1.0f, {Expr(0), Expr(0)});
  const Var data = array->data.fresh();
  VarMap values;
  set(values, n, m);
  set(values, array->data, data);
  const Stmt copy = fresh_copy(store, values);
  EXPECT_TRUE(copy.as<Store>()->buffer->data.same_as(data));
  EXPECT_TRUE(copy.as<Store>()->buffer->shape[0].same_as(m));
  const Buffer given = decl_buffer({m, 4}, Float(32), {.name = "given"});
  const Stmt other = fresh_copy(store, {}, {{array, given}});
  EXPECT_TRUE(other.as<Store>()->buffer.same_as(given));
}

TEST(FreshCopy, ReplacesVariablesInTheSizesOfMemoryThatStays) {
  const Var i("i"), j("j");
  const Buffer array = decl_buffer({i + 1, 4}, Float(32), {.name = "array"});
  const Stmt both = make_seq(
      {make_store(array, 1.0f, {Expr(0), Expr(0)}), make_store(array, 2.0f, {Expr(0), Expr(1)})});
  VarMap values;
  set(values, i, j);
  const Stmt copy = replace_vars(both, values);
  const Buffer first = copy.as<Seq>()->stmts[0].as<Store>()->buffer;
  EXPECT_TRUE(first->data.same_as(array->data));
  EXPECT_EQ(print_expr(first->shape[0]), "(j + 1)");
  EXPECT_TRUE(copy.as<Seq>()->stmts[1].as<Store>()->buffer.same_as(first));
  EXPECT_TRUE(replace_vars(make_store(array, 1.0f, {Expr(0), Expr(0)}), {})
                  .as<Store>()
                  ->buffer.same_as(array));
}

}  // namespace
}  // namespace tenon::tir
