// FilePath: where a file is, given as text or as a std::filesystem::path. <filesystem> costs more
// to include than all of the runtime's headers, so that only sources include it.
//
//   void save(const FilePath& path);
//   save("matmul.so");
//   save(std::filesystem::temp_directory_path() / "matmul.so");
#pragma once

#include <concepts>

#include "tenon/support/name.h"

namespace tenon {

/// A path as the operating system takes it; a null pointer is a TypeError with the line of the
/// call.
class FilePath : public Name {
 public:
  using Name::Name;
  template <class Path>
  requires requires(const Path& path) {
    { path.native() } -> std::same_as<const std::string&>;
  }
  FilePath(const Path& path) : Name(path.native()) {}
};

}  // namespace tenon
