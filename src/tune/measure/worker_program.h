// Finds the separate programs and libraries of the tuner.
#pragma once

#include <filesystem>
#include <string>

namespace tenon::tune {

/// Returns the path of the file. Searches the folder of the runtime library that this program uses,
/// and the folder libexec/tenon in the parent and grandparent of that folder. Throws RuntimeError,
/// which lists these locations, if the file does not exist in any of them.
std::filesystem::path find_beside_runtime(const std::string& file);

/// Returns the path of the program that runs candidates.
std::filesystem::path find_worker_program();

}  // namespace tenon::tune
