// Where the parts of the tuner are that are files of their own.
#pragma once

#include <filesystem>
#include <string>

namespace tenon::tune {

/// Beside the library of the runtime that this program uses, or in ../libexec/tenon from there.
/// RuntimeError, with the places: in neither.
std::filesystem::path find_beside_runtime(const std::string& file);

/// The program that runs candidates.
std::filesystem::path find_worker_program();

}  // namespace tenon::tune
