// Extents that syntactically depend on outer loops but are constant.
#pragma once

#include "tenon/arith/interval.h"

namespace tenon::te {

/// Returns the value of the expression if it is the same for all values of its variables, found by
/// enumeration; nullopt otherwise, or if there are too many values.
///
///   floordiv(min(i*3 + 2, 20) + 9 - min(i*3, 20), 6), i in [0, 7]:   1
std::optional<std::int64_t> only_value(const tir::Expr& e, const arith::IntervalMap& values);

}  // namespace tenon::te
