// A file of lines that several processes append to.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tenon::tune {

struct Line {
  /// From 1.
  std::size_t number;
  std::string text;
};

/// The lines of the file that are not empty, without their ends; none if there is no regular file.
/// The last one may be cut off. RuntimeError: it is there and cannot be read.
std::vector<Line> read_lines(const std::filesystem::path& path);

/// Appends a line, under a lock and with one write. If the file ends in the middle of a line, that
/// one is ended first. Empty if it is written; else why not, and the file is as it was.
std::string append_line(const std::filesystem::path& path, const std::string& line);

}  // namespace tenon::tune
