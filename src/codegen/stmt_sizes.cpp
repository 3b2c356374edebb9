#include "tenon/codegen/stmt_sizes.h"

#include <algorithm>
#include <functional>

#include "tenon/support/deep_stack.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

std::pair<int, bool> StmtSizes::measure(const Stmt& s) {
  if (is_stack_low()) return with_deep_stack([&] { return measure(s); });
  int size = 1;
  bool returns = false;
  // The size at which counting saturates.
  constexpr int kMax = 1 << 30;
  const auto add = [&](int nodes) { size = std::min(size + nodes, kMax); };
  const std::function<void(const Expr&)> visit_expr = [&](const Expr& e) {
    add(1);
    if (const Call* call = e.as<Call>()) returns |= call->is(Intrin::ret);
    for_each_child(e, visit_expr);
  };
  for_each_child(s, visit_expr, [&](const Stmt& child) {
    const auto [inner, inner_returns] = measure(child);
    add(inner);
    returns |= inner_returns;
  });
  return sizes_[&s.node()] = {size, returns};
}

std::int64_t StmtSizes::nodes_that_fit(std::span<const Stmt> stmts, int most_nodes) const {
  std::int64_t nodes = 0;
  for (const Stmt& s : stmts)
    if (fits(s, most_nodes)) nodes += of(s);
  return nodes;
}

std::vector<std::span<const Stmt>> pieces_of(std::span<const Stmt> stmts, const StmtSizes& sizes,
                                             int most_nodes) {
  std::vector<std::span<const Stmt>> pieces;
  for (std::size_t begin = 0, end = 0; begin < stmts.size(); begin = end) {
    for (int nodes = 0; end < stmts.size() && sizes.fits(stmts[end], most_nodes); ++end) {
      nodes += sizes.of(stmts[end]);
      if (nodes > most_nodes) break;
    }
    end = std::max(end, begin + 1);
    pieces.push_back(stmts.subspan(begin, end - begin));
  }
  return pieces;
}

}  // namespace tenon::codegen
