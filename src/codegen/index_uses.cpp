#include "tenon/codegen/index_uses.h"

#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

IndexUses::IndexUses(const Stmt& body) { visit(body); }

void IndexUses::visit(const Stmt& s) {
  if (const Let* let = s.as<Let>()) {
    // Visits the body first: the uses of the variable determine whether its value is an index.
    visit(let->body);
    return visit(let->value, is_index_only(let->var));
  }
  if (const Store* store = s.as<Store>()) {
    visit(store->value, false);
    for (const Expr& e : store->indices) visit(e, true);
    return;
  }
  // Loop bounds, allocation sizes and guard conditions are index arithmetic.
  const bool as_index = s.as<For>() || s.as<Allocate>() || s.as<If>();
  for_each_child(
      s, [&](const Expr& e) { visit(e, as_index); }, [&](const Stmt& c) { visit(c); });
}

void IndexUses::visit(const Expr& e, bool as_index) {
  if (e.as<VarNode>()) {
    if (!as_index) used_as_data_.insert(&e.node());
    return;
  }
  if (const LetExpr* let = e.as<LetExpr>()) {
    visit(let->body, as_index);
    return visit(let->value, as_index && is_index_only(let->var));
  }
  const Call* call = e.as<Call>();
  const bool is_address =
      call && (call->is(Intrin::tvm_access_ptr) || call->is(Intrin::address_of));
  const bool inside = as_index || e.as<Load>() || is_address;
  for_each_child(e, [&](const Expr& c) { visit(c, inside); });
}

}  // namespace tenon::codegen
