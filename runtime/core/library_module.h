// Modules in shared libraries, as written by Module::save.
#pragma once

#include <filesystem>
#include <memory>

#include "tenon/runtime/module.h"

namespace tenon::runtime {

/// Loads a module. RuntimeError if the file cannot be loaded or is not a Tenon module.
std::shared_ptr<ModuleImpl> load_library_module(const std::filesystem::path& path);

}  // namespace tenon::runtime
