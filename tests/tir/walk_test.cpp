#include "tenon/tir/walk.h"

#include <gtest/gtest.h>

#include "tenon/tir/ops.h"

namespace tenon::tir {
namespace {

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

}  // namespace
}  // namespace tenon::tir
