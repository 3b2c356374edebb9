// The runtime's C files as strings. The build generates the source file that defines them.
#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace tenon::codegen {

/// The name that `#include` lines use for the file, and its text.
using RuntimeFile = std::pair<std::string_view, std::string_view>;

std::span<const RuntimeFile> runtime_files();

}  // namespace tenon::codegen
