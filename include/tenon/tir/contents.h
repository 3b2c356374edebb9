// A summary of a tree's contents, stored in every node. Passes use it to skip subtrees that contain
// nothing of interest.
//
//   if (!contains<Select>(func.body)) return func;
//   if (!contains(s, ForKind::Vectorized)) return s;
#pragma once

#include <cstdint>

#include "tenon/tir/type.h"

namespace tenon::tir {

/// A kind of content. Values below 32 are the kinds of nodes: those of expressions from 0, in the
/// order of ExprNode::Value, and those of statements from 16, in the order of StmtNode::Value.
enum class Content : std::uint8_t {
  FloorDiv = 32,
  Order,  // a comparison by <, <=, > or >=
  Int64,
  BFloat16,      // a value or memory of this type
  DataExtremum,  // min or max of data, not of indices
  DataVariable,  // a variable that holds data
  DataCall,      // a call that is not index arithmetic
  ImpureCall,    // a call that reads or writes memory
  DataCast,      // a cast whose operand is not an index, a bool or an integer variable
  LossyCast,     // a cast to a narrow integer type that may change the value
  DoubleBuffer,
  RollingBuffer,
  EmptyLoop,           // a loop with constant extent 0
  LoopKinds = 45,      // the first of the values for loops, in the order of ForKind
  AttributeKinds = 50  // the first of the values for attributes, in the order of AttrKind
};

struct ExprNode;

/// Returns the bit of a variable in `Contents::variables`, hashed from its node's address.
std::uint64_t bit_of_variable(const ExprNode* var);

struct Contents {
  /// A Bloom filter of the variables that are used or defined. A call without variables sets bit 0,
  /// so that the filter of a tree with a call is never 0.
  std::uint64_t variables = 0;
  /// One bit per Content.
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
