// Names that functions and parameters can have in headers for C and C++.
#pragma once

#include <string>
#include <vector>

#include "tenon/runtime/spec.h"

#pragma GCC visibility push(default)

namespace tenon::codegen {

/// A name in both languages that no keyword is, and that programs do not have already, as `main`.
bool is_c_name(const std::string& name);

/// Parameters as names of C, each once: "T.local" is T_local.
std::vector<std::string> c_parameter_names(const runtime::FunctionSpec& function);

}  // namespace tenon::codegen

#pragma GCC visibility pop
