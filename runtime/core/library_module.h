// Modules in shared libraries, as Module::save writes them.
#pragma once

#include <filesystem>
#include <memory>

#include "tenon/runtime/module.h"

namespace tenon::runtime {

/// Throws RuntimeError if the file cannot be loaded, or is no module of ours.
std::shared_ptr<ModuleImpl> load_library_module(const std::filesystem::path& path);

}  // namespace tenon::runtime
