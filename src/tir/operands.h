// Conversion of the operands of operators and functions: type promotion, and the user's line in
// errors.
#pragma once

#include "tenon/tir/ops.h"

namespace tenon::tir {

/// Broadcasts a scalar to the lanes of a vector.
Expr to_lanes(const Expr& e, int lanes);
/// Returns the common type of two values; see the promotion rules in ops.h.
DataType common_type(DataType s, DataType t);
/// Converts the expression to the type: broadcasts a scalar, and casts if the types differ.
Expr to_type(DataType type, const Expr& e);

/// Converts a bool to int32, because arithmetic on bool is computed in int32. Returns any other
/// value unchanged.
Expr as_number(const Expr& e);

/// Returns a constant converted to the type; nullopt if `e` is not a constant.
std::optional<Expr> fold_conversion(DataType type, const Expr& e);
/// Returns the folded call; nullopt unless all arguments are constants.
std::optional<Expr> fold_call(DataType type, Intrin intrin, std::initializer_list<Expr> args);

/// Returns an error message if the call is wrong, otherwise "". The number of arguments is always
/// checked. The types of arguments and result are checked for math, bit operations and choice.
std::string misuse_of_call(DataType type, Intrin intrin, const std::vector<Expr>& args);
/// Whether the arguments and the result have the same type.
bool has_one_type(Intrin intrin);
/// Whether the intrinsic tests a float, such as isnan.
bool returns_bool(Intrin intrin);

/// Returns the number of lanes of an access. TypeError unless only the last index is a vector.
int lanes_of_access(const Buffer& buffer, const std::vector<Expr>& indices);

/// Returns the product of the extents.
Expr element_count(const std::vector<Expr>& shape);
/// Throws BoundError unless `count` consecutive elements from the index of dimension `place` are
/// within the extent. An index or extent that is not constant is not checked.
void check_inside(const Buffer& buffer, std::size_t place, const Expr& index, const Expr& extent,
                  int count, const SourceLocation& where);

/// Calls `construct`. If this throws a TypeError without a line, adds the user's line to it.
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
