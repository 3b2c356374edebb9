// Memory of arrays and workspaces.
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "tenon/runtime/c_api.h"
#include "tenon/runtime/ndarray.h"
#include "tenon/runtime/threads.h"
#include "tests/runtime/loops.h"

namespace tenon::runtime {
namespace {

// ---- placement of arrays ------------------------------------------------------------------------

// Checks the placement of arrays in memory.

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

// ---- workspaces ---------------------------------------------------------------------------------

void* allocate(std::uint64_t nbytes, int alignment = 0) {
  return tenon_workspace_alloc(kDLCPU, 0, nbytes, alignment);
}
std::int32_t give_back(void* data) { return tenon_workspace_free(kDLCPU, 0, data); }

TEST(Workspace, IsAlignedAsHintedAndTo128AtLeast) {
  for (int alignment : {0, 1, 64, 128, 256, 4096, 1 << 21}) {
    for (std::uint64_t nbytes : {0, 1, 100, 5000}) {
      void* data = allocate(nbytes, alignment);
      ASSERT_NE(data, nullptr);
      EXPECT_EQ(
          reinterpret_cast<std::uintptr_t>(data) % static_cast<unsigned>(std::max(128, alignment)),
          0u);
      std::memset(data, 1, nbytes);
      EXPECT_EQ(give_back(data), kTenonOk);
    }
  }
}

TEST(Workspace, ABlockGivenBackIsUsedAgain) {
  void* first = allocate(100000);
  give_back(first);
  void* second = allocate(90000);
  EXPECT_EQ(first, second);
  give_back(second);
}

TEST(Workspace, TwoThatAreInUseAreApart) {
  auto* a = static_cast<char*>(allocate(1000));
  auto* b = static_cast<char*>(allocate(1000));
  EXPECT_TRUE(a + 1000 <= b || b + 1000 <= a);
  give_back(b);
  give_back(a);
}

TEST(Workspace, ASmallRequestLeavesALargeBlockForOthers) {
  void* large = allocate(10 << 20);
  give_back(large);
  void* small = allocate(64);
  EXPECT_NE(small, large);
  void* large_again = allocate(10 << 20);
  EXPECT_EQ(large_again, large);
  give_back(small);
  give_back(large_again);
}

TEST(Workspace, SixtyFourMebibytesWorkOnASmallStack) {
  pthread_attr_t small_stack;
  pthread_attr_init(&small_stack);
  ASSERT_EQ(pthread_attr_setstacksize(&small_stack, 256 << 10), 0);
  bool ok = false;
  pthread_t thread;
  auto body = [](void* result) -> void* {
    constexpr std::uint64_t nbytes = 64 << 20;
    auto* data = static_cast<char*>(allocate(nbytes));
    std::memset(data, 7, nbytes);
    *static_cast<bool*>(result) = data[nbytes - 1] == 7 && give_back(data) == kTenonOk;
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &small_stack, body, &ok), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&small_stack);
  EXPECT_TRUE(ok);
}

TEST(Workspace, EveryIterationOfAParallelLoopHasItsOwn) {
  set_num_threads(4);
  std::atomic<int> wrong = 0;
  parallel_for(0, 200, [&](std::int64_t i) {
    auto* data = static_cast<std::int64_t*>(allocate(64 << 10));
    std::fill_n(data, 8192, i);
    parallel_for(0, 2, [](std::int64_t) { give_back(allocate(32 << 10)); });
    wrong +=
        static_cast<int>(std::count_if(data, data + 8192, [&](std::int64_t x) { return x != i; }));
    give_back(data);
  });
  set_num_threads(0);
  EXPECT_EQ(wrong, 0);
}

TEST(Workspace, MayBeGivenBackByAnotherThread) {
  void* data = allocate(100);
  std::int32_t status = -1;
  std::thread([&] { status = give_back(data); }).join();
  EXPECT_EQ(status, kTenonOk);
}

TEST(Workspace, NullIsNothingToGiveBack) { EXPECT_EQ(give_back(nullptr), kTenonOk); }

TEST(Workspace, TooMuchIsAnErrorThatSaysHowMuch) {
  for (std::uint64_t nbytes : {std::uint64_t{1} << 60, UINT64_MAX}) {
    EXPECT_EQ(allocate(nbytes), nullptr);
    EXPECT_EQ(tenon_last_error(),
              "a workspace of " + std::to_string(nbytes) + " bytes cannot be allocated");
  }
}

TEST(Workspace, AnAlignmentThatIsNoPowerOfTwoIsAnError) {
  EXPECT_EQ(allocate(64, 48), nullptr);
  EXPECT_STREQ(tenon_last_error(), "the alignment of a workspace is a power of two, got 48");
}

TEST(Workspace, MemoryThatIsNoWorkspaceIsRefused) {
  alignas(128) char memory[512] = {};
  EXPECT_EQ(give_back(memory + 256), kTenonError);
}

TEST(Workspace, AnUnknownKindOfDeviceIsAnError) {
  EXPECT_EQ(tenon_workspace_alloc(9, 0, 64, 0), nullptr);
  EXPECT_STREQ(tenon_last_error(), "this runtime has no driver for device type 9");
}

}  // namespace
}  // namespace tenon::runtime
