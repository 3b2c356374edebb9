// Reducers: what combines partial results of a reduction. rfactor knows sums, products, minima and
// maxima, several of them in one block, and of tuples what is registered here. argmax and argmin of
// an index and a value are, with either of two equal values winning.
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
/// The tuple that changes nothing, for values of these types.
using IdentityOfTypes = std::function<std::vector<tir::Expr>(std::span<const DataType> types)>;

/// Who registers promises that `combine` is associative and commutative, and that the identity
/// changes nothing. An update is recognised by its expressions: those of `combine` where x is what
/// was there. A name that is taken gets the new meaning. TypeError: fewer than one value.
void register_reducer(const Name& name, int arity, CombineTuples combine, IdentityOfTypes identity,
                      SourceLocation where = SourceLocation::current());

}  // namespace tenon::s_tir
