// Checks of a user's call of an intrinsic.
#pragma once

#include "tenon/tir/expr.h"

namespace tenon::tir {

/// Throws TypeError, naming the intrinsic, for a wrong number of arguments and, for math, bit
/// operations and choice, for wrong types of arguments or result.
void check_intrinsic_call(DataType type, Intrin intrin, const std::vector<Expr>& args,
                          const SourceLocation& where);

}  // namespace tenon::tir
