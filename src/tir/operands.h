// Conversion of the operands of operators and functions: type promotion, and the user's line in
// errors.
#pragma once

#include "tenon/tir/ops.h"

namespace tenon::tir {

/// Broadcasts a scalar to the lanes of a vector.
Expr to_lanes(const Expr& e, int lanes);
/// Returns the common type of two values; see the promotion rules in ops.h.
DataType common_type(DataType s, DataType t);
/// Broadcasts and casts to the type, if it differs.
Expr to_type(DataType type, const Expr& e);

/// Returns a bool as int32, in which arithmetic on bool is computed; any other value unchanged.
Expr as_number(const Expr& e);

/// Returns the converted constant; nullopt for any other expression.
std::optional<Expr> fold_conversion(DataType type, const Expr& e);
/// Returns the folded call; nullopt unless all arguments are constants.
std::optional<Expr> fold_call(DataType type, Intrin intrin, std::initializer_list<Expr> args);

/// Returns the sentence about a wrong number of arguments or, for math, bit operations and choice,
/// about wrong types of arguments or result; "" for a right call.
std::string misuse_of_call(DataType type, Intrin intrin, const std::vector<Expr>& args);
/// Whether the arguments and the result have the same type.
bool has_one_type(Intrin intrin);
/// Whether the intrinsic tests a float, such as isnan.
bool returns_bool(Intrin intrin);

/// Returns the number of lanes of an access. TypeError unless only the last index is a vector.
int lanes_of_access(const Buffer& buffer, const std::vector<Expr>& indices);

/// Runs a construction and adds the user's line to a TypeError that has none.
template <class F>
auto at(const SourceLocation& where, F construct) {
  try {
    return construct();
  } catch (const TypeError& error) {
    if (error.where()) throw;
    throw TypeError(error.what(), where);
  }
}

}  // namespace tenon::tir
