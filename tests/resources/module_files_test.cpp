// The file of a saved module, damaged: it is refused, or loads and computes what it did. What a
// file does to the process that loads it is seen from outside of that.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

namespace tenon {
namespace {

using Bytes = std::vector<char>;

/// Exit statuses of the process that looks at a file.
enum Fate { kWorks = 0, kRefused = 1, kWrong = 2 };

class DamagedModuleFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("tenon-damaged-" + std::to_string(getpid()));
    std::filesystem::create_directory(folder_);
    te::Tensor A = te::placeholder({5}, "A", Int(32));
    te::Tensor B = te::compute(
        {5}, {"i"}, [&](Var i) { return A(i) * 3; }, "B");
    build(te::create_schedule(B), {A, B}, Target("llvm"), {.name = "f"}).save(file_of("whole.so"));
    std::ifstream in(file_of("whole.so"), std::ios::binary);
    whole_.assign(std::istreambuf_iterator<char>(in), {});
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path file_of(const std::string& name) const { return folder_ / name; }

  Fate fate_here(const Bytes& bytes) const {
    const std::filesystem::path path = file_of("damaged.so");
    std::ofstream(path, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    try {
      const runtime::Module module = runtime::Module::load(path);
      const auto a = runtime::NDArray::from(std::vector<int>{1, -2, 3, -4, 5}, {5});
      const auto b = runtime::NDArray::zeros({5}, Int(32));
      module["f"](a, b);
      return std::equal(b.data<int>(), b.data<int>() + 5, std::array{3, -6, 9, -12, 15}.begin())
                 ? kWorks
                 : kWrong;
    } catch (const RuntimeError&) {
      return kRefused;
    }
  }

  struct Tally {
    int works = 0, refused = 0;
    /// The first damage that ended its process, or changed a result.
    std::string first_bad = {};
  };

  /// All of them in one process, which is told of before each is looked at, so that the one that
  /// ends it is known.
  Tally fates(int count, const std::function<Bytes(int)>& damaged) const {
    int told[2];
    if (pipe(told) != 0) return {.first_bad = "no pipe"};
    const pid_t child = fork();
    if (child == 0) {
      close(told[0]);
      for (int n = 0; n < count; ++n) {
        const char fate = static_cast<char>(fate_here(damaged(n)));
        if (write(told[1], &fate, 1) != 1) _exit(1);
      }
      _exit(0);
    }
    close(told[1]);
    Tally tally;
    int known = 0;
    for (char fate = 0; read(told[0], &fate, 1) == 1; ++known) {
      tally.works += fate == kWorks;
      tally.refused += fate == kRefused;
      if (fate == kWrong && tally.first_bad.empty())
        tally.first_bad = "damage " + std::to_string(known) + " changes the result";
    }
    close(told[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (known < count) tally.first_bad = "damage " + std::to_string(known) + " ends the process";
    return tally;
  }

  std::filesystem::path folder_;
  Bytes whole_;
};

TEST_F(DamagedModuleFile, WithAnotherByteInItsHeader) {
  constexpr int kHeader = 64;
  const Tally tally = fates(kHeader * 8, [&](int n) {
    Bytes bytes = whole_;
    bytes[static_cast<std::size_t>(n / 8)] ^= static_cast<char>(1 << n % 8);
    return bytes;
  });
  EXPECT_EQ(tally.first_bad, "");
  EXPECT_EQ(tally.refused, kHeader * 8);
}

TEST_F(DamagedModuleFile, WithAnotherByteAnywhere) {
  constexpr int kPlaces = 10'000;
  const Tally tally = fates(kPlaces, [&](int n) {
    std::mt19937 random(static_cast<unsigned>(n));
    Bytes bytes = whole_;
    const std::size_t place = random() % bytes.size();
    bytes[place] ^= static_cast<char>(1 + random() % 255);
    return bytes;
  });
  EXPECT_EQ(tally.first_bad, "");
  // Only in the mark of the checksum itself does no harm.
  EXPECT_GT(tally.refused, kPlaces * 9 / 10);
  EXPECT_EQ(tally.works + tally.refused, kPlaces);
}

TEST_F(DamagedModuleFile, CutShortAnywhere) {
  const int step = std::max(1, static_cast<int>(whole_.size() / 2000));
  const int count = static_cast<int>(whole_.size()) / step;
  const Tally tally =
      fates(count, [&](int n) { return Bytes(whole_.begin(), whole_.begin() + n * step); });
  EXPECT_EQ(tally.first_bad, "");
  // The lost bytes may be a part of the checksum alone.
  EXPECT_GE(tally.refused, count - 24 / step - 1);
}

TEST_F(DamagedModuleFile, AsItWasSaved) {
  const Tally tally = fates(1, [&](int) { return whole_; });
  EXPECT_EQ(tally.works, 1);
}

TEST_F(DamagedModuleFile, TheErrorNamesTheFileAndSaysThatItIsDamaged) {
  Bytes bytes = whole_;
  bytes[bytes.size() / 2] ^= 1;
  const std::filesystem::path path = file_of("half.so");
  std::ofstream(path, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  try {
    runtime::Module::load(path);
    FAIL() << "it loads";
  } catch (const RuntimeError& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("half.so cannot be loaded: the file is damaged"), what.npos) << what;
  }
}

}  // namespace
}  // namespace tenon
