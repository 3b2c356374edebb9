// Validation of pass options.
#pragma once

#include "tenon/lower/pass.h"

namespace tenon::lowering {

/// Throws LowerError that names an invalid option and its valid values.
void check_options(const PassOptions& options);

}  // namespace tenon::lowering
