// The condition under which legalize_bfloat16 has an effect.
#pragma once

#include "tenon/lower/pass.h"

namespace tenon::lowering {

/// Whether bfloat16 occurs in the body or the parameters.
bool has_bfloat16(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
