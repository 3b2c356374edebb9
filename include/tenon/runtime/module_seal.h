// The checksum at the end of a module's file. What loads a shared library believes its tables: a
// file of which one byte is another ends the process, before any of its code runs. So the file that
// a module is saved to carries a checksum of itself behind its end, where the system's loader does
// not look, and Module::load refuses it where that does not fit. A library without one, made by
// other means, or after `strip`, is loaded as it is.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace tenon::runtime {

/// Adds the checksum. Throws RuntimeError if the file cannot be read or written.
void seal_module_file(const std::filesystem::path& path);

/// Whether the contents of a file end with a checksum that is not theirs.
bool breaks_seal(std::span<const std::byte> file);

}  // namespace tenon::runtime
