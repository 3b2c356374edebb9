// Locations of the tuner's separate programs and libraries.
#pragma once

#include <filesystem>
#include <string>

namespace tenon::tune {

/// Returns the path of the file: in the folder of the runtime library that this program uses, or in
/// libexec/tenon in the parent or grandparent of that folder. Throws RuntimeError, listing these
/// locations, if it is in none of them.
std::filesystem::path find_beside_runtime(const std::string& file);

/// Returns the path of the program that runs candidates.
std::filesystem::path find_worker_program();

}  // namespace tenon::tune
