// The two 16-bit floating types as values, under the runtime's name.
#pragma once

#include "tenon/support/float16.h"

namespace tenon::runtime {
using tenon::BFloat16;
using tenon::Float16;
}  // namespace tenon::runtime
