// Shared libraries that are opened at run time, and private copies of their files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace tenon::runtime {

/// A private copy of a shared library's file. Loading the file itself has two problems. The loader
/// maps it into memory, so that a truncated file, or one that is modified later, would end the
/// process. And if a library of the same path is already loaded, the loader returns that library.
/// Therefore the file is read and checked first, and a private copy is loaded.
///
///   const LibraryFile file("x.so");
///   dlopen(file.private_path().c_str(), RTLD_NOW);
class LibraryFile {
 public:
  /// Reads and checks the file. RuntimeError, with the path, if it cannot be read, is truncated, or
  /// does not match its checksum (module_seal.h).
  explicit LibraryFile(const std::filesystem::path& path);
  ~LibraryFile();
  LibraryFile(const LibraryFile&) = delete;
  LibraryFile& operator=(const LibraryFile&) = delete;

  /// Returns the copy's path, which is unique as long as this object lives.
  const std::string& private_path() const { return private_path_; }
  /// Saves the file. An existing file is replaced, not overwritten. RuntimeError if it cannot be
  /// written.
  void save(const std::filesystem::path& path) const;

  /// Keeps the name of the copy reserved until the process ends, because the library stays loaded.
  void keep_for_good() { is_kept_ = true; }

 private:
  int descriptor_ = -1;
  bool is_kept_ = false;
  std::string private_path_;
};

/// Returns what is missing at the end of a shared library's file, as a sentence; empty if the file
/// is complete or is not a shared library.
std::string missing_at_end(std::span<const std::byte> file);

// A shared library that is opened at run time, and closed by its last owner.

class DynamicLibrary {
 public:
  enum class Lifetime { UntilDestroyed, OfTheProcess };

  /// Opens a library. RuntimeError with the loader's reason.
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

/// A library loaded from a private copy of its file (LibraryFile). It is unaffected by later
/// changes of the file, and by libraries loaded from the same path before.
class PrivateLibrary {
 public:
  /// Copies and loads the file. RuntimeError with the path and the reason.
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

/// Lets libraries that are loaded later use the symbols of the library that contains the address,
/// even if that was loaded with RTLD_LOCAL, as Python loads its extension modules.
void export_library_of(const void* address);

/// Keeps the library that contains the address loaded. Returns null if that is the program itself.
std::shared_ptr<const void> hold_library_of(const void* address);

}  // namespace tenon::runtime
