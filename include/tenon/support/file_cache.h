// Values by key in files that processes of one user share.
//
//   const FileCache cache("/home/me/.cache/tenon", 256 << 20);
//   if (const auto code = cache.find(key)) return *code;
//   cache.store(key, compile());
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon {

/// A cache never throws: a value that cannot be written is not stored, and a damaged file counts as
/// missing. Files are renamed into place, so that they are always complete. The least recently used
/// files are removed first. The folder must belong to the user and be writable by nobody else;
/// otherwise the cache stays empty.
class FileCache {
 public:
  /// The folder is created with the first value. `max_bytes` limits the size of all files together.
  FileCache(std::string folder, std::uint64_t max_bytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}

  std::optional<std::string> find(std::string_view key) const;
  void store(std::string_view key, std::string_view value) const;

 private:
  std::string folder_;
  std::uint64_t max_bytes_;
};

}  // namespace tenon
