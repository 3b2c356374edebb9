// Reducers: the combiners of partial results that rfactor accepts. Sums, products, minima and
// maxima are built in; a block may have several of them. Also built in are argmax and argmin of an
// index and a value, in which either of two equal values may win. Other reducers of tuples can be
// registered.
//
//   s_tir::register_reducer("argmax", 2,
//       [](std::span<const Var> x, std::span<const Var> y) -> std::vector<Expr> {
//         return {select(x[1] >= y[1], x[0], y[0]), select(x[1] >= y[1], x[1], y[1])};
//       },
//       [](std::span<const DataType> t) -> std::vector<Expr> {
//         return {make_const(t[0], -1), min_value(t[1])};
//       });
#pragma once

#include <functional>
#include <span>

#include "tenon/support/name.h"
#include "tenon/tir/expr.h"

namespace tenon::s_tir {

/// Combines two tuples of values.
using CombineTuples =
    std::function<std::vector<tir::Expr>(std::span<const tir::Var> x, std::span<const tir::Var> y)>;
/// Returns the identity element for values of these types.
using IdentityOfTypes = std::function<std::vector<tir::Expr>(std::span<const DataType> types)>;

/// Registers a reducer, replacing one of the same name. The caller promises that `combine` is
/// associative and commutative and that `identity` is neutral. A block uses the reducer if the
/// expressions of its update equal those of `combine`, applied to the previous values and the new
/// terms. TypeError if `arity` is less than 1.
void register_reducer(const Name& name, int arity, CombineTuples combine, IdentityOfTypes identity,
                      SourceLocation where = SourceLocation::current());

}  // namespace tenon::s_tir
