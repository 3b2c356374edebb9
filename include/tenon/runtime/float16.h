// The 16-bit floating types, also in the runtime's namespace.
#pragma once

#include "tenon/support/float16.h"

namespace tenon::runtime {
using tenon::BFloat16;
using tenon::Float16;
}  // namespace tenon::runtime
