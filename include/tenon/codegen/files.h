// Output files of generated code, and temporary files.
//
//   const TemporaryFolder folder;
//   write_file(folder.file("functions.o"), object);
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tenon::codegen {

/// A temporary folder, removed by the destructor.
class TemporaryFolder {
 public:
  /// RuntimeError if the folder cannot be created.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Reads a file. RuntimeError if it cannot be read.
std::string read_file(const std::filesystem::path& path);
/// Writes a file. RuntimeError if it cannot be written.
void write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace tenon::codegen
