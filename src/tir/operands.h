// What operators and functions do with their operands: the types in which they meet, and the user's
// line in errors.
#pragma once

#include "tenon/tir/ops.h"

namespace tenon::tir {

/// A scalar beside vectors is spread over their lanes.
Expr to_lanes(const Expr& e, int lanes);
/// The type in which two values meet: see the rules of promotion in ops.h.
DataType common_type(DataType s, DataType t);
/// Spread and cast to the type, where it is another.
Expr to_type(DataType type, const Expr& e);

/// A constant converted; nullopt for anything else.
std::optional<Expr> fold_conversion(DataType type, const Expr& e);
/// The call of constants; nullopt if one of them is none.
std::optional<Expr> fold_call(DataType type, Intrin intrin, std::initializer_list<Expr> args);

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
