// Reductions. A reduction must be the whole body of a compute.
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

/// The start values of a reduction. A literal takes the type of its component.
class Inits : public std::vector<Operand> {
 public:
  using std::vector<Operand>::vector;
  Inits(const std::vector<Expr>& values) : std::vector<Operand>(values.begin(), values.end()) {}
};

/// The domain and start value of a reduction.
struct ReduceOptions {
  /// The reduction includes only points at which this condition holds.
  std::optional<Expr> where = std::nullopt;
  /// Start values instead of the identity, one per component: constants or tensor elements.
  Inits init = {};
};

// Reductions by a built-in operator. TypeError if there is no axis, if an axis was not made by
// reduce_axis, or if `init` or `where` does not fit.
Expr sum(const Operand& e, std::vector<IterVar> axis, ReduceOptions options = {});
Expr prod(const Operand& e, std::vector<IterVar> axis, ReduceOptions options = {});
Expr min(const Operand& e, std::initializer_list<IterVar> axis, ReduceOptions options = {});
Expr min(const Operand& e, const std::vector<IterVar>& axis, ReduceOptions options = {});
Expr max(const Operand& e, std::initializer_list<IterVar> axis, ReduceOptions options = {});
Expr max(const Operand& e, const std::vector<IterVar>& axis, ReduceOptions options = {});
/// Conjunction and disjunction of a Bool over all points.
Expr all(const Operand& e, std::initializer_list<IterVar> axis, ReduceOptions options = {});
Expr all(const Operand& e, const std::vector<IterVar>& axis, ReduceOptions options = {});
Expr any(const Operand& e, std::initializer_list<IterVar> axis, ReduceOptions options = {});
Expr any(const Operand& e, const std::vector<IterVar>& axis, ReduceOptions options = {});

/// Elementwise minimum and maximum, so that te::min and te::max accept both forms.
inline Expr min(const Operand& a, const Operand& b) { return tir::min(a, b); }
inline Expr max(const Operand& a, const Operand& b) { return tir::max(a, b); }
using tir::all;
using tir::any;

/// A user-defined reduction of tuples. The combination must be associative and commutative, and the
/// identity must be neutral.
class Reducer {
 public:
  using Combine = std::function<std::vector<Expr>(std::span<const Var> x, std::span<const Var> y)>;
  using Identity = std::function<std::vector<Expr>(std::span<const DataType> types)>;
  /// Makes a reducer, as comm_reducer does.
  Reducer(Combine combine, Identity identity, Name name,
          SourceLocation where = SourceLocation::current());
  // A move copies, so that a moved-from reducer is not empty.
  Reducer(const Reducer&) = default;
  Reducer& operator=(const Reducer&) = default;

  /// Reduces a tuple. Returns one component per source, to be the bodies of a compute_multi.
  std::vector<Expr> operator()(std::vector<Expr> sources, std::vector<IterVar> axis,
                               ReduceOptions options = {},
                               SourceLocation where = SourceLocation::current()) const;
  /// Overload for a braced list, which with one element would also convert to an Operand.
  std::vector<Expr> operator()(std::initializer_list<Expr> sources, std::vector<IterVar> axis,
                               ReduceOptions options = {},
                               SourceLocation where = SourceLocation::current()) const {
    return (*this)(std::vector<Expr>(sources), std::move(axis), std::move(options), where);
  }
  /// Reduces one value, for a reducer with one component. The result is the body of a compute.
  Expr operator()(const Operand& source, std::vector<IterVar> axis,
                  ReduceOptions options = {}) const;

 private:
  Combine combine_;
  Identity identity_;
  std::string name_;
};

/// Makes a reducer: argmax = comm_reducer(combine, identity, "argmax"); argmax({index, value},
/// {k}). TypeError if a function is empty.
Reducer comm_reducer(Reducer::Combine combine, Reducer::Identity identity, Name name = "reduce",
                     SourceLocation where = SourceLocation::current());

}  // namespace tenon::te
