// Code for another processor would end the process with an illegal instruction.
#pragma once

#include <string>

#include "tenon/runtime/spec.h"

namespace tenon::runtime {

/// Throws RuntimeError, naming the function and what is missing, if this processor lacks a feature
/// that the function needs. `place` is where the code comes from.
void check_processor(const FunctionSpec& function, const std::string& place);

}  // namespace tenon::runtime
