// Computes the contents of a node (the set of node kinds in it) from the contents of its fields.
#pragma once

#include "tenon/tir/fields.h"

namespace tenon::tir {

static_assert(std::variant_size_v<ExprNode::Value> <= 16 &&
                  std::variant_size_v<StmtNode::Value> <= 16 &&
                  Content::EmptyLoop < Content::LoopKinds &&
                  content_of(ForKind::ThreadBinding) < Content::AttributeKinds &&
                  static_cast<int>(content_of(AttrKind::BufferBound)) < 64,
              "each Content has a bit of its own");

inline Contents contents_in(const Expr& e) { return e.node().contents; }
inline Contents contents_in(const Var& var) { return var.node().contents; }
inline Contents contents_in(const Stmt& s) { return s.node().contents; }
inline Contents contents_in(const Range& range) {
  return contents_in(range.min) | contents_in(range.extent);
}
inline Contents contents_in(const decltype(Attr::subject)& subject) {
  if (const Expr* e = std::get_if<Expr>(&subject)) return contents_in(*e);
  if (const IterVar* axis = std::get_if<IterVar>(&subject)) return contents_in(axis->var());
  return {};
}
/// Returns all contents. Axes and blocks are not analyzed, because they have domains, regions and
/// definitions of their own.
inline Contents contents_in(const std::shared_ptr<const ReduceNode>&) {
  return Contents::everything();
}
inline Contents contents_in(const std::shared_ptr<const Block>&) { return Contents::everything(); }
template <LeafField T>
Contents contents_in(const T&) {
  return {};
}
template <class T>
Contents contents_in(const std::optional<T>& part) {
  return part ? contents_in(*part) : Contents();
}
template <class T>
Contents contents_in(const std::vector<T>& list) {
  Contents contents;
  for (const T& part : list) contents |= contents_in(part);
  return contents;
}

/// Returns the contents of all fields, plus the kind of the node.
template <class Node>
Contents contents_of_parts(const Node& node) {
  Contents contents;
  contents.add(kContentOf<Node>);
  for_each_field<Node>([&](const auto& field) { contents |= contents_in(node.*field.member); });
  return contents;
}

}  // namespace tenon::tir
