#include "tenon/s_tir/program.h"

#include <algorithm>

#include "s_tir/context.h"
#include "tenon/tir/walk.h"

namespace tenon::s_tir {

using namespace tir;

Program::Program(PrimFunc func) : func_(std::move(func)) {
  internal_check(func_.body.as<BlockRealize>() != nullptr,
                 "a schedule is made of a function that is not a block program");
  add(func_.body, std::nullopt, std::nullopt, std::nullopt, false);
}

void Program::add(const Stmt& s, std::optional<int> parent, std::optional<int> outer,
                  std::optional<int> scope, bool in_init) {
  const int n = size();
  nodes_.push_back({s, parent, outer, scope, n, in_init});
  const auto* realize = s.as<BlockRealize>();
  const auto* loop = s.as<For>();
  if (loop) loops_.insert_or_assign(&loop->var.node(), n);
  if (realize) blocks_.insert_or_assign(realize->block->id, n);
  const std::optional<int> outer_of_children = loop || realize ? n : outer;
  const std::optional<int> scope_of_children = realize ? n : scope;
  for_each_child(
      s, [](const Expr&) {},
      [&](const Stmt& child) {
        const bool is_init =
            realize && realize->block->init && child.same_as(*realize->block->init);
        add(child, n, outer_of_children, scope_of_children, realize ? is_init : in_init);
      });
  nodes_[n].end = size();
}

std::optional<int> Program::find_loop(const Var& var) const {
  const auto entry = loops_.find(&var.node());
  return entry == loops_.end() ? std::nullopt : std::optional<int>(entry->second);
}

std::optional<int> Program::find_block(const BlockId& id) const {
  const auto entry = blocks_.find(id);
  return entry == blocks_.end() ? std::nullopt : std::optional<int>(entry->second);
}

std::vector<int> Program::blocks_named(const std::string& name) const {
  std::vector<int> result;
  for (int n = 0; n < size(); ++n)
    if (is_block(n) && block(n).name == name) result.push_back(n);
  return result;
}

std::vector<int> Program::loops_of(int n) const {
  std::vector<int> result;
  for (std::optional<int> at = outer(n); at && is_loop(*at); at = outer(*at)) result.push_back(*at);
  std::ranges::reverse(result);
  return result;
}

std::vector<int> Program::loops_below(int n, int top) const {
  std::vector<int> result = loops_of(n);
  std::erase_if(result, [&](int loop) { return loop <= top; });
  return result;
}

std::vector<int> Program::statements(int n) const {
  std::vector<int> result;
  for (int at = n + 1; at < nodes_[n].end; at = is_block(at) ? nodes_[at].end : at + 1)
    result.push_back(at);
  return result;
}

std::vector<int> Program::child_blocks(int n) const {
  std::vector<int> result = statements(n);
  std::erase_if(result, [&](int at) { return !is_block(at); });
  return result;
}

std::vector<int> Program::leaves(int n) const {
  std::vector<int> result = statements(n);
  std::erase_if(result, [&](int at) { return !is_block(at) && nodes_[at].end != at + 1; });
  return result;
}

int Program::common(int a, int b) const {
  while (a != b) (a > b ? a : b) = *parent(std::max(a, b));
  return a;
}

PrimFunc Program::with(int n, const Stmt& replacement) const {
  Stmt current = replacement;
  for (int at = n; at != 0; at = *parent(at))
    current = with_child(stmt(*parent(at)), stmt(at), current);
  return with_body(std::move(current));
}

PrimFunc Program::with_body(Stmt body) const {
  PrimFunc func = func_;
  func.body = std::move(body);
  return func;
}

}  // namespace tenon::s_tir
