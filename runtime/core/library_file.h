// A private copy of a shared library's file. The loader maps the file into memory, so that a
// truncated file, or one that is modified later, would end the process; and for a known path it
// returns the library that is already loaded. Therefore the file is read and checked first, and a
// private copy is loaded.
//
//   const LibraryFile file("x.so");
//   dlopen(file.private_path().c_str(), RTLD_NOW);
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace tenon::runtime {

class LibraryFile {
 public:
  /// RuntimeError, with the path, if the file cannot be read, is truncated, or does not match its
  /// checksum (module_seal.h).
  explicit LibraryFile(const std::filesystem::path& path);
  ~LibraryFile();
  LibraryFile(const LibraryFile&) = delete;
  LibraryFile& operator=(const LibraryFile&) = delete;

  /// Returns the copy's path, which is unique as long as this object lives.
  const std::string& private_path() const { return private_path_; }
  /// Saves the file. An existing file is replaced, not overwritten. RuntimeError if it cannot be
  /// written.
  void save(const std::filesystem::path& path) const;

  /// Reserves the name until the process ends, because the library is loaded permanently.
  void keep_for_good() { is_kept_ = true; }

 private:
  int descriptor_ = -1;
  bool is_kept_ = false;
  std::string private_path_;
};

/// Returns what is missing at the end of a shared library's file, as a sentence; empty if the file
/// is complete or is not a shared library.
std::string missing_at_end(std::span<const std::byte> file);

}  // namespace tenon::runtime
