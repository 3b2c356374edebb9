// Common integer constants as shared static nodes without reference counts.
#pragma once

#include "tenon/tir/expr.h"

namespace tenon::tir {

/// Returns the node of the constant; null if it is not in the table.
const ExprNode* find_small_integer(DataType type, std::int64_t value);

}  // namespace tenon::tir
