// What a function that a user brings must be.
#pragma once

#include "tenon/tir/function.h"

namespace tenon {

/// LowerError, with what is wrong, for a function that is malformed in the form that it says it
/// has.
void check_function(const tir::PrimFunc& func, const std::string& name);

}  // namespace tenon
