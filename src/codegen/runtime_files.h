// The runtime's C files as strings. The build generates the source file that defines them.
#pragma once

#include <span>
#include <string_view>

namespace tenon::codegen {

struct RuntimeFile {
  /// The name that `#include` lines use for the file.
  std::string_view name;
  std::string_view text;
};

std::span<const RuntimeFile> runtime_files();

}  // namespace tenon::codegen
