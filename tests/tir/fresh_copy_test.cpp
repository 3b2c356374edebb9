// Copies of code that is to stand more than once.
#include "tenon/tir/fresh_copy.h"

#include <gtest/gtest.h>

#include "tenon/tir/builder.h"
#include "tenon/tir/print.h"
#include "tenon/tir/verify.h"

namespace tenon::tir {
namespace {

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
