// A check of processor features. Code for another processor would end the process with an illegal
// instruction.
#pragma once

#include <string>

#include "tenon/runtime/spec.h"

namespace tenon::runtime {

/// Throws RuntimeError if this processor lacks a feature that the function requires. The message
/// names the function, the missing features and `place`, the origin of the code.
void check_processor(const FunctionSpec& function, const std::string& place);

}  // namespace tenon::runtime
