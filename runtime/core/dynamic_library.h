// A shared library that is opened at run time, and closed by its last owner.
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

  /// RuntimeError with the loader's reason.
  explicit DynamicLibrary(const std::filesystem::path& path,
                          Lifetime lifetime = Lifetime::UntilDestroyed);
  /// Loads a file, which messages call `name`.
  DynamicLibrary(const std::string& path, const std::string& name);
  ~DynamicLibrary();
  DynamicLibrary(const DynamicLibrary&) = delete;
  DynamicLibrary& operator=(const DynamicLibrary&) = delete;

  /// Returns the address of a symbol; null if it does not exist.
  void* find(const std::string& symbol) const;

  /// Returns the function of this name. RuntimeError if it does not exist.
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

/// A library loaded from a private copy of its file (library_file.h). It is unaffected by later
/// changes of the file, and by libraries loaded from the same path before.
class PrivateLibrary {
 public:
  /// RuntimeError with the path and the reason.
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

/// Keeps the library that contains the address loaded. Returns null if that is the program itself.
std::shared_ptr<const void> hold_library_of(const void* address);

}  // namespace tenon::runtime
