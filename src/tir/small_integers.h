// The constants that most programs are full of: each is there once, for all threads, and nobody
// counts who holds it.
#pragma once

#include "tenon/tir/expr.h"

namespace tenon::tir {

/// The node of the constant; null if it is not among them.
const ExprNode* find_small_integer(DataType type, std::int64_t value);

}  // namespace tenon::tir
