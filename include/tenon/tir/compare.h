// Structural comparison. Free variables, buffers, producers and reducers are compared by identity;
// variables defined inside (loops, lets, allocations) may be renamed between the two sides.
#pragma once

#include "tenon/tir/function.h"

namespace tenon::tir {

/// Whether they are equal but for the names of what they define.
bool structural_equal(const Expr& a, const Expr& b);
bool structural_equal(const Stmt& a, const Stmt& b);
/// Lists of equal length whose elements are equal one by one.
bool structural_equal(const std::vector<Expr>& a, const std::vector<Expr>& b);
/// Parameters and their buffers are matched by position.
bool structural_equal(const PrimFunc& a, const PrimFunc& b);

/// The first place where two trees differ, as texts of both sides; nullopt if they are equal.
struct Difference {
  std::string left, right;
  /// What differs: "operator", "constant", "dtype", "variable", ...
  std::string what;
};
/// In the order of the text.
std::optional<Difference> first_difference(const Expr& a, const Expr& b);
std::optional<Difference> first_difference(const Stmt& a, const Stmt& b);

}  // namespace tenon::tir
