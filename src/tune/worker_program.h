// Where the program is that runs candidates.
#pragma once

#include <filesystem>

namespace tenon::tune {

/// Beside the library of the runtime that this program uses, or in ../libexec/tenon from there.
/// RuntimeError, with the places: in neither.
std::filesystem::path find_worker_program();

}  // namespace tenon::tune
