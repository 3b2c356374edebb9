// Design spaces of the default rules beside the reference's, and what post-processors make of them.
#include "tenon/tune/space.h"

#include <gtest/gtest.h>

#include <regex>

#include "tenon/s_tir/script.h"
#include "tenon/tune/postprocessors.h"
#include "tests/tune/programs.h"

namespace tenon::tune {
namespace {

const Target kOneCore("llvm -num-cores=1");

/// `text` without the drawn decisions: the random numbers are not the reference's.
std::string without_decisions(const std::string& text) {
  return std::regex_replace(text, std::regex(R"re(, decision=(\[[^\]]*\]|-?\d+))re"), "");
}

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin);
  EXPECT_NE(from, std::string::npos) << begin;
  const std::size_t start = from + begin.size();
  return text.substr(start, text.find(end, start) - start);
}

TEST(DefaultRules, GiveTheThreeKnownDesignsOfTheProduct) {
  const std::string known = golden_tuning("space_llvm.txt");
  const std::vector<s_tir::Schedule> designs = post_order_apply().designs(product(), kOneCore);
  ASSERT_EQ(designs.size(), 3u);
  const std::string ends[] = {"--- space 1", "--- space 2", "threads 1"};
  for (int n = 0; n < 3; ++n)
    EXPECT_EQ(normalized(without_decisions(designs[n].trace().text())),
              normalized(without_decisions(
                  between(known, "--- space " + std::to_string(n) + "\n", ends[n]))));
}

TEST(DefaultRules, PutTheReluUnderTheProductInPlaceOfACache) {
  const auto designs = post_order_apply().designs(product_relu(), kOneCore);
  ASSERT_EQ(designs.size(), 3u);
  for (int n = 0; n < 2; ++n) {
    const std::string text = designs[n].trace().text();
    EXPECT_NE(text.find("reverse_compute_at"), std::string::npos) << text;
    EXPECT_EQ(text.find("cache_write"), std::string::npos) << text;
  }
}

TEST(DefaultRules, DoNotTileWhatHasNoSums) {
  const tir::IRModule mod = s_tir::parse_script(R"(
@T.prim_func
def main(A: T.Buffer[(64, 64), "float32"], b: T.Buffer[64, "float32"], C: T.Buffer[(64, 64), "float32"]) -> None:
    T.func_attr({"global_symbol": "main", "tir.noalias": True})
    for i, j in T.grid(64, 64):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] + b[vj]
)");
  const auto designs = post_order_apply().designs(mod, kOneCore);
  ASSERT_EQ(designs.size(), 1u);
  EXPECT_EQ(designs[0].trace().text().find("split"), std::string::npos);
}

/// 4 MiB each, which the cache of no core holds; B's rows are read across.
TEST(DefaultRules, CopyTilesOfALargeInput) {
  const Target target("llvm -num-cores=1 -l2-bytes=1048576");
  const auto designs = post_order_apply().designs(product(1024), target);
  ASSERT_EQ(designs.size(), 6u);
  for (int n = 0; n < 6; ++n) {
    const std::string text = designs[n].trace().text();
    EXPECT_EQ(text.find("cache_read(block=b0, read_buffer_index=1") != std::string::npos, n >= 3);
    EXPECT_EQ(text.find("read_buffer_index=0"), std::string::npos);
  }
}

TEST(DefaultRules, SplitALongSumOfFewElements) {
  const auto designs = post_order_apply().designs(row_sums(2, 4096), kOneCore);
  ASSERT_EQ(designs.size(), 3u);
  EXPECT_EQ(designs[0].trace().text().find("rfactor"), std::string::npos);
  EXPECT_NE(designs[1].trace().text().find("rfactor"), std::string::npos);
  EXPECT_NE(designs[2].trace().text().find("rfactor"), std::string::npos);
}

/// The best schedule that the reference found: its decisions, with our post-processors, must give
/// its script.
void expect_known_best(const std::string& file) {
  const std::string known = golden_tuning(file);
  const std::string best = between(known, "worst ", "# from tvm.script");
  const std::string trace = between(best, "\n", "sch.enter_postproc()");
  s_tir::Schedule sch(product());
  sch.apply_trace(s_tir::parse_trace(trace));
  sch.enter_postproc();
  for (const Postprocessor& post : default_postprocessors(kOneCore)) post.apply(sch, kOneCore);
  EXPECT_EQ(normalized(s_tir::print_script(sch.mod())),
            normalized(known.substr(known.find("# from tvm.script"))));
}

TEST(Postprocessors, MakeTheKnownScriptWithVectorsAndParallelLoops) {
  expect_known_best("space_avx512.txt");
}

TEST(Postprocessors, LeaveSharedLoopsOfOneIterationAsTheyAre) {
  expect_known_best("space_llvm.txt");
}

TEST(Postprocessors, DropProgramsOfDynamicLoops) {
  const tir::IRModule mod = s_tir::parse_script(R"(
@T.prim_func
def main(a: T.handle, n: T.int32) -> None:
    A = T.match_buffer(a, [n], dtype="float32")
    for i in T.serial(n):
        with T.block("A"):
            vi = T.axis.spatial(n, i)
            A[vi] = T.float32(1)
)");
  s_tir::Schedule sch(mod);
  EXPECT_THROW(disallow_dynamic_loops().apply(sch, kOneCore), ScheduleError);
}

}  // namespace
}  // namespace tenon::tune
