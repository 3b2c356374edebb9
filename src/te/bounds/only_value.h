// Extents that look as if they varied with the loops around, and do not.
#pragma once

#include "tenon/arith/interval.h"

namespace tenon::te {

/// The value of the expression if it is the same for all values of its variables, of which there
/// are few; found by trying all of them.
///
///   floordiv(min(i*3 + 2, 20) + 9 - min(i*3, 20), 6), i in [0, 7]:   1
std::optional<std::int64_t> only_value(const tir::Expr& e, const arith::IntervalMap& values);

}  // namespace tenon::te
