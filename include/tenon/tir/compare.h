// Structural comparison. Free variables, buffers, producers and reducers compare by identity.
// Variables that a tree defines (by loops, lets or allocations) are matched with those of the other
// tree, whatever their names.
#pragma once

#include "tenon/tir/function.h"

namespace tenon::tir {

/// Whether two trees are equal up to the names of the variables and buffers that they define.
bool structural_equal(const Expr& a, const Expr& b);
bool structural_equal(const Stmt& a, const Stmt& b);
/// Whether two lists have the same length and structurally equal elements.
bool structural_equal(const std::vector<Expr>& a, const std::vector<Expr>& b);
/// Compares functions. Parameters and their buffers are matched by position.
bool structural_equal(const PrimFunc& a, const PrimFunc& b);

/// Returns the direct sub-expressions, left to right.
std::vector<Expr> children_of(const Expr& e);
/// Whether two nodes are equal apart from their direct sub-expressions.
bool equal_but_for_children(const Expr& a, const Expr& b);

/// The first difference between two trees, with the text of both sides.
struct Difference {
  std::string left, right;
  /// The kind of difference: "operator", "constant", "dtype", "variable", ...
  std::string what;
};
/// Returns the first difference in textual order; nullopt if the trees are equal.
std::optional<Difference> first_difference(const Expr& a, const Expr& b);
std::optional<Difference> first_difference(const Stmt& a, const Stmt& b);

}  // namespace tenon::tir
