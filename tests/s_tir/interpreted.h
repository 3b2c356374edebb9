// Two functions, run in the interpreter on the same inputs.
#pragma once

#include <string>

#include "tenon/tir/function.h"

namespace tenon::s_tir {

/// The first element in which what the functions write differs, as text; empty if there is none.
/// Floats may differ as reordered sums do. What is never written stays NaN, and differs.
std::string first_other_result(const tir::PrimFunc& before, const tir::PrimFunc& after);

}  // namespace tenon::s_tir
