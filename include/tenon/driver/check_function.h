// Validation of functions that a user provides.
#pragma once

#include "tenon/tir/function.h"

namespace tenon {

/// Throws a LowerError with the reason if the function is malformed for the form that it declares.
void check_function(const tir::PrimFunc& func, const std::string& name);

}  // namespace tenon
