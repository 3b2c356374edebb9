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
  /// The name used in messages about differences between nodes.
  const char* name;
  T Node::*member;
};

/// The fields of a kind of node, in order of declaration, which is also the order of evaluation.
template <class Node>
inline constexpr auto kFields = nullptr;

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
template <> inline constexpr auto kFields<IntImm> =
    std::tuple(detail::part("constant", &IntImm::value));
template <> inline constexpr auto kFields<FloatImm> =
    std::tuple(detail::part("constant", &FloatImm::value));
template <> inline constexpr auto kFields<StringImm> =
    std::tuple(detail::part("text", &StringImm::value));
/// Empty, because variables compare by identity.
template <> inline constexpr auto kFields<VarNode> = std::tuple();
template <> inline constexpr auto kFields<Cast> = std::tuple(detail::part("value", &Cast::value));
template <> inline constexpr auto kFields<Binary> = std::tuple(
    detail::part("operator", &Binary::op), detail::part("left operand", &Binary::a),
    detail::part("right operand", &Binary::b));
template <> inline constexpr auto kFields<Not> = std::tuple(detail::part("operand", &Not::a));
template <> inline constexpr auto kFields<Select> = std::tuple(
    detail::part("condition", &Select::condition), detail::part("value", &Select::if_true),
    detail::part("value", &Select::if_false));
template <> inline constexpr auto kFields<Ramp> = std::tuple(
    detail::part("base", &Ramp::base), detail::part("stride", &Ramp::stride),
    detail::part("lanes", &Ramp::lanes));
template <> inline constexpr auto kFields<Broadcast> = std::tuple(
    detail::part("value", &Broadcast::value), detail::part("lanes", &Broadcast::lanes));
template <> inline constexpr auto kFields<Shuffle> = std::tuple(
    detail::part("vectors", &Shuffle::vectors), detail::part("indices", &Shuffle::indices));
template <> inline constexpr auto kFields<LetExpr> = std::tuple(
    detail::definition("variable", &LetExpr::var), detail::part("value", &LetExpr::value),
    detail::body(&LetExpr::body));
template <> inline constexpr auto kFields<Call> = std::tuple(
    detail::part("called function", &Call::callee), detail::part("arguments", &Call::args));
template <> inline constexpr auto kFields<Load> = std::tuple(
    detail::part("buffer", &Load::buffer), detail::part("indices", &Load::indices));
template <> inline constexpr auto kFields<ProducerLoad> = std::tuple(
    detail::part("tensor", &ProducerLoad::producer),
    detail::part("indices", &ProducerLoad::indices));
template <> inline constexpr auto kFields<Reduce> = std::tuple(
    detail::part("reduction", &Reduce::reduction),
    detail::part("reduction", &Reduce::value_index));

template <> inline constexpr auto kFields<Store> = std::tuple(
    detail::part("buffer", &Store::buffer), detail::part("value", &Store::value),
    detail::part("indices", &Store::indices));
template <> inline constexpr auto kFields<Realize> = std::tuple(
    detail::definition("buffer", &Realize::buffer), detail::part("bounds", &Realize::bounds),
    detail::part("condition", &Realize::condition), detail::body(&Realize::body),
    detail::part("traits", &Realize::traits));
template <> inline constexpr auto kFields<BufferView> = std::tuple(
    detail::definition("buffer", &BufferView::view), detail::part("buffer", &BufferView::source),
    detail::part("region", &BufferView::region), detail::body(&BufferView::body));
template <> inline constexpr auto kFields<Allocate> = std::tuple(
    detail::definition("allocation", &Allocate::data),
    detail::part("allocation", &Allocate::dtype), detail::part("extents", &Allocate::extents),
    detail::part("condition", &Allocate::condition), detail::body(&Allocate::body),
    detail::part("allocation", &Allocate::double_buffer));
template <> inline constexpr auto kFields<For> = std::tuple(
    detail::definition("loop variable", &For::var), detail::part("beginning", &For::min),
    detail::part("extent", &For::extent), detail::part("kind of loop", &For::kind),
    detail::body(&For::body), detail::part("traits", &For::traits));
template <> inline constexpr auto kFields<While> = std::tuple(
    detail::part("condition", &While::condition), detail::body(&While::body));
template <> inline constexpr auto kFields<If> = std::tuple(
    detail::part("condition", &If::condition), detail::body(&If::then_case),
    detail::body(&If::else_case));
template <> inline constexpr auto kFields<Let> = std::tuple(
    detail::definition("variable", &Let::var), detail::part("value", &Let::value),
    detail::body(&Let::body));
template <> inline constexpr auto kFields<Assert> = std::tuple(
    detail::part("condition", &Assert::condition), detail::part("message", &Assert::message),
    detail::body(&Assert::body));
template <> inline constexpr auto kFields<Attr> = std::tuple(
    detail::part("attribute", &Attr::kind), detail::definition("subject", &Attr::subject),
    detail::part("attribute", &Attr::key), detail::part("value", &Attr::value),
    detail::body(&Attr::body));
template <> inline constexpr auto kFields<Evaluate> =
    std::tuple(detail::part("value", &Evaluate::value));
template <> inline constexpr auto kFields<Seq> = std::tuple(detail::body(&Seq::stmts));
template <> inline constexpr auto kFields<Prefetch> = std::tuple(
    detail::part("buffer", &Prefetch::buffer), detail::part("region", &Prefetch::region));
/// The whole block is one field: its iterators and buffers are defined both for its regions and for
/// its bodies.
template <> inline constexpr auto kFields<BlockRealize> = std::tuple(
    detail::part("iterator values", &BlockRealize::values),
    detail::part("predicate", &BlockRealize::predicate), detail::body(&BlockRealize::block));
// clang-format on

/// Calls f(field) for each field of the kind, or for each field of one role, in order.
template <class Node, class F>
constexpr void for_each_field(F&& f) {
  std::apply([&](const auto&... field) { (f(field), ...); }, kFields<Node>);
}
template <class Node, FieldRole kRole, class F>
constexpr void for_each_field(F&& f) {
  for_each_field<Node>([&]<FieldRole kOwn, class N, class T>(const Field<kOwn, N, T>& field) {
    if constexpr (kOwn == kRole) f(field);
  });
}

/// Whether `T` is one of the types `Each`.
template <class T, class... Each>
concept OneOf = (std::same_as<T, Each> || ...);

/// A type of a member without sub-expressions and sub-statements. A type that is neither a leaf nor
/// a known container does not compile, so that traversals cannot skip a part by accident. (An
/// attribute refers to its subject but does not evaluate it.)
template <class T>
concept LeafField = OneOf<T, bool, int, std::int64_t, double, std::string, DataType, BinaryOp,
                          ForKind, AttrKind, Var, Buffer, ProducerRef, Realize::Traits,
                          decltype(For::traits), decltype(Call::callee), decltype(Attr::subject)>;

}  // namespace tenon::tir
