// The runtime's C files as texts; the build generates the source of this header.
#pragma once

#include <span>
#include <string_view>

namespace tenon::codegen {

struct RuntimeFile {
  /// The name in `#include` lines.
  std::string_view name;
  std::string_view text;
};

std::span<const RuntimeFile> runtime_files();

}  // namespace tenon::codegen
