// Files that generated code is written to, and those between.
//
//   const TemporaryFolder folder;
//   write_file(folder.file("functions.o"), object);
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tenon::codegen {

/// A folder for intermediate files that goes when this does.
class TemporaryFolder {
 public:
  /// Throws RuntimeError if the system gives none.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Throws RuntimeError if the file cannot be read.
std::string read_file(const std::filesystem::path& path);
/// Throws RuntimeError if the file cannot be written.
void write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace tenon::codegen
