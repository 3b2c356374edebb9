// Locations of the tuner's separate files.
#pragma once

#include <filesystem>
#include <string>

namespace tenon::tune {

/// Returns the path next to the runtime library that this program uses, or in ../libexec/tenon
/// relative to it. RuntimeError, listing the locations, if neither exists.
std::filesystem::path find_beside_runtime(const std::string& file);

/// Returns the path of the program that runs candidates.
std::filesystem::path find_worker_program();

}  // namespace tenon::tune
