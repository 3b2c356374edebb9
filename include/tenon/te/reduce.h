// Reductions: the whole body of a compute.
//
//   te::sum(A(i, k) * B(k, j), {k})
//   te::max(A(i, k), {k}, {.where = k <= i})
//   te::max(a, b)                                   // of two expressions: elementwise
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>

#include "tenon/te/tensor.h"

namespace tenon::te {

/// What limits a reduction, and what it starts from.
struct ReduceOptions {
  /// Only points where this holds take part.
  std::optional<Expr> where = std::nullopt;
  /// Start values in place of the identity: a constant or a tensor element, one per component.
  std::vector<Expr> init = {};
};

// TypeError: no axis, an axis that is not from reduce_axis, an init or a condition that does not
// fit.
Expr sum(const Operand& e, std::vector<IterVar> axis, ReduceOptions options = {});
Expr prod(const Operand& e, std::vector<IterVar> axis, ReduceOptions options = {});
Expr min(const Operand& e, std::initializer_list<IterVar> axis, ReduceOptions options = {});
Expr min(const Operand& e, const std::vector<IterVar>& axis, ReduceOptions options = {});
Expr max(const Operand& e, std::initializer_list<IterVar> axis, ReduceOptions options = {});
Expr max(const Operand& e, const std::vector<IterVar>& axis, ReduceOptions options = {});
/// Conjunction and disjunction of Bool over all points.
Expr all(const Operand& e, std::initializer_list<IterVar> axis, ReduceOptions options = {});
Expr all(const Operand& e, const std::vector<IterVar>& axis, ReduceOptions options = {});
Expr any(const Operand& e, std::initializer_list<IterVar> axis, ReduceOptions options = {});
Expr any(const Operand& e, const std::vector<IterVar>& axis, ReduceOptions options = {});

/// Of two expressions: the elementwise ones.
inline Expr min(const Operand& a, const Operand& b) { return tir::min(a, b); }
inline Expr max(const Operand& a, const Operand& b) { return tir::max(a, b); }
using tir::all;
using tir::any;

/// A user's own reduction of tuples. The combination must be associative and commutative, and the
/// identity neutral.
class Reducer {
 public:
  using Combine = std::function<std::vector<Expr>(std::span<const Var> x, std::span<const Var> y)>;
  using Identity = std::function<std::vector<Expr>(std::span<const DataType> types)>;
  /// As comm_reducer.
  Reducer(Combine combine, Identity identity, Name name,
          SourceLocation where = SourceLocation::current());
  // Moving copies, so that a reducer is never empty.
  Reducer(const Reducer&) = default;
  Reducer& operator=(const Reducer&) = default;

  /// One component per source: the bodies of a compute_multi.
  std::vector<Expr> operator()(std::vector<Expr> sources, std::vector<IterVar> axis,
                               ReduceOptions options = {},
                               SourceLocation where = SourceLocation::current()) const;
  /// The same of a list in braces, of which one of a single source would otherwise also be an
  /// Operand.
  std::vector<Expr> operator()(std::initializer_list<Expr> sources, std::vector<IterVar> axis,
                               ReduceOptions options = {},
                               SourceLocation where = SourceLocation::current()) const {
    return (*this)(std::vector<Expr>(sources), std::move(axis), std::move(options), where);
  }
  /// The body of a compute, for a reducer of one component.
  Expr operator()(const Operand& source, std::vector<IterVar> axis,
                  ReduceOptions options = {}) const;

 private:
  Combine combine_;
  Identity identity_;
  std::string name_;
};

/// argmax = comm_reducer(combine, identity, "argmax"); argmax({index, value}, {k})
/// TypeError: an empty function.
Reducer comm_reducer(Reducer::Combine combine, Reducer::Identity identity, Name name = "reduce",
                     SourceLocation where = SourceLocation::current());

}  // namespace tenon::te
