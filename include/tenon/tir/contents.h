// What may be in a tree, told by its root: kept in each node, so that who looks for something does
// not walk through what has none of it.
//
//   if (!contains<Select>(func.body)) return func;
//   if (!contains(s, ForKind::Vectorized)) return s;
#pragma once

#include <cstdint>

#include "tenon/tir/type.h"

namespace tenon::tir {

/// What is looked for. Below 32 are the kinds of nodes, in the order of the variants: those of
/// expressions, from 16 on those of statements.
enum class Content : std::uint8_t {
  FloorDiv = 32,
  Order,  // <, <=, >, >=
  Int64,
  BFloat16,      // a value or memory
  DataExtremum,  // min or max of what is no index
  DoubleBuffer,
  RollingBuffer,
  EmptyLoop,           // of no iterations, by its constant extent
  LoopKinds = 40,      // in the order of ForKind
  AttributeKinds = 48  // in the order of AttrKind
};

struct ExprNode;

/// The bit of a variable, by the address of its node.
std::uint64_t bit_of_variable(const ExprNode* var);

struct Contents {
  /// The bits of the variables that are used or defined; some share one (a Bloom filter). A call
  /// without variables counts as one.
  std::uint64_t variables = 0;
  /// A bit for each Content.
  std::uint64_t kinds = 0;

  constexpr void add(Content content) { kinds |= bit_of(content); }
  constexpr bool has(Content content) const { return (kinds & bit_of(content)) != 0; }
  friend constexpr Contents operator|(Contents a, Contents b) {
    return {a.variables | b.variables, a.kinds | b.kinds};
  }
  constexpr Contents& operator|=(Contents other) { return *this = *this | other; }

  static constexpr Contents everything() { return {~std::uint64_t{0}, ~std::uint64_t{0}}; }

 private:
  static constexpr std::uint64_t bit_of(Content content) {
    return std::uint64_t{1} << static_cast<unsigned>(content);
  }
};

constexpr Content content_of(ForKind kind) {
  return static_cast<Content>(static_cast<int>(Content::LoopKinds) + static_cast<int>(kind));
}
constexpr Content content_of(AttrKind kind) {
  return static_cast<Content>(static_cast<int>(Content::AttributeKinds) + static_cast<int>(kind));
}

}  // namespace tenon::tir
