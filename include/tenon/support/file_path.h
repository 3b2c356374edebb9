// FilePath: the path of a file, given as text or as a std::filesystem::path. Headers use it because
// <filesystem> takes longer to include than all headers of the runtime.
//
//   void save(const FilePath& path);
//   save("matmul.so");
//   save(std::filesystem::temp_directory_path() / "matmul.so");
#pragma once

#include <concepts>

#include "tenon/support/name.h"

namespace tenon {

/// A path in the operating system's form. TypeError with the line of the call for a null pointer.
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
