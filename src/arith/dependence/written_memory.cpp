#include <ranges>
#include <vector>

#include "tenon/arith/dependence.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using namespace tir;

const WrittenMemory::Found& WrittenMemory::found() const {
  if (found_) return *found_;
  auto& [written, ambiguous, source_of] = found_.emplace();
  std::vector<std::pair<Var, Var>> views;
  const auto add_view = [&](const Buffer& view, const Buffer& source) {
    views.emplace_back(view->data, source->data);
    const auto [known, is_new] = source_of.emplace(&view->data.node(), source->data);
    if (!is_new && !known->second.same_as(source->data)) ambiguous.insert(&view->data.node());
  };
  walk(
      body_, [&](const Store& n) { written.insert(&n.buffer->data.node()); },
      [&](const BufferView& n) { add_view(n.view, n.source); },
      [&](const BlockRealize& n) {
        for (const BufferRegion& region : n.block->writes)
          written.insert(&region.buffer->data.node());
        for (const MatchBuffer& match : n.block->match_buffers)
          add_view(match.buffer, match.source.buffer);
      },
      [&](const Call& n) {
        if (n.is(Intrin::tvm_access_ptr)) {
          if (constant_int(n.args[4]) != 1) written.insert(&n.args[1].node());
          return;
        }
        // A callee may write through any address that it receives.
        if (n.is(Intrin::address_of))
          if (const Load* load = n.args[0].as<Load>()) written.insert(&load->buffer->data.node());
        for (const Expr& arg : n.args)
          if (arg.as<VarNode>() && arg.as<VarNode>()->pointer) written.insert(&arg.node());
      });
  // Visits views in reverse order, because views of views follow their sources.
  for (const auto& [view, source] : std::views::reverse(views))
    if (written.contains(&view.node())) written.insert(&source.node());
  return *found_;
}

bool WrittenMemory::is_stable(const Expr& e) const {
  const Effect effect = effect_of(e);
  if (effect == Effect::Pure) return true;
  if (effect == Effect::UpdateState) return false;
  return !any_node(
      e,
      [&](const Load& n) {
        const std::optional<Var> root = root_of(n.buffer->data);
        return !root || found().written.contains(&root->node()) ||
               found().written.contains(&n.buffer->data.node());
      },
      [&](const Call& n) {
        const Intrin* intrin = std::get_if<Intrin>(&n.callee);
        return !intrin || effect_of(*intrin) != Effect::Pure;
      });
}

std::optional<Var> WrittenMemory::root_of(const Var& data) const {
  const auto& [written, ambiguous, source_of] = found();
  const Var* root = &data;
  for (auto next = source_of.find(&root->node()); next != source_of.end();
       next = source_of.find(&root->node())) {
    if (ambiguous.contains(&root->node())) return std::nullopt;
    root = &next->second;
  }
  return *root;
}

}  // namespace tenon::arith
