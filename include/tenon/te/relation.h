// Relations between iteration variables: how split, fuse and similar primitives derive new axes
// from existing ones. A stage's relations, in creation order, lead from its root axes to its leaf
// axes.
//
//   split i by 8:   Split{.parent = i, .outer = i.outer, .inner = i.inner, .count = 8}
//
// src/te/relations/ has one file per relation, with its effect on ranges, domains, indices and
// guards.
#pragma once

#include <variant>

#include "tenon/te/tensor.h"

namespace tenon::te {

/// parent = outer * extent(inner) + inner.
struct Split {
  IterVar parent, outer, inner;
  /// The factor, or the number of parts if `is_by_parts`. It is the extent of the inner or of the
  /// outer axis, unless the extent of the parent is provably less, which then replaces it.
  Expr count;
  bool is_by_parts = false;

  /// Return the axis whose extent `count` determines, and the other one.
  const IterVar& counted() const { return is_by_parts ? outer : inner; }
  const IterVar& not_counted() const { return is_by_parts ? inner : outer; }
};

/// fused = outer * extent(inner) + inner.
struct Fuse {
  IterVar outer, inner, fused;
};

/// rebased = parent - min(parent), so that the axis starts at 0.
struct Rebase {
  IterVar parent, rebased;
};

/// An axis of extent 1 without parents.
struct Singleton {
  IterVar iter;
};

/// A bijection between two boxes of points: transformed = forward(original), original =
/// inverse(transformed). With padding, the box of the original axes is larger than their domains.
struct Transform {
  /// Expressions `results` of the variables `params`.
  struct Map {
    std::vector<Var> params;
    std::vector<Expr> results;
  };
  std::vector<IterVar> originals, transformed;
  Map forward, inverse;
  bool pads = false;
};

/// A relation of any kind.
using Relation = std::variant<Split, Fuse, Rebase, Singleton, Transform>;

/// Return the axes that a relation consumes, and the axes that it creates.
std::vector<IterVar> parents_of(const Relation& relation);
std::vector<IterVar> children_of(const Relation& relation);

}  // namespace tenon::te
