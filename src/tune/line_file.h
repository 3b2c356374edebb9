// A file of lines that several processes append to.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tenon::tune {

/// The lines of the file, without their ends; none if there is no regular file. The last one may be
/// cut off. RuntimeError: it is there and cannot be read.
std::vector<std::string> read_lines(const std::filesystem::path& path);

/// Appends a line, under a lock and with one write. If the file ends in the middle of a line, that
/// one is ended first. Empty if it is written; else why not, and the file is as it was.
std::string append_line(const std::filesystem::path& path, const std::string& line);

}  // namespace tenon::tune
