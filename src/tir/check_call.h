// What a user's call of an intrinsic must be like before it is made.
#pragma once

#include "tenon/tir/expr.h"

namespace tenon::tir {

/// TypeError that names the intrinsic: another number of arguments than it has; and for
/// mathematics, bits and choice, arguments or a value of other types.
void check_intrinsic_call(DataType type, Intrin intrin, const std::vector<Expr>& args,
                          const SourceLocation& where);

}  // namespace tenon::tir
