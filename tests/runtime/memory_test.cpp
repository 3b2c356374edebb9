// Checks the placement of arrays in memory.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tenon/runtime/ndarray.h"

namespace tenon::runtime {
namespace {

std::uintptr_t address_of(const NDArray& a) {
  return reinterpret_cast<std::uintptr_t>(a.data<float>());
}

/// The system's flags of the memory at `address`, as two letters each; empty if it does not report
/// them.
std::string flags_of_memory_at(std::uintptr_t address) {
  std::ifstream maps("/proc/self/smaps");
  bool is_there = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    if (words >> std::hex >> begin >> dash >> end && dash == '-')
      is_there = begin <= address && address < end;
    if (is_there && line.starts_with("VmFlags:")) return line;
  }
  return "";
}

TEST(Memory, LargeArraysBeginWithALargePage) {
  EXPECT_EQ(address_of(NDArray::empty({1 << 20}, Float(32))) % (2 << 20), 0u);
  EXPECT_EQ(address_of(NDArray::empty({3}, Float(32))) % 128, 0u);
}

TEST(Memory, LargePagesAreAskedForWhereMuchIsWanted) {
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage"))
    GTEST_SKIP() << "the system has no large pages";
  const NDArray array = NDArray::empty({1 << 20}, Float(32));
  const std::string flags = flags_of_memory_at(address_of(array));
  ASSERT_FALSE(flags.empty());
  EXPECT_NE(flags.find(" hg"), std::string::npos) << flags;
}

}  // namespace
}  // namespace tenon::runtime
