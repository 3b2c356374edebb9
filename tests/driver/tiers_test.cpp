// Tiered builds, which run unoptimized code until the optimized code is ready.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>

#include "tenon/driver/build.h"
#include "tenon/runtime/bound_call.h"
#include "tenon/runtime/ndarray.h"
#include "tenon/te/reduce.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using tir::Var;

constexpr int kRows = 33, kTerms = 70;

/// B(i) is the sum of row i of A.
struct Sums {
  te::Tensor A = te::placeholder({kRows, kTerms}, "A", Int(32));
  te::IterVar k = te::reduce_axis({0, kTerms}, "k");
  te::Tensor B = te::compute(
      {kRows}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");
  te::Schedule s = te::create_schedule(B);

  runtime::Module built(const BuildOptions& options, const Target& target = Target("llvm")) const {
    return build(s, {A, B}, target, options);
  }
};

struct Arrays {
  runtime::NDArray a = runtime::NDArray::zeros({kRows, kTerms}, Int(32)),
                   b = runtime::NDArray::zeros({kRows}, Int(32));

  Arrays() {
    for (int n = 0; n < kRows * kTerms; ++n) a.data<std::int32_t>()[n] = n % 11;
  }
  /// Whether `b` has the sums of the rows. Clears it.
  bool is_right() const {
    bool result = true;
    for (int i = 0; i < kRows; ++i) {
      int sum = 0;
      for (int k = 0; k < kTerms; ++k) sum += (i * kTerms + k) % 11;
      result &= b.data<std::int32_t>()[i] == sum;
      b.data<std::int32_t>()[i] = -1;
    }
    return result;
  }
};

const BuildOptions kTiered{.tiered = true, .cache = false};

TEST(TieredBuild, BothTiersComputeTheFunction) {
  const runtime::Module module = Sums().built(kTiered);
  const Arrays arrays;
  module["main"](arrays.a, arrays.b);
  EXPECT_TRUE(arrays.is_right());
  static_cast<void>(module.get_source());  // waits for the optimized code
  module["main"](arrays.a, arrays.b);
  EXPECT_TRUE(arrays.is_right());
}

TEST(TieredBuild, SourceIsThatOfTheOptimizedCode) {
  const std::string optimized = Sums().built({.cache = false}).get_source("asm"),
                    unoptimized = Sums().built({.opt_level = 0, .cache = false}).get_source("asm");
  ASSERT_NE(optimized, unoptimized);
  EXPECT_EQ(Sums().built(kTiered).get_source("asm"), optimized);
}

TEST(TieredBuild, CallsAreRightWhileTheCodeIsReplaced) {
  for (int build = 0; build < 5; ++build) {
    const runtime::Module module = Sums().built(kTiered);
    std::vector<std::jthread> threads;
    for (int n = 0; n < 2; ++n)
      threads.emplace_back([function = module["main"]] {
        const Arrays arrays;
        const runtime::BoundCall bound(function, arrays.a, arrays.b);
        for (int call = 0; call < 2000; ++call) {
          call % 2 == 0 ? bound() : function(arrays.a, arrays.b);
          if (!arrays.is_right()) return ADD_FAILURE() << "call " << call;
        }
      });
  }
}

TEST(TieredBuild, FunctionsOutliveTheModule) {
  const runtime::Function function = Sums().built(kTiered)["main"];
  const Arrays arrays;
  function(arrays.a, arrays.b);
  EXPECT_TRUE(arrays.is_right());
}

TEST(TieredBuild, AForkedProcessCallsTheFunctionAndEnds) {
  // LLVM takes longer for these copies than the child takes to end.
  const Sums sums;
  sums.s[sums.B].unroll(sums.B.op().reduce_axis(0)).unroll(sums.s[sums.B].axis(0));
  const runtime::Module module = sums.built(kTiered);
  const Arrays arrays;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(20);
    module["main"](arrays.a, arrays.b);
    std::exit(arrays.is_right() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(TieredBuild, AForkedProcessDropsTheModule) {
  std::optional<runtime::Module> module = Sums().built(kTiered);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(20);
    // A thread of the child may get the id of the parent's thread.
    std::jthread other([] { std::this_thread::sleep_for(std::chrono::milliseconds(100)); });
    module.reset();
    other.join();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
}

TEST(TieredBuild, InvalidOptionsAreRefusedAtOnce) {
  EXPECT_THROW(Sums().built({.opt_level = 7, .tiered = true, .cache = false}), TargetError);
}

TEST(TieredBuild, OtherTargetsHaveOneTier) {
  const runtime::Module module = Sums().built(kTiered, Target("c"));
  EXPECT_EQ(module.get_source(), Sums().built({.cache = false}, Target("c")).get_source());
}

TEST(TieredBuild, OnlyOptimizedCodeIsCached) {
  std::string name = (fs::temp_directory_path() / "tiersXXXXXX").string();
  const fs::path folder = ::mkdtemp(name.data());
  ::setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  const std::string source = Sums().built({.tiered = true}).get_source("asm");
  int entries = 0;
  for (const auto& file : fs::recursive_directory_iterator(folder))
    entries += file.is_regular_file();
  EXPECT_EQ(entries, 1);
  EXPECT_EQ(Sums().built({}).get_source("asm"), source);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tenon
