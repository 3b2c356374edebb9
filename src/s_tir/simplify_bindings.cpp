#include "s_tir/simplify_bindings.h"

#include "s_tir/context.h"
#include "tenon/tir/compare.h"

namespace tenon::s_tir {

using namespace tir;

Stmt simplify_bindings(const Stmt& s, std::vector<LoopDomain> around, bool preserve_unit_iters) {
  if (const BlockRealize* realize = s.as<BlockRealize>()) {
    const auto map =
        find_iter_map(realize->values, around, realize->predicate,
                      preserve_unit_iters ? DigitForm::AsWritten : DigitForm::WithoutUnits);
    if (!map) return s;
    BlockRealize next = *realize;
    for (std::size_t n = 0; n < next.values.size(); ++n) {
      const Expr value = cast(next.values[n].dtype(), to_expr(*map, map->values[n]));
      if (!structural_equal(value, next.values[n])) next.values[n] = value;
    }
    return make_stmt(std::move(next));
  }
  if (const For* loop = s.as<For>()) around.push_back({loop->var, loop->min, loop->extent});
  return map_statements(
      s, [&](const Stmt& child) { return simplify_bindings(child, around, preserve_unit_iters); });
}

namespace {

/// Whether the statement accesses memory outside the blocks that it contains.
bool accesses_directly(const Stmt& s) {
  bool is_leaf = true, loads_itself = false;
  for_each_child(
      s, [&](const Expr& e) { loads_itself = loads_itself || contains<Load>(e); },
      [&](const Stmt&) { is_leaf = false; });
  return is_leaf || loads_itself;
}

}  // namespace

Stmt add_predicate(const Stmt& s, const Expr& condition) {
  if (const BlockRealize* realize = s.as<BlockRealize>()) {
    BlockRealize next = *realize;
    // A predicate may read elements that exist only where the condition holds.
    next.predicate = contains<Load>(next.predicate) ? both(condition, next.predicate)
                                                    : both(next.predicate, condition);
    return make_stmt(std::move(next));
  }
  if (accesses_directly(s)) return make_stmt(If{condition, s, std::nullopt});
  return map_statements(s, [&](const Stmt& child) { return add_predicate(child, condition); });
}

}  // namespace tenon::s_tir
