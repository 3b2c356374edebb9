#include "codegen/llvm/computation.h"

#include <algorithm>
#include <functional>

#include "tenon/support/deep_stack.h"
#include "tenon/tir/walk.h"

namespace tenon::codegen {

using namespace tir;

StmtSizes::Size StmtSizes::measure(const Stmt& s) {
  if (is_stack_low()) return with_deep_stack([&] { return measure(s); });
  Size size;
  // Beyond this, all are large alike.
  constexpr int kMost = 1 << 30;
  const auto add = [&](int nodes) { size.nodes = std::min(size.nodes + nodes, kMost); };
  const std::function<void(const Expr&)> visit_expr = [&](const Expr& e) {
    add(1);
    if (const Call* call = e.as<Call>()) size.returns |= call->is(Intrin::ret);
    for_each_child(e, visit_expr);
  };
  for_each_child(s, visit_expr, [&](const Stmt& child) {
    const Size inner = measure(child);
    add(inner.nodes);
    size.returns |= inner.returns;
  });
  return sizes_[&s.node()] = size;
}

}  // namespace tenon::codegen
