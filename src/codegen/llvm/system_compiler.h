// The system's C compiler, for linking shared libraries and for imported C sources.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

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

/// Runs `cc` with these arguments. Throws RuntimeError with what it printed, or saying that it is
/// missing; `purpose` says what for.
void run_c_compiler(const std::vector<std::string>& arguments, const std::string& purpose);

}  // namespace tenon::codegen
