// Shared libraries that are opened at run time, and private copies of their files.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

namespace tenon::runtime {

/// The address of a function in a library. Converts to every type of function pointer.
struct FunctionAddress {
  void* address;
  template <class F>
  requires std::is_function_v<F>
  operator F*() const { return reinterpret_cast<F*>(address); }
};

/// A shared library that is opened at run time. It stays open until the process ends, unless it is
/// closed explicitly.
class DynamicLibrary {
 public:
  /// Opens a library. RuntimeError with the loader's reason.
  explicit DynamicLibrary(const std::string& path) : DynamicLibrary(path, path) {}
  /// Opens a file, which messages call `name`.
  DynamicLibrary(const std::string& path, const std::string& name);

  /// Returns the address of a symbol; null if it does not exist.
  void* find(const std::string& symbol) const;
  /// Returns the function of this name. RuntimeError if it does not exist.
  FunctionAddress function(const std::string& symbol) const;

  /// Closes the library. No function of this object may be called afterwards.
  void close();

 private:
  std::string name_;
  void* handle_;
};

/// A library loaded from a private copy of its file. Loading the file itself has two problems. The
/// loader maps it into memory, so that a truncated file, or one that is modified later, would end
/// the process. And if a library of the same path is already loaded, the loader returns that
/// library. Therefore the file is read and checked first, and a private copy is loaded.
class PrivateLibrary {
 public:
  /// Reads, checks, copies and loads the file. RuntimeError, with the path and the reason, if it
  /// cannot be read or loaded, is truncated, or does not match its checksum (module_seal.h).
  explicit PrivateLibrary(const std::filesystem::path& path);
  ~PrivateLibrary();
  PrivateLibrary(const PrivateLibrary&) = delete;
  PrivateLibrary& operator=(const PrivateLibrary&) = delete;

  void* find(const std::string& symbol) const { return library_->find(symbol); }
  FunctionAddress function(const std::string& symbol) const { return library_->function(symbol); }

  /// Saves the file. An existing file is replaced, not overwritten. RuntimeError if it cannot be
  /// written.
  void save(const std::filesystem::path& path) const;

 private:
  int descriptor_;
  /// The path of the copy, which is unique as long as the descriptor is open.
  std::string copy_;
  std::optional<DynamicLibrary> library_;
};

/// Lets libraries that are loaded later use the symbols of the library that contains the address,
/// even if that was loaded with RTLD_LOCAL, as Python loads its extension modules.
void export_library_of(const void* address);

/// Keeps the library that contains the address loaded. Returns null if that is the program itself.
std::shared_ptr<const void> hold_library_of(const void* address);

}  // namespace tenon::runtime
