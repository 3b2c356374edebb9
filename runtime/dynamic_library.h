// A shared library opened while the program runs; closed with the last owner.
#pragma once

#include <filesystem>
#include <string>

namespace tenon::runtime {

class DynamicLibrary {
 public:
  enum class Lifetime { UntilDestroyed, OfTheProcess };

  /// Throws RuntimeError with the loader's reason.
  explicit DynamicLibrary(const std::filesystem::path& path,
                          Lifetime lifetime = Lifetime::UntilDestroyed);
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

}  // namespace tenon::runtime
