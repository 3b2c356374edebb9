// A fused axis is used twice, as quotient and remainder, so that rounds of split and fuse double
// the values of axes with each.
#pragma once

#include "tenon/tir/handles.h"

namespace tenon::te {

/// Whether a value has more nodes than bounds are computed with.
bool is_large(const tir::Expr& e);

}  // namespace tenon::te
