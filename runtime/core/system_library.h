// Modules that are linked into the program.
#pragma once

#include <memory>
#include <string>

#include "tenon/runtime/module.h"

namespace tenon::runtime {

/// Returns the functions that objects have registered under the prefix. RuntimeError if no
/// object has, if two have the same name, or if a manifest is malformed.
std::shared_ptr<ModuleImpl> find_system_library(const std::string& prefix);

}  // namespace tenon::runtime
