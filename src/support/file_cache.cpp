#include "tenon/support/file_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "tenon/support/bytes.h"
#include "tenon/support/mix.h"

namespace tenon {

namespace {

namespace fs = std::filesystem;

/// The number of folders over which the files are distributed. Each folder has an equal share of
/// the cache's size. Every store makes room, and thus reads one folder: some 50 files if the cache
/// is full.
constexpr std::uint64_t kFolders = 256;

std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t sum = bytes.size();
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = std::min(bytes.size(), sizeof word);
    std::memcpy(&word, bytes.data(), size);
    sum = mix(sum, word);
    bytes.remove_prefix(size);
  }
  return sum;
}

fs::path path_of(const std::string& folder, std::string_view key) {
  const std::uint64_t hash = checksum(key);
  std::array<char, 24> name{};
  std::snprintf(name.data(), name.size(), "%02x/%016llx", static_cast<unsigned>(hash % kFolders),
                static_cast<unsigned long long>(hash));
  return fs::path(folder) / name.data();
}

/// Whether nobody but this user can write files in the folder.
bool is_private(const std::string& folder) {
  struct stat facts {};
  return ::lstat(folder.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) &&
         facts.st_uid == ::geteuid() && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  bool is_open() const { return descriptor_ >= 0; }

  std::optional<std::string> contents() const {
    struct stat facts {};
    if (::fstat(descriptor_, &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
    std::string bytes(static_cast<std::size_t>(facts.st_size), '\0');
    const ssize_t size = ::read(descriptor_, bytes.data(), bytes.size());
    if (size != static_cast<ssize_t>(bytes.size())) return std::nullopt;
    return bytes;
  }
  bool write(std::string_view bytes) const {
    return ::write(descriptor_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  }
  void mark_as_used() const { ::futimens(descriptor_, nullptr); }

 private:
  int descriptor_;
};

/// Removes the least recently used files until the remaining files take at most `max_bytes`.
void make_room(const fs::path& folder, std::uint64_t max_bytes) {
  std::multimap<std::pair<std::time_t, long>, std::pair<fs::path, std::uint64_t>> files_by_use;
  std::uint64_t total = 0;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(folder, error)) {
    struct stat facts {};
    if (::lstat(file.path().c_str(), &facts) != 0) continue;  // removed by another process
    const auto size = static_cast<std::uint64_t>(facts.st_size);
    files_by_use.insert({{facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec}, {file.path(), size}});
    total += size;
  }
  for (const auto& [used, file] : files_by_use) {
    if (total <= max_bytes) return;
    const auto& [path, size] = file;
    fs::remove(path, error);
    total -= size;
  }
}

}  // namespace

std::optional<std::string> FileCache::find(std::string_view key) const {
  if (!is_private(folder_)) return std::nullopt;
  // O_NONBLOCK is needed, because opening a FIFO would otherwise wait for a writer.
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const File file(::open(path_of(folder_, key).c_str(), kFlags));
  if (!file.is_open()) return std::nullopt;
  const std::optional<std::string> bytes = file.contents();
  std::uint64_t sum = 0;
  if (!bytes || bytes->size() < sizeof sum) return std::nullopt;
  std::memcpy(&sum, bytes->data(), sizeof sum);
  const std::string_view rest = std::string_view(*bytes).substr(sizeof sum);
  if (sum != checksum(rest)) return std::nullopt;
  ByteReader in(rest);
  // The file may belong to another key with the same hash.
  if (in.text() != key) return std::nullopt;
  const auto value = in.text();
  if (!value) return std::nullopt;
  file.mark_as_used();
  return std::string(*value);
}

void FileCache::store(std::string_view key, std::string_view value) const {
  ByteWriter out;
  out.text(key);
  out.text(value);
  const std::uint64_t sum = checksum(out.bytes());
  const std::uint64_t size = sizeof sum + out.bytes().size(), share = max_bytes_ / kFolders;
  if (size > share) return;
  const fs::path path = path_of(folder_, key);
  std::error_code error;
  if (!fs::exists(folder_, error)) {
    fs::create_directories(folder_, error);
    fs::permissions(folder_, fs::perms::owner_all, error);
  }
  if (!is_private(folder_)) return;
  fs::create_directory(path.parent_path(), error);
  std::string beside = path.string() + ".XXXXXX";
  {
    const File file(::mkostemp(beside.data(), O_CLOEXEC));
    if (!file.is_open()) return;
    const std::string_view head(reinterpret_cast<const char*>(&sum), sizeof sum);
    if (!file.write(head) || !file.write(out.bytes())) {
      fs::remove(beside, error);
      return;
    }
  }
  fs::rename(beside, path, error);
  if (error) fs::remove(beside, error);
  make_room(path.parent_path(), share);
}

}  // namespace tenon
