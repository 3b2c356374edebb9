// A private copy of a shared library's file. A library is mapped into memory as its file is, so a
// file that ends too early, or that somebody writes to later, would end the process; and the loader
// takes a path that it knows for the library that it knows. So the file is read and checked first,
// and what is loaded is a copy that nobody else has.
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
  /// Throws RuntimeError, with the path, if the file cannot be read, is cut short, or is not what
  /// its checksum says (module_seal.h).
  explicit LibraryFile(const std::filesystem::path& path);
  ~LibraryFile();
  LibraryFile(const LibraryFile&) = delete;
  LibraryFile& operator=(const LibraryFile&) = delete;

  /// No other file has this name as long as this lives.
  const std::string& private_path() const { return private_path_; }
  /// Throws RuntimeError if the file cannot be written. What was there is replaced, not
  /// overwritten.
  void save(const std::filesystem::path& path) const;

  /// From now on the name stays taken to the end of the process: the library is loaded for good.
  void keep_for_good() { is_kept_ = true; }

 private:
  int descriptor_ = -1;
  bool is_kept_ = false;
  std::string private_path_;
};

/// What is missing at the end of the file of a shared library, as a sentence; empty if nothing is,
/// or if it is no such file.
std::string missing_at_end(std::span<const std::byte> file);

}  // namespace tenon::runtime
