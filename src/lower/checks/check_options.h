// Options of passes that a user may have set to what they cannot be.
#pragma once

#include "tenon/lower/pass.h"

namespace tenon::lowering {

/// LowerError that names the option and what it may be.
void check_options(const PassOptions& options);

}  // namespace tenon::lowering
