// A shared library opened while the program runs; closed with the last owner.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "runtime/core/library_file.h"

namespace tenon::runtime {

class DynamicLibrary {
 public:
  enum class Lifetime { UntilDestroyed, OfTheProcess };

  /// Throws RuntimeError with the loader's reason.
  explicit DynamicLibrary(const std::filesystem::path& path,
                          Lifetime lifetime = Lifetime::UntilDestroyed);
  /// Messages call the file `name`.
  DynamicLibrary(const std::string& path, const std::string& name);
  ~DynamicLibrary();
  DynamicLibrary(const DynamicLibrary&) = delete;
  DynamicLibrary& operator=(const DynamicLibrary&) = delete;

  /// Null if there is none of that name.
  void* find(const std::string& symbol) const;

  /// As find; throws RuntimeError if there is none.
  template <class F>
  F* function(const std::string& symbol) const {
    return reinterpret_cast<F*>(find_or_throw(symbol));
  }

 private:
  void* find_or_throw(const std::string& symbol) const;

  std::string path_;
  Lifetime lifetime_;
  void* handle_;
};

/// A library loaded from a private copy of its file (library_file.h): whatever happens to the file,
/// and whatever was loaded from the same path before, this is what the file held.
class PrivateLibrary {
 public:
  /// Throws RuntimeError with the path and the reason.
  explicit PrivateLibrary(const std::filesystem::path& path);
  ~PrivateLibrary();
  PrivateLibrary(const PrivateLibrary&) = delete;
  PrivateLibrary& operator=(const PrivateLibrary&) = delete;

  const LibraryFile& file() const { return file_; }
  void* find(const std::string& symbol) const { return library_->find(symbol); }
  template <class F>
  F* function(const std::string& symbol) const {
    return library_->function<F>(symbol);
  }

 private:
  LibraryFile file_;
  std::optional<DynamicLibrary> library_;
};

/// Keeps the library loaded that the address lies in. Null where that is the program itself.
std::shared_ptr<const void> hold_library_of(const void* address);

}  // namespace tenon::runtime
