#include "tenon/codegen/index_uses.h"

#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

namespace {

void add_data_variables(const Expr& e, bool as_index, VarSet& used) {
  if (e.as<VarNode>()) {
    if (!as_index) used.insert(&e.node());
    return;
  }
  if (const LetExpr* let = e.as<LetExpr>()) {
    add_data_variables(let->body, as_index, used);
    return add_data_variables(let->value, as_index && !used.contains(&let->var.node()), used);
  }
  const Call* call = e.as<Call>();
  const bool is_address =
      call && (call->is(Intrin::tvm_access_ptr) || call->is(Intrin::address_of));
  const bool inside = as_index || e.as<Load>() || is_address;
  for_each_child(e, [&](const Expr& c) { add_data_variables(c, inside, used); });
}

void add_data_variables(const Stmt& s, VarSet& used) {
  if (const Let* let = s.as<Let>()) {
    // Visits the body first: the uses of the variable determine whether its value is an index.
    add_data_variables(let->body, used);
    return add_data_variables(let->value, !used.contains(&let->var.node()), used);
  }
  if (const Store* store = s.as<Store>()) {
    add_data_variables(store->value, false, used);
    for (const Expr& e : store->indices) add_data_variables(e, true, used);
    return;
  }
  // Loop bounds, allocation sizes and guard conditions are index arithmetic.
  const bool as_index = s.as<For>() || s.as<Allocate>() || s.as<If>();
  for_each_child(
      s, [&](const Expr& e) { add_data_variables(e, as_index, used); },
      [&](const Stmt& c) { add_data_variables(c, used); });
}

}  // namespace

VarSet data_variables(const Stmt& body) {
  VarSet used;
  add_data_variables(body, used);
  return used;
}

}  // namespace tenon::codegen
