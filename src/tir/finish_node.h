// The derived members of an expression node: hash and contents, computed from its type and value.
#pragma once

#include <bit>
#include <functional>

#include "tenon/support/match.h"
#include "tenon/support/mix.h"
#include "tenon/tir/walk.h"
#include "tir/contents_in.h"

namespace tenon::tir {

// ---- the hash -----------------------------------------------------------------------------------

inline std::size_t hash_all(std::size_t seed, const std::vector<Expr>& list) {
  for (const Expr& e : list) seed = mix(seed, e.node().hash);
  return mix(seed, list.size());
}

inline std::size_t hash_pointer(const void* p) { return std::hash<const void*>{}(p); }

/// The contribution of a field to the hash of its node.
inline std::size_t hash_field(const Expr& e) { return e.node().hash; }
inline std::size_t hash_field(std::int64_t value) { return static_cast<std::size_t>(value); }
inline std::size_t hash_field(int value) { return static_cast<std::size_t>(value); }
inline std::size_t hash_field(double value) { return std::bit_cast<std::size_t>(value); }
inline std::size_t hash_field(BinaryOp op) { return static_cast<std::size_t>(op); }
inline std::size_t hash_field(const std::string& text) { return std::hash<std::string>{}(text); }
inline std::size_t hash_field(const Buffer& buffer) { return hash_pointer(buffer.get()); }
inline std::size_t hash_field(const std::vector<Expr>& list) { return hash_all(0, list); }
inline std::size_t hash_field(const decltype(Call::callee)& callee) {
  return match(
      callee, [](Intrin i) { return static_cast<std::size_t>(i); },
      [](const ExternCallee& c) { return std::hash<std::string>{}(c.name); });
}
inline std::size_t hash_field(const ProducerRef& producer) {
  return mix(hash_pointer(producer->operation_identity()),
             static_cast<std::size_t>(producer->value_index()));
}
inline std::size_t hash_field(const std::shared_ptr<const ReduceNode>& reduction) {
  return hash_all(hash_pointer(reduction->combiner.get()), reduction->source);
}

template <class Node>
std::size_t hash_of(const Node& node, std::size_t kind) {
  std::size_t hash = kind + 1;
  // Hashes only fields without bound variables and their uses. Trees that differ only in the names
  // of bound variables are equal, so their hashes must be equal.
  for_each_field<Node, FieldRole::Part>(
      [&](const auto& field) { hash = mix(hash, hash_field(node.*field.member)); });
  return hash;
}
/// The hash of a variable is its address, because variables compare by identity.
inline std::size_t hash_of(const VarNode& node, std::size_t) { return hash_pointer(&node); }

// ---- contents -----------------------------------------------------------------------------------

inline bool is_order(BinaryOp op) {
  return op == BinaryOp::Lt || op == BinaryOp::Le || op == BinaryOp::Gt || op == BinaryOp::Ge;
}

/// Whether the call is index arithmetic if its arguments are indices. A left shift is not, because
/// it drops bits.
inline bool is_index_arithmetic(const Call& n) {
  for (const Intrin intrin :
       {Intrin::if_then_else, Intrin::likely, Intrin::shift_right, Intrin::bitwise_and,
        Intrin::bitwise_or, Intrin::bitwise_xor, Intrin::bitwise_not})
    if (n.is(intrin)) return true;
  return false;
}

template <class Node>
Contents contents_of(const ExprNode& whole, const Node& node) {
  const DataType type = whole.dtype;
  Contents contents = contents_of_parts(node);
  if (type.is_int() && type.bits > 32) contents.add(Content::Int64);
  if (type.is_bfloat()) contents.add(Content::BFloat16);
  if constexpr (std::same_as<Node, VarNode>) {
    contents.variables = bit_of_variable(&whole);
    if (node.is_data) contents.add(Content::DataVariable);
  }
  if constexpr (std::same_as<Node, Call>) {
    if (contents.variables == 0) contents.variables = 1;
    if (!is_index_arithmetic(node)) contents.add(Content::DataCall);
    if (effect_of(node) != Effect::Pure) contents.add(Content::ImpureCall);
  }
  if constexpr (std::same_as<Node, Cast>) {
    const DataType from = node.value.dtype();
    const bool is_size = from.is_integral() && node.value.template as<VarNode>();
    if (!from.element().is_index() && !from.is_bool() && !is_size) contents.add(Content::DataCast);
    if (type.is_narrow() && !type.includes(from)) contents.add(Content::LossyCast);
  }
  if constexpr (std::same_as<Node, Binary>) {
    if (node.op == BinaryOp::FloorDiv) contents.add(Content::FloorDiv);
    if (is_order(node.op)) contents.add(Content::Order);
    if ((node.op == BinaryOp::Min || node.op == BinaryOp::Max) && !type.is_index())
      contents.add(Content::DataExtremum);
  }
  return contents;
}

/// Computes the derived members once the value is at its final address.
template <class Node>
void finish(ExprNode& node) {
  const Node& value = *std::get_if<Node>(&node.value);
  const DataType type = node.dtype;
  node.hash =
      mix(hash_of(value, node.value.index()),
          static_cast<std::size_t>(type.code) << 24 ^ std::size_t{type.bits} << 16 ^ type.lanes);
  node.contents = contents_of(node, value);
}

}  // namespace tenon::tir
