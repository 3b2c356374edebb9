// A check of processor features. Code for another processor would end the process with an illegal
// instruction.
#pragma once

#include <string>

#include "tenon/runtime/spec.h"

namespace tenon::runtime {

/// RuntimeError, naming the function and the missing features, if this processor lacks a feature
/// that the function requires. `place` is the origin of the code.
void check_processor(const FunctionSpec& function, const std::string& place);

}  // namespace tenon::runtime
