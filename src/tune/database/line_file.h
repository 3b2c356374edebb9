// A file of lines that several processes append to.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tenon::tune {

struct Line {
  /// The number of the line, counted from 1.
  std::size_t number;
  std::string text;
};

/// Returns the non-empty lines of the file without their newlines; empty if it is not a regular
/// file. The last line may be truncated. Throws RuntimeError if the file exists but cannot be read.
std::vector<Line> read_lines(const std::filesystem::path& path);

/// Appends a line in a single write under a lock. If the file ends in the middle of a line, a
/// newline is added first. Returns the error, in which case the file is unchanged; empty on
/// success.
std::string append_line(const std::filesystem::path& path, const std::string& line);

}  // namespace tenon::tune
