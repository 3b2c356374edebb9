// Builds that find the code of earlier ones in the user's cache.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "tenon/driver/build.h"
#include "tenon/runtime/ndarray.h"
#include "tenon/runtime/spec.h"
#include "tenon/te/reduce.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using tir::Var;

class CodeCache : public testing::Test {
 protected:
  CodeCache() {
    std::string name = (fs::temp_directory_path() / "cacheXXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    ::setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  ~CodeCache() override { fs::remove_all(folder_); }

  std::vector<fs::path> entries() const {
    std::vector<fs::path> found;
    for (const auto& file : fs::recursive_directory_iterator(folder_))
      if (file.is_regular_file()) found.push_back(file.path());
    return found;
  }

  fs::path folder_;
};

/// B = A * factor.
struct Scaled {
  explicit Scaled(float factor = 2.0f) : factor(factor) {}
  float factor;
  te::Tensor A = te::placeholder({64}, "A");
  te::Tensor B = te::compute(
      {64}, {"i"}, [&](Var i) { return A(i) * factor; }, "B");
  te::Schedule s = te::create_schedule(B);

  codegen::Artifact compiled(const BuildOptions& options = {}) const {
    return compile(s, {A, B}, Target("llvm"), options);
  }
};

TEST_F(CodeCache, ASecondBuildReadsWhatTheFirstStored) {
  const codegen::Artifact first = Scaled().compiled();
  ASSERT_EQ(entries().size(), 1u);
  const auto stored = fs::last_write_time(entries()[0]);
  // Only a build that finds an entry marks it as used; one that stores it replaces the file.
  fs::last_write_time(entries()[0], stored - std::chrono::hours(1));
  fs::create_hard_link(entries()[0], folder_ / "same");
  const codegen::Artifact second = Scaled().compiled();
  EXPECT_EQ(fs::hard_link_count(folder_ / "same"), 2u);
  EXPECT_GT(fs::last_write_time(folder_ / "same"), stored - std::chrono::minutes(30));
  EXPECT_EQ(second.functions(), first.functions());
  EXPECT_EQ(second.source_kinds(), first.source_kinds());
  EXPECT_EQ(second.source("ll"), first.source("ll"));
  EXPECT_EQ(second.source("asm"), first.source("asm"));
}

TEST_F(CodeCache, CodeFromTheCacheRuns) {
  Scaled().compiled();
  const Scaled again;
  const runtime::Module module = build(again.s, {again.A, again.B}, Target("llvm"));
  const auto a = runtime::NDArray::empty({64}, Float(32)),
             b = runtime::NDArray::empty({64}, Float(32));
  for (int n = 0; n < 64; ++n) a.data<float>()[n] = static_cast<float>(n);
  module["main"](a, b);
  for (int n = 0; n < 64; ++n) EXPECT_EQ(b.data<float>()[n], 2.0f * static_cast<float>(n));
}

TEST_F(CodeCache, DifferentProgramsTargetsAndOptionsHaveEntriesOfTheirOwn) {
  const Scaled p;
  std::size_t count = 0;
  const auto expect_new = [&](const char* what) { EXPECT_EQ(entries().size(), ++count) << what; };
  p.compiled(), expect_new("first");
  Scaled(3.0f).compiled(), expect_new("constant");
  p.compiled({.name = "f"}), expect_new("name");
  p.compiled({.fast_math = true}), expect_new("fast_math");
  p.compiled({.instrument_bounds = true}), expect_new("instrument_bounds");
  p.compiled({.argument_alignment = 64}), expect_new("argument_alignment");
  p.compiled({.autotune_loops = false}), expect_new("autotune_loops");
  p.compiled({.opt_level = 0}), expect_new("opt_level");
  p.compiled({.passes = {.disable_vectorize = true}}), expect_new("a pass option");
  compile(p.s, {p.A, p.B}, Target("llvm -mcpu=generic")), expect_new("processor");
  p.s[p.B].unroll(p.s[p.B].axis(0));
  p.compiled(), expect_new("schedule");
}

TEST_F(CodeCache, ObservedOrExcludedBuildsStoreNothing) {
  const Scaled p;
  BuildOptions watched;
  watched.passes.on_pass = [](const lowering::PassOptions::PassReport&) {};
  p.compiled(watched);
  p.compiled({.on_step = [](std::string_view, double) {}});
  p.compiled({.cache = false});
  build(p.s, {p.A, p.B}, Target("llvm"), {.profile = true});
  compile(p.s, {p.A, p.B}, Target("c"));
  EXPECT_TRUE(entries().empty());
}

TEST_F(CodeCache, ImportedSourcesAreNotStored) {
  const Scaled p;
  p.s[p.B].pragma(p.s[p.B].axis(0), "import_llvm", "define i32 @three() {\n  ret i32 3\n}\n");
  p.compiled();
  EXPECT_TRUE(entries().empty());
}

TEST_F(CodeCache, ADamagedEntryIsCompiledAgain) {
  const Scaled p;
  const std::string text = p.compiled().source("ll");
  std::ofstream(entries().at(0)) << "damaged";
  EXPECT_EQ(p.compiled().source("ll"), text);
  EXPECT_GT(fs::file_size(entries().at(0)), 100u);
}

TEST_F(CodeCache, ARefusedScheduleIsRefusedAgain) {
  const te::Tensor A = te::placeholder({64, 64}, "A");
  const auto k = te::reduce_axis({0, 64}, "k");
  const te::Tensor B = te::compute(
      {64}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");
  const te::Schedule s = te::create_schedule(B);
  s[B].parallel(s[B].reduce_axis(0));
  const auto allowed = [&](bool allow) {
    compile(s, {A, B}, Target("llvm"), {.allow_parallel_reduction_race = allow});
  };
  allowed(true);
  EXPECT_THROW(allowed(false), ScheduleError);
}

TEST_F(CodeCache, IsBelowHomeWithoutAnAbsoluteXdgCacheHome) {
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  ::setenv("HOME", folder_.c_str(), 1);
  Scaled().compiled();
  EXPECT_TRUE(fs::exists(folder_ / ".cache" / "tenon"));
}

TEST_F(CodeCache, WithoutAFolderABuildCompiles) {
  ::setenv("XDG_CACHE_HOME", "/dev/null", 1);
  EXPECT_FALSE(Scaled().compiled().source("ll").empty());
}

}  // namespace
}  // namespace tenon
