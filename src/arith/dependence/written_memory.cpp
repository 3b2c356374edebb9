#include <ranges>
#include <vector>

#include "tenon/arith/dependence.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using namespace tir;

WrittenMemory::WrittenMemory(const Stmt& body) {
  std::vector<std::pair<Var, Var>> views;
  const auto add_view = [&](const Buffer& view, const Buffer& source) {
    views.emplace_back(view->data, source->data);
    const auto [known, is_new] = source_of_.emplace(&view->data.node(), source->data);
    if (!is_new && !known->second.same_as(source->data)) ambiguous_.insert(&view->data.node());
  };
  walk(
      body, [&](const Store& n) { written_.insert(&n.buffer->data.node()); },
      [&](const BufferView& n) { add_view(n.view, n.source); },
      [&](const BlockRealize& n) {
        for (const BufferRegion& region : n.block->writes)
          written_.insert(&region.buffer->data.node());
        for (const MatchBuffer& match : n.block->match_buffers)
          add_view(match.buffer, match.source.buffer);
      },
      [&](const Call& n) {
        if (n.is(Intrin::tvm_access_ptr)) {
          if (constant_int(n.args[4]) != 1) written_.insert(&n.args[1].node());
          return;
        }
        // A callee may write through any address that it receives.
        if (n.is(Intrin::address_of))
          if (const Load* load = n.args[0].as<Load>()) written_.insert(&load->buffer->data.node());
        for (const Expr& arg : n.args)
          if (arg.as<VarNode>() && arg.as<VarNode>()->pointer) written_.insert(&arg.node());
      });
  // Visits views in reverse order, because views of views follow their sources.
  for (const auto& [view, source] : std::views::reverse(views))
    if (written_.contains(&view.node())) written_.insert(&source.node());
}

bool WrittenMemory::is_stable(const Expr& e) const {
  const Effect effect = effect_of(e);
  if (effect == Effect::Pure) return true;
  if (effect == Effect::UpdateState) return false;
  bool stable = true;
  walk(
      e,
      [&](const Load& n) {
        const std::optional<Var> root = root_of(n.buffer->data);
        stable = stable && root && !written_.contains(&root->node()) &&
                 !written_.contains(&n.buffer->data.node());
      },
      [&](const Call& n) {
        const Intrin* intrin = std::get_if<Intrin>(&n.callee);
        stable = stable && intrin && effect_of(*intrin) == Effect::Pure;
      });
  return stable;
}

std::optional<Var> WrittenMemory::root_of(const Var& data) const {
  const Var* root = &data;
  for (auto next = source_of_.find(&root->node()); next != source_of_.end();
       next = source_of_.find(&root->node())) {
    if (ambiguous_.contains(&root->node())) return std::nullopt;
    root = &next->second;
  }
  return *root;
}

}  // namespace tenon::arith
