// Relations between iteration variables: how split, fuse and the like made new axes from old ones.
// A stage's list of them, in the order of their making, leads from its root axes to its leaf axes.
//
//   split i by 8:   Split{.parent = i, .outer = i.outer, .inner = i.inner, .size = ByFactor{8}}
//
// What follows from a relation for ranges, domains, indices and guards is in src/te/relations/, a
// page for each kind.
#pragma once

#include <variant>

#include "tenon/te/tensor.h"

namespace tenon::te {

/// parent = outer * extent(inner) + inner.
struct Split {
  /// Inner extent is `factor`, or the parent's where that is less.
  struct ByFactor {
    Expr factor;
  };
  /// Outer extent is `parts`, or the parent's where that is less.
  struct ByParts {
    Expr parts;
  };
  IterVar parent, outer, inner;
  std::variant<ByFactor, ByParts> size;
};

/// fused = outer * extent(inner) + inner.
struct Fuse {
  IterVar outer, inner, fused;
};

/// rebased = parent - min(parent): starts at 0.
struct Rebase {
  IterVar parent, rebased;
};

/// An axis of extent 1 that comes from nothing.
struct Singleton {
  IterVar iter;
};

/// A bijection between boxes: transformed = forward(original), original = inverse(transformed).
/// With padding, that of the originals is a larger one than they go through.
struct Transform {
  /// results[i] in terms of params.
  struct Map {
    std::vector<Var> params;
    std::vector<Expr> results;
  };
  std::vector<IterVar> originals, transformed;
  Map forward, inverse;
  bool pads = false;
};

/// What an axis can be made by.
using Relation = std::variant<Split, Fuse, Rebase, Singleton, Transform>;

/// The axes that a relation consumes, and those that it makes.
std::vector<IterVar> parents_of(const Relation& relation);
std::vector<IterVar> children_of(const Relation& relation);

}  // namespace tenon::te
