// Two functions, run in the interpreter on the same inputs.
#pragma once

#include <string>

#include "tenon/tir/function.h"

namespace tenon::s_tir {

/// The first element in which the results of the functions differ, as text; empty if they agree.
/// The first violation, if the second function is malformed. Floats may differ as reordered sums
/// do. Elements that are never written stay NaN, and differ.
std::string first_other_result(const tir::PrimFunc& before, const tir::PrimFunc& after);

}  // namespace tenon::s_tir
