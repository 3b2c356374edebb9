// What a function that a user brings is: well-formed or not, multi-dimensional or lowered.
#pragma once

#include "tenon/tir/function.h"

namespace tenon {

/// Whether the passes have been run: arrays are flat memory, and nothing is left that they take
/// away.
bool is_lowered(const tir::PrimFunc& func);

/// LowerError, with what is wrong, for a function that no step makes: one that is neither
/// multi-dimensional nor lowered, or malformed as what it is.
void check_function(const tir::PrimFunc& func, const std::string& name);

}  // namespace tenon
