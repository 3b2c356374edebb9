#include "tenon/support/file_cache.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace tenon {
namespace {

namespace fs = std::filesystem;

class FileCacheTest : public testing::Test {
 protected:
  FileCacheTest() {
    std::string name = (fs::temp_directory_path() / "cacheXXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~FileCacheTest() override { fs::remove_all(folder_); }

  std::string folder() const { return (folder_ / "tenon").string(); }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& file : fs::recursive_directory_iterator(folder_))
      if (file.is_regular_file()) found.push_back(file.path());
    return found;
  }

  fs::path folder_;
};

TEST_F(FileCacheTest, AValueIsFoundByItsKeyOnly) {
  const FileCache cache(folder(), 1 << 20);
  EXPECT_EQ(cache.find("a"), std::nullopt);
  cache.store("a", "code");
  EXPECT_EQ(FileCache(folder(), 1 << 20).find("a"), "code");
  EXPECT_EQ(cache.find("b"), std::nullopt);
}

TEST_F(FileCacheTest, ALaterValueReplacesAnEarlierOne) {
  const FileCache cache(folder(), 1 << 20);
  cache.store("a", "old");
  cache.store("a", "new");
  EXPECT_EQ(cache.find("a"), "new");
}

TEST_F(FileCacheTest, AFileWithAChangedByteIsNotFound) {
  const FileCache cache(folder(), 1 << 20);
  cache.store("key", "value");
  const fs::path file = files().at(0);
  const std::size_t size = fs::file_size(file);
  for (std::size_t n = 0; n < size; ++n) {
    cache.store("key", "value");
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(n));
    const char byte = static_cast<char>(stream.get() ^ 0x10);
    stream.seekp(static_cast<std::streamoff>(n));
    stream.put(byte);
    stream.close();
    EXPECT_EQ(cache.find("key"), std::nullopt) << "byte " << n;
  }
}

TEST_F(FileCacheTest, AFileCutShortIsNotFound) {
  const FileCache cache(folder(), 1 << 20);
  cache.store("key", "value");
  const fs::path file = files().at(0);
  for (std::size_t size = fs::file_size(file); size-- > 0;) {
    fs::resize_file(file, size);
    EXPECT_EQ(cache.find("key"), std::nullopt) << size << " bytes";
  }
}

TEST_F(FileCacheTest, AFifoInPlaceOfAFileIsNotWaitedFor) {
  const FileCache cache(folder(), 1 << 20);
  cache.store("key", "value");
  const fs::path file = files().at(0);
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(cache.find("key"), std::nullopt);
}

TEST_F(FileCacheTest, AFolderThatOthersMayWriteIsNotUsed) {
  const FileCache cache(folder(), 1 << 20);
  cache.store("a", "code");
  fs::permissions(folder(), fs::perms::group_write, fs::perm_options::add);
  EXPECT_EQ(cache.find("a"), std::nullopt);
  cache.store("b", "code");
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(FileCacheTest, AFolderThatCannotBeMadeStoresNothing) {
  const FileCache cache("/dev/null/tenon", 1 << 20);
  cache.store("a", "code");
  EXPECT_EQ(cache.find("a"), std::nullopt);
}

TEST_F(FileCacheTest, AllFilesTogetherStayBelowTheLimit) {
  const FileCache cache(folder(), 1 << 20);
  for (int n = 0; n < 3000; ++n) cache.store(std::to_string(n), std::string(1000, 'x'));
  std::uintmax_t total = 0;
  for (const fs::path& file : files()) total += fs::file_size(file);
  EXPECT_LE(total, 1u << 20);
  EXPECT_GT(total, 512u << 10);
}

TEST_F(FileCacheTest, AValueInUseStaysWhileOthersAreRemoved) {
  const FileCache cache(folder(), 1 << 20);
  cache.store("used", "code");
  for (int n = 0; n < 3000; ++n) {
    cache.store(std::to_string(n), std::string(1000, 'x'));
    ASSERT_EQ(cache.find("used"), "code") << "after " << n;
  }
}

TEST_F(FileCacheTest, AValueAboveAFoldersShareIsNotStored) {
  const FileCache cache(folder(), 256 << 10);
  cache.store("a", std::string(2000, 'x'));
  EXPECT_EQ(cache.find("a"), std::nullopt);
}

TEST_F(FileCacheTest, ProcessesThatStoreOneKeyLeaveAWholeValue) {
  const FileCache cache(folder(), 16 << 20);
  cache.store("key", std::string(20000, 'a'));
  for (const char letter : {'b', 'c', 'd'})
    if (::fork() == 0) {
      for (int n = 0; n < 100; ++n) cache.store("key", std::string(20000, letter));
      ::_exit(0);
    }
  for (int n = 0; n < 300; ++n) {
    const auto value = cache.find("key");
    ASSERT_TRUE(value);
    EXPECT_EQ(value, std::string(20000, value->front()));
  }
  while (::wait(nullptr) > 0) continue;
  EXPECT_EQ(files().size(), 1u);
}

}  // namespace
}  // namespace tenon
