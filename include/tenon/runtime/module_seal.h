// A checksum at the end of a module's file. The system's loader trusts the tables of a shared
// library, so that a single damaged byte can end the process before any of its code runs. A saved
// module therefore carries a checksum after its end, which the loader ignores, and Module::load
// refuses the file if the checksum does not match. A library without one, made by other tools or
// after `strip`, is loaded unchecked.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace tenon::runtime {

/// Appends the checksum. RuntimeError if the file cannot be read or written.
void seal_module_file(const std::filesystem::path& path);

/// Whether the file ends with a checksum that does not match its contents.
bool breaks_seal(std::span<const std::byte> file);

}  // namespace tenon::runtime
