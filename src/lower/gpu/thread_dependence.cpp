#include "lower/gpu/thread_dependence.h"

#include <algorithm>

#include "lower/rewriting.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

ThreadDependence::ThreadDependence(const Stmt& body, const Var& thread) {
  stmt(body);
  std::vector<Node> pending{&thread.node()};
  dependent_.insert(&thread.node());
  while (!pending.empty()) {
    const Node from = pending.back();
    pending.pop_back();
    for (Node to : influences_[from]) {
      if (dependent_.insert(to).second) pending.push_back(to);
    }
  }
}

bool ThreadDependence::depends(const Expr& e) const {
  std::vector<Node> used;
  sources(e, used);
  return std::ranges::any_of(used, [&](Node node) { return dependent_.contains(node); });
}

void ThreadDependence::sources(const Expr& e, std::vector<Node>& result) const {
  if (e.as<VarNode>()) result.push_back(&e.node());
  if (const Load* load = e.as<Load>()) result.push_back(&load->buffer->data.node());
  for_each_child(e, [&](const Expr& child) { sources(child, result); });
}

void ThreadDependence::record(const Var& to, const std::vector<Expr>& from) {
  std::vector<Node> used = control_;
  for (const Expr& e : from) sources(e, used);
  for (Node node : used) {
    if (node != &to.node()) influences_[node].push_back(&to.node());
  }
}

void ThreadDependence::stmt(const Stmt& s) {
  if (const Store* n = s.as<Store>()) {
    std::vector<Expr> from = n->indices;
    from.push_back(n->value);
    return record(n->buffer->data, from);
  }
  if (const Evaluate* n = s.as<Evaluate>()) {
    // All arguments of a call may influence the memory that the call writes.
    walk(n->value, [&](const Call& call) {
      if (!call.is(Intrin::tvm_access_ptr)) return;
      const auto mask = constant_int(call.args[4]);
      if (!mask || (*mask & 2)) record(Var::of(call.args[1]), {n->value});
    });
    return;
  }
  const std::size_t control = control_.size();
  if (const Let* n = s.as<Let>()) record(n->var, {n->value});
  if (const Allocate* n = s.as<Allocate>()) record(n->data, n->extents);
  if (const For* n = s.as<For>()) {
    record(n->var, {n->min, n->extent});
    sources(n->min, control_), sources(n->extent, control_);
  }
  if (const If* n = s.as<If>()) sources(n->condition, control_);
  if (const While* n = s.as<While>()) sources(n->condition, control_);
  for_each_statement(s, [&](const Stmt& child) { stmt(child); });
  control_.resize(control);
}

}  // namespace tenon::lowering
