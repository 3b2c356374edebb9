// The members of each kind of node, listed once. Walking, rewriting, comparing and hashing use
// these lists. A new kind of node therefore needs its struct, its entry here, and its semantics.
//
//   for_each_field<Binary>([&](const auto& field) { show(field.name, node.*field.member); });
#pragma once

#include <tuple>

#include "tenon/tir/block.h"

namespace tenon::tir {

/// The role of a member in its node.
enum class FieldRole : std::uint8_t {
  Part,        // a value, or an expression, list or range of expressions
  Definition,  // a variable or buffer that is defined in the node's body
  Body         // the code in which the definitions are visible
};

/// One member of a node and its role.
template <FieldRole kRole, class Node, class T>
struct Field {
  static constexpr FieldRole role = kRole;
  /// The name used in messages about differences between nodes.
  const char* name;
  T Node::*member;
};

/// `list` holds the members in order of declaration, which is also the order of evaluation.
template <class Node>
struct Fields;

namespace detail {
template <class Node, class T>
constexpr Field<FieldRole::Part, Node, T> part(const char* name, T Node::*member) {
  return {name, member};
}
template <class Node, class T>
constexpr Field<FieldRole::Definition, Node, T> definition(const char* name, T Node::*member) {
  return {name, member};
}
template <class Node, class T>
constexpr Field<FieldRole::Body, Node, T> body(T Node::*member) {
  return {"body", member};
}
}  // namespace detail

// clang-format off
template <> struct Fields<IntImm> {
  static constexpr auto list = std::tuple(detail::part("constant", &IntImm::value));
};
template <> struct Fields<FloatImm> {
  static constexpr auto list = std::tuple(detail::part("constant", &FloatImm::value));
};
template <> struct Fields<StringImm> {
  static constexpr auto list = std::tuple(detail::part("text", &StringImm::value));
};
/// Empty, because variables compare by identity.
template <> struct Fields<VarNode> {
  static constexpr auto list = std::tuple();
};
template <> struct Fields<Cast> {
  static constexpr auto list = std::tuple(detail::part("value", &Cast::value));
};
template <> struct Fields<Binary> {
  static constexpr auto list = std::tuple(
      detail::part("operator", &Binary::op), detail::part("left operand", &Binary::a),
      detail::part("right operand", &Binary::b));
};
template <> struct Fields<Not> {
  static constexpr auto list = std::tuple(detail::part("operand", &Not::a));
};
template <> struct Fields<Select> {
  static constexpr auto list = std::tuple(
      detail::part("condition", &Select::condition), detail::part("value", &Select::if_true),
      detail::part("value", &Select::if_false));
};
template <> struct Fields<Ramp> {
  static constexpr auto list = std::tuple(
      detail::part("base", &Ramp::base), detail::part("stride", &Ramp::stride),
      detail::part("lanes", &Ramp::lanes));
};
template <> struct Fields<Broadcast> {
  static constexpr auto list = std::tuple(
      detail::part("value", &Broadcast::value), detail::part("lanes", &Broadcast::lanes));
};
template <> struct Fields<Shuffle> {
  static constexpr auto list = std::tuple(
      detail::part("vectors", &Shuffle::vectors), detail::part("indices", &Shuffle::indices));
};
template <> struct Fields<LetExpr> {
  static constexpr auto list = std::tuple(
      detail::definition("variable", &LetExpr::var), detail::part("value", &LetExpr::value),
      detail::body(&LetExpr::body));
};
template <> struct Fields<Call> {
  static constexpr auto list = std::tuple(
      detail::part("called function", &Call::callee), detail::part("arguments", &Call::args));
};
template <> struct Fields<Load> {
  static constexpr auto list = std::tuple(
      detail::part("buffer", &Load::buffer), detail::part("indices", &Load::indices));
};
template <> struct Fields<ProducerLoad> {
  static constexpr auto list = std::tuple(
      detail::part("tensor", &ProducerLoad::producer),
      detail::part("indices", &ProducerLoad::indices));
};
template <> struct Fields<Reduce> {
  static constexpr auto list = std::tuple(
      detail::part("reduction", &Reduce::reduction),
      detail::part("reduction", &Reduce::value_index));
};

template <> struct Fields<Store> {
  static constexpr auto list = std::tuple(
      detail::part("buffer", &Store::buffer), detail::part("value", &Store::value),
      detail::part("indices", &Store::indices));
};
template <> struct Fields<Realize> {
  static constexpr auto list = std::tuple(
      detail::definition("buffer", &Realize::buffer), detail::part("bounds", &Realize::bounds),
      detail::part("condition", &Realize::condition), detail::body(&Realize::body),
      detail::part("traits", &Realize::traits));
};
template <> struct Fields<BufferView> {
  static constexpr auto list = std::tuple(
      detail::definition("buffer", &BufferView::view), detail::part("buffer", &BufferView::source),
      detail::part("region", &BufferView::region), detail::body(&BufferView::body));
};
template <> struct Fields<Allocate> {
  static constexpr auto list = std::tuple(
      detail::definition("allocation", &Allocate::data),
      detail::part("allocation", &Allocate::dtype), detail::part("extents", &Allocate::extents),
      detail::part("condition", &Allocate::condition), detail::body(&Allocate::body),
      detail::part("allocation", &Allocate::double_buffer));
};
template <> struct Fields<For> {
  static constexpr auto list = std::tuple(
      detail::definition("loop variable", &For::var), detail::part("beginning", &For::min),
      detail::part("extent", &For::extent), detail::part("kind of loop", &For::kind),
      detail::body(&For::body), detail::part("traits", &For::traits));
};
template <> struct Fields<While> {
  static constexpr auto list = std::tuple(
      detail::part("condition", &While::condition), detail::body(&While::body));
};
template <> struct Fields<If> {
  static constexpr auto list = std::tuple(
      detail::part("condition", &If::condition), detail::body(&If::then_case),
      detail::body(&If::else_case));
};
template <> struct Fields<Let> {
  static constexpr auto list = std::tuple(
      detail::definition("variable", &Let::var), detail::part("value", &Let::value),
      detail::body(&Let::body));
};
template <> struct Fields<Assert> {
  static constexpr auto list = std::tuple(
      detail::part("condition", &Assert::condition), detail::part("message", &Assert::message),
      detail::body(&Assert::body));
};
template <> struct Fields<Attr> {
  static constexpr auto list = std::tuple(
      detail::part("attribute", &Attr::kind), detail::definition("subject", &Attr::subject),
      detail::part("attribute", &Attr::key), detail::part("value", &Attr::value),
      detail::body(&Attr::body));
};
template <> struct Fields<Evaluate> {
  static constexpr auto list = std::tuple(detail::part("value", &Evaluate::value));
};
template <> struct Fields<Seq> {
  static constexpr auto list = std::tuple(detail::body(&Seq::stmts));
};
template <> struct Fields<Prefetch> {
  static constexpr auto list = std::tuple(
      detail::part("buffer", &Prefetch::buffer), detail::part("region", &Prefetch::region));
};
/// The whole block is one field: its iterators and buffers are defined both for its regions and for
/// its bodies.
template <> struct Fields<BlockRealize> {
  static constexpr auto list = std::tuple(
      detail::part("iterator values", &BlockRealize::values),
      detail::part("predicate", &BlockRealize::predicate), detail::body(&BlockRealize::block));
};
// clang-format on

/// Calls f(field) for each field of the kind, or for each field of one role, in order.
template <class Node, class F>
constexpr void for_each_field(F&& f) {
  std::apply([&](const auto&... field) { (f(field), ...); }, Fields<Node>::list);
}
template <class Node, FieldRole kRole, class F>
constexpr void for_each_field(F&& f) {
  for_each_field<Node>([&]<FieldRole kOwn, class N, class T>(const Field<kOwn, N, T>& field) {
    if constexpr (kOwn == kRole) f(field);
  });
}

/// Whether a member of this type is a leaf: it contains no sub-expression and no sub-statement. A
/// type that is neither a leaf nor a known container does not compile, so that traversals cannot
/// skip a part by accident.
template <class T>
struct IsLeafField : std::false_type {};
// clang-format off
template <> struct IsLeafField<bool> : std::true_type {};
template <> struct IsLeafField<int> : std::true_type {};
template <> struct IsLeafField<std::int64_t> : std::true_type {};
template <> struct IsLeafField<double> : std::true_type {};
template <> struct IsLeafField<std::string> : std::true_type {};
template <> struct IsLeafField<DataType> : std::true_type {};
template <> struct IsLeafField<BinaryOp> : std::true_type {};
template <> struct IsLeafField<ForKind> : std::true_type {};
template <> struct IsLeafField<AttrKind> : std::true_type {};
template <> struct IsLeafField<Var> : std::true_type {};
template <> struct IsLeafField<Buffer> : std::true_type {};
template <> struct IsLeafField<ProducerRef> : std::true_type {};
template <> struct IsLeafField<Realize::Traits> : std::true_type {};
template <> struct IsLeafField<decltype(For::traits)> : std::true_type {};
template <> struct IsLeafField<decltype(Call::callee)> : std::true_type {};
/// An attribute refers to its subject but does not evaluate it.
template <> struct IsLeafField<decltype(Attr::subject)> : std::true_type {};
// clang-format on

}  // namespace tenon::tir
