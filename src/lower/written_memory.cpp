#include "lower/written_memory.h"

#include <ranges>
#include <vector>

#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

WrittenMemory::WrittenMemory(const Stmt& body) {
  std::vector<BufferView> views;
  walk(
      body, [&](const Store& n) { written_.insert(&n.buffer->data.node()); },
      [&](const BufferView& n) {
        views.push_back(n);
        source_of_.emplace(&n.view->data.node(), &n.source->data.node());
      },
      [&](const Call& n) {
        if (n.is(Intrin::tvm_access_ptr) && constant_int(n.args[4]) != 1)
          written_.insert(&n.args[1].node());
        // What gets a bare address may write there.
        for (const Expr& arg : n.args)
          if (arg.as<VarNode>() && arg.as<VarNode>()->pointer && !n.is(Intrin::tvm_access_ptr))
            written_.insert(&arg.node());
      });
  // The views inside come last.
  for (const BufferView& n : std::views::reverse(views))
    if (written_.contains(&n.view->data.node())) written_.insert(&n.source->data.node());
}

bool WrittenMemory::is_stable(const Expr& e) const {
  if (effect_of(e) == Effect::Pure) return true;
  if (effect_of(e) == Effect::UpdateState) return false;
  bool stable = true;
  walk(
      e,
      [&](const Load& n) {
        const auto view = source_of_.find(&n.buffer->data.node());
        const ExprNode* data = view == source_of_.end() ? &n.buffer->data.node() : view->second;
        stable = stable && !written_.contains(data) && !source_of_.contains(data);
      },
      [&](const Call& n) {
        const Intrin* intrin = std::get_if<Intrin>(&n.callee);
        stable = stable && intrin && effect_of(*intrin) == Effect::Pure;
      });
  return stable;
}

}  // namespace tenon::lowering
