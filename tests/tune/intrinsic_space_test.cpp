// Designs in which a registered intrinsic computes tiles. The products are of float64, so that no
// other test's space has these intrinsics.
#include <gtest/gtest.h>

#include "tenon/s_tir/script.h"
#include "tenon/s_tir/tensor_intrin.h"
#include "tenon/tune/measure.h"
#include "tenon/tune/space.h"
#include "tests/tune/programs.h"
#include "tune/search/candidate.h"

namespace tenon::tune {
namespace {

const Target kOneCore("llvm -num-cores=1");

tir::PrimFunc function(const std::string& text) {
  return s_tir::parse_script("@T.prim_func\n" + text).functions.begin()->second;
}

/// A product of 4 by 8 by 4: what it is, and rows of a whole vector.
void register_once() {
  [[maybe_unused]] static const bool is_done = [] {
    const std::string head = R"((a: T.handle, b: T.handle, c: T.handle) -> None:
    A = T.match_buffer(a, [4, 4], dtype="float64")
    B = T.match_buffer(b, [4, 8], dtype="float64")
    C = T.match_buffer(c, [4, 8], dtype="float64")
    with T.block("root"):
        T.reads(C[0 : 4, 0 : 8], A[0 : 4, 0 : 4], B[0 : 4, 0 : 8])
        T.writes(C[0 : 4, 0 : 8])
)";
    s_tir::register_tensor_intrin("tile_4x8x4", function("def description" + head + R"(
        for i, j, k in T.grid(4, 8, 4):
            with T.block("update"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)"),
                                  function("def implementation" + head + R"(
        for k, i in T.grid(4, 4):
            for j in T.vectorized(8):
                with T.block("lanes"):
                    vk, vi, vj = T.axis.remap("RSS", [k, i, j])
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)"));
    return true;
  }();
}

tir::IRModule product_of(const std::string& n, const std::string& m, const std::string& k) {
  const auto matrix = [](const std::string& rows, const std::string& columns) {
    return "T.Buffer[(" + rows + ", " + columns + "), \"float64\"]";
  };
  return s_tir::parse_script("@T.prim_func\ndef main(A: " + matrix(n, k) + ", B: " + matrix(k, m) +
                             ", C: " + matrix(n, m) + R"() -> None:
    T.func_attr({"global_symbol": "main", "tir.noalias": True})
    for i, j, k in T.grid()" +
                             n + ", " + m + ", " + k + R"():
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float64(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)");
}

std::vector<s_tir::Schedule> designs_with_intrinsic(const tir::IRModule& mod) {
  register_once();
  std::vector<s_tir::Schedule> result;
  for (s_tir::Schedule& design : post_order_apply().designs(mod, kOneCore))
    if (design.trace().text().find("blockize") != std::string::npos)
      result.push_back(std::move(design));
  return result;
}

TEST(TilingWithIntrinsic, GivesOneDesignMore) {
  const tir::IRModule mod = product_of("32", "32", "32");
  EXPECT_EQ(designs_with_intrinsic(mod).size(), 1u);
  EXPECT_EQ(post_order_apply().designs(mod, kOneCore).size(), 4u);
}

TEST(TilingWithIntrinsic, NeedsMultiplesOfTheIntrinsicsTile) {
  EXPECT_TRUE(designs_with_intrinsic(product_of("32", "28", "32")).empty());
}

/// Whatever is drawn of the design with the intrinsic calls it, and is right.
void expect_right(const tir::IRModule& mod, int count) {
  const auto designs = designs_with_intrinsic(mod);
  ASSERT_EQ(designs.size(), 1u);
  const CandidateMaker maker(mod, kOneCore, default_postprocessors(kOneCore));
  std::vector<tir::IRModule> mods;
  for (int seed = 0; seed < count; ++seed) {
    const auto candidate = maker.drawn(designs.front().trace(), static_cast<std::uint64_t>(seed));
    ASSERT_TRUE(candidate) << seed;
    mods.push_back(candidate->schedule.mod());
    EXPECT_NE(s_tir::print_script(mods.back()).find("T.vectorized(8)"), std::string::npos);
  }
  Measurer measurer(mod, kOneCore, {.repeat = 1, .min_repeat_ms = 0});
  for (const Measurement& result : measurer.run(measurer.build(mods)))
    EXPECT_EQ(result.outcome, Outcome::Measured) << result.reason;
}

TEST(TilingWithIntrinsic, SampledTilingsComputeTheProduct) {
  expect_right(product_of("16", "32", "8"), 8);
}

/// All of the sum in one call: no loop of the reduction is left around it.
TEST(TilingWithIntrinsic, AProductOfJustTheTileIsRight) {
  expect_right(product_of("4", "8", "4"), 1);
}

}  // namespace
}  // namespace tenon::tune
