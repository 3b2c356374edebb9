// Modules in shared libraries, as written by Module::save, and modules that are linked into the
// program.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "tenon/runtime/module.h"

namespace tenon::runtime {

/// Loads a module. RuntimeError if the file cannot be loaded or is not a Tenon module.
std::shared_ptr<ModuleImpl> load_library_module(const std::filesystem::path& path);

// Modules that are linked into the program.

/// Returns the functions that objects have registered under the prefix. RuntimeError if no
/// object has, if two have the same name, or if a manifest is malformed.
std::shared_ptr<ModuleImpl> find_system_library(const std::string& prefix);

}  // namespace tenon::runtime
